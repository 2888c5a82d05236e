-- breaking: no — new columns without values and new tables; nothing that is there changes

-- Attempts whose code runs elsewhere. The hash of the ticket that an engine's job trades for its token, and how much of what the attempt
-- printed is kept: the bytes it offered, and the number of its last piece in the run's log.
ALTER TABLE run_attempts
  ADD COLUMN ticket_hash bytea,
  ADD COLUMN log_bytes bigint,
  ADD COLUMN log_no integer;

-- The columns are named so that ends of attempts, which set others, do not pay for it.
CREATE TRIGGER attempts_handed AFTER UPDATE OF worker_id, token_hash, ticket_hash ON run_attempts FOR EACH ROW
  WHEN ((NEW.worker_id <> OLD.worker_id AND NEW.lease_epoch <= OLD.lease_epoch)
    OR (OLD.token_hash IS NOT NULL AND NEW.token_hash IS DISTINCT FROM OLD.token_hash)
    OR (OLD.token_hash IS NOT NULL AND NEW.ticket_hash IS DISTINCT FROM OLD.ticket_hash))
  EXECUTE FUNCTION refuse_change('an attempt changes hands only with a higher epoch and keeps its token');

-- What jobs said of their end, until the holder of the lease has settled it. Text: what a job says may hold what jsonb refuses.
CREATE TABLE attempt_outcomes (
  run_id uuid NOT NULL,
  attempt integer NOT NULL,
  outcome text NOT NULL,
  delivered_at timestamptz NOT NULL,
  PRIMARY KEY (run_id, attempt)
);

-- What attempts printed, in pieces that are numbered over all attempts of a run.
CREATE TABLE run_logs (
  run_id uuid NOT NULL,
  no integer NOT NULL,
  attempt integer NOT NULL,
  at timestamptz NOT NULL,
  stream text NOT NULL,
  text text NOT NULL,
  PRIMARY KEY (run_id, no),
  CONSTRAINT logs_stream CHECK (stream IN ('stdout', 'stderr', 'log'))
);

-- Old ones are deleted in this order.
CREATE INDEX idx_logs_at ON run_logs (at);
