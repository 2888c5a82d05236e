-- breaking: no — the same rules in another place

-- Postgres reads the text of every check and WHEN clause anew in each statement that writes the table, however few rows it touches. What can be
-- said of a value alone is said by its type instead, which is read once per connection.
CREATE DOMAIN owner_name AS text CONSTRAINT runs_owner CHECK (length(VALUE) BETWEEN 1 AND 255);
CREATE DOMAIN sha256_text AS text CONSTRAINT runs_payload_hash CHECK (length(VALUE) = 64);
CREATE DOMAIN run_priority AS smallint CONSTRAINT runs_priority CHECK (VALUE BETWEEN -100 AND 100);
CREATE DOMAIN some_seconds AS double precision CONSTRAINT runs_timeout CHECK (VALUE > 0);
CREATE DOMAIN counter AS integer CONSTRAINT runs_counter CHECK (VALUE >= 0);
CREATE DOMAIN attempt_limit AS integer CONSTRAINT runs_max_attempts CHECK (VALUE >= 1);

DROP TRIGGER runs_identity ON model_runs;

ALTER TABLE model_runs
  DROP CONSTRAINT runs_owner,
  DROP CONSTRAINT runs_payload_hash,
  DROP CONSTRAINT runs_priority,
  DROP CONSTRAINT runs_timeout,
  DROP CONSTRAINT runs_attempt_counts,
  DROP CONSTRAINT runs_waiting_has_attempts_left,
  ALTER COLUMN owner TYPE owner_name,
  ALTER COLUMN payload_hash TYPE sha256_text,
  ALTER COLUMN priority TYPE run_priority,
  ALTER COLUMN timeout_seconds TYPE some_seconds,
  ALTER COLUMN max_attempts TYPE attempt_limit,
  ALTER COLUMN release_count TYPE counter,
  ALTER COLUMN reclaim_count TYPE counter,
  ADD CONSTRAINT runs_attempt_counts CHECK (attempt_count >= release_count + reclaim_count),
  -- One that waits must have an attempt left.
  ADD CONSTRAINT runs_attempts_within_limit CHECK (attempt_count - release_count <= max_attempts - (status = 'PENDING')::int);

CREATE TRIGGER runs_identity AFTER UPDATE OF id, owner, model, model_version, queue, priority, lane, parameters, payload_hash, seed,
    retry_of, reproduces, created_at ON model_runs FOR EACH ROW
  WHEN (NEW.id IS DISTINCT FROM OLD.id OR NEW.owner IS DISTINCT FROM OLD.owner OR NEW.model IS DISTINCT FROM OLD.model
    OR NEW.model_version IS DISTINCT FROM OLD.model_version OR NEW.queue IS DISTINCT FROM OLD.queue
    OR NEW.priority IS DISTINCT FROM OLD.priority OR NEW.lane IS DISTINCT FROM OLD.lane
    OR NEW.parameters IS DISTINCT FROM OLD.parameters OR NEW.payload_hash IS DISTINCT FROM OLD.payload_hash
    OR NEW.seed IS DISTINCT FROM OLD.seed OR NEW.retry_of IS DISTINCT FROM OLD.retry_of
    OR NEW.reproduces IS DISTINCT FROM OLD.reproduces OR NEW.created_at IS DISTINCT FROM OLD.created_at)
  EXECUTE FUNCTION refuse_change('what a run was asked to do never changes');

-- Attempt states are declared in the order of an attempt's life: the open ones come first, and nothing goes back to SUBMITTED.
ALTER TABLE run_attempts
  DROP CONSTRAINT attempts_finished,
  ADD CONSTRAINT attempts_finished CHECK ((finished_at IS NULL) = (state <= 'RUNNING'));

DROP TRIGGER attempts_sealed ON run_attempts;
CREATE TRIGGER attempts_sealed AFTER UPDATE ON run_attempts FOR EACH ROW
  WHEN (OLD.finished_at IS NOT NULL OR NEW.state < OLD.state OR NEW.lease_epoch < OLD.lease_epoch)
  EXECUTE FUNCTION refuse_change('a finished attempt never changes');
CREATE TRIGGER attempts_identity AFTER UPDATE OF run_id, attempt ON run_attempts FOR EACH ROW
  WHEN (NEW.run_id <> OLD.run_id OR NEW.attempt <> OLD.attempt)
  EXECUTE FUNCTION refuse_change('an attempt stays with its run and keeps its number');
