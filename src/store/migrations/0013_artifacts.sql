-- breaking: no — a new table; nothing that is there changes

-- Files that attempts left, one row each, written by the holder of the lease before the attempt ends. The name is the one the program gave
-- it and is compared, never followed; the bytes lie in the artifacts folder under `ref`.
CREATE TABLE run_artifacts (
  run_id uuid NOT NULL,
  attempt integer NOT NULL,
  -- In the order of its bytes, whatever the database's language: pages must not depend on it.
  name text COLLATE "C" NOT NULL,
  bytes bigint NOT NULL,
  sha256 text NOT NULL,
  ref text NOT NULL,
  at timestamptz NOT NULL,
  PRIMARY KEY (run_id, attempt, name),
  -- An entry of an index has no room for much more.
  CONSTRAINT artifacts_name CHECK (octet_length(name) BETWEEN 1 AND 1000),
  CONSTRAINT artifacts_bytes CHECK (bytes >= 0),
  CONSTRAINT artifacts_sha256 CHECK (length(sha256) = 64)
);
