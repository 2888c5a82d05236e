-- breaking: no — new tables; nothing that is there changes

-- What runs are found by that their results say, as the facets of their model name it: written by the statement that ends a run with success,
-- and never again. The time is that of the run, so that a list can go along the index.
CREATE TABLE run_facets (
  run_id uuid NOT NULL,
  name text COLLATE "C" NOT NULL,
  value text COLLATE "C" NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (run_id, name, value),
  CONSTRAINT facets_name CHECK (octet_length(name) BETWEEN 1 AND 64),
  -- An entry of an index has no room for much more.
  CONSTRAINT facets_value CHECK (octet_length(value) BETWEEN 1 AND 1000)
) WITH (autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.05);
CREATE INDEX idx_facets_value ON run_facets (name, value, created_at, run_id);

-- Places on the map that results name, likewise. `file_id` is the file that the place was found in, where that is known.
CREATE TABLE run_places (
  run_id uuid NOT NULL,
  no integer NOT NULL,
  file_id text,
  latitude double precision NOT NULL,
  longitude double precision NOT NULL,
  label text,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (run_id, no),
  CONSTRAINT places_no CHECK (no >= 1),
  CONSTRAINT places_file CHECK (file_id ~ '^[0-9a-f]{64}$'),
  -- Not a number is above every number, so the ranges refuse it too.
  CONSTRAINT places_latitude CHECK (latitude BETWEEN -90 AND 90),
  CONSTRAINT places_longitude CHECK (longitude BETWEEN -180 AND 180),
  CONSTRAINT places_label CHECK (octet_length(label) BETWEEN 1 AND 1000)
) WITH (autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.05);
-- A tree of rectangles: what lies in a small area costs the same however many places share its latitudes.
CREATE INDEX idx_places_point ON run_places USING gist (point(longitude, latitude));

CREATE TRIGGER facets_sealed BEFORE UPDATE OR DELETE ON run_facets FOR EACH ROW
  EXECUTE FUNCTION refuse_change('what a result says never changes');
CREATE TRIGGER facets_not_truncated BEFORE TRUNCATE ON run_facets FOR EACH STATEMENT
  EXECUTE FUNCTION refuse_change('what a result says never changes');
CREATE TRIGGER places_sealed BEFORE UPDATE OR DELETE ON run_places FOR EACH ROW
  EXECUTE FUNCTION refuse_change('what a result says never changes');
CREATE TRIGGER places_not_truncated BEFORE TRUNCATE ON run_places FOR EACH STATEMENT
  EXECUTE FUNCTION refuse_change('what a result says never changes');
