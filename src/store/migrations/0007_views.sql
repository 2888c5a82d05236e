-- breaking: no — a new table

-- Saved filters of the list of runs. The filter is as the API takes it; whose runs it shows is decided when it is used.
CREATE TABLE views (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  owner text NOT NULL,
  name text NOT NULL,
  filter jsonb NOT NULL,
  "order" text NOT NULL,
  shared boolean NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock(),
  updated_at timestamptz NOT NULL DEFAULT clock(),
  CONSTRAINT views_owner CHECK (length(owner) BETWEEN 1 AND 255),
  CONSTRAINT views_name CHECK (length(name) BETWEEN 1 AND 128),
  CONSTRAINT views_name_of_owner UNIQUE (owner, name)
);
