-- breaking: no — a new table

-- What the steps of runs gave, by the name of the step. The order is that of the commits; two commits at once that both take the next number
-- are told apart by its index. Outputs are inline up to a limit, else in the artifacts folder. JSON as text: as it was hashed, to the byte.
CREATE TABLE run_steps (
  run_id uuid NOT NULL,
  name text NOT NULL,
  no integer NOT NULL,
  attempt integer NOT NULL,
  started_at timestamptz,
  finished_at timestamptz NOT NULL,
  tries integer NOT NULL,
  output json,
  output_ref text NOT NULL,
  output_hash text NOT NULL,
  output_bytes integer NOT NULL,
  PRIMARY KEY (run_id, name),
  CONSTRAINT steps_no UNIQUE (run_id, no),
  CONSTRAINT steps_name CHECK (length(name) BETWEEN 1 AND 128),
  CONSTRAINT steps_tries CHECK (tries >= 1),
  CONSTRAINT steps_output CHECK ((output_ref = 'inline') = (output IS NOT NULL))
);

CREATE TRIGGER steps_sealed BEFORE UPDATE OR DELETE ON run_steps FOR EACH ROW
  EXECUTE FUNCTION refuse_change('a step never changes');
CREATE TRIGGER steps_not_truncated BEFORE TRUNCATE ON run_steps FOR EACH STATEMENT
  EXECUTE FUNCTION refuse_change('a step never changes');
