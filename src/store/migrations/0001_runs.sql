-- breaking: yes — the first schema

-- The one clock. STABLE, so that it can be an index condition; tests replace it to shift time.
CREATE FUNCTION clock() RETURNS timestamptz LANGUAGE sql STABLE PARALLEL SAFE
AS $$ SELECT statement_timestamp() $$;

CREATE TYPE run_status AS ENUM ('PENDING', 'RUNNING', 'SUCCEEDED', 'FAILED', 'CANCELLED');
CREATE TYPE attempt_state AS ENUM ('SUBMITTED', 'RUNNING', 'SUCCEEDED', 'FAILED', 'CANCELLED', 'LOST', 'RELEASED');

-- Facts about this deployment that every process must agree on, such as the id of the artifacts folder.
CREATE TABLE settings (
  name text PRIMARY KEY,
  value text NOT NULL
);

CREATE TABLE models (
  name text NOT NULL,
  version text NOT NULL,
  definition jsonb NOT NULL,
  registered_at timestamptz NOT NULL DEFAULT clock(),
  updated_at timestamptz NOT NULL DEFAULT clock(),
  PRIMARY KEY (name, version),
  CONSTRAINT models_name CHECK (length(name) BETWEEN 1 AND 128),
  CONSTRAINT models_version CHECK (length(version) BETWEEN 1 AND 64)
);

CREATE TABLE queues (
  queue text PRIMARY KEY,
  paused boolean NOT NULL DEFAULT false,
  retry jsonb NOT NULL DEFAULT '{}',
  updated_at timestamptz NOT NULL DEFAULT clock(),
  CONSTRAINT queues_name CHECK (length(queue) BETWEEN 1 AND 128)
);

-- A lane is the line of runs with equal queue, model, version and priority. The ready index begins with it, so a
-- claim touches only lanes its worker may serve, each in order of availability, however many other runs wait.
CREATE TABLE lanes (
  lane integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  queue text NOT NULL,
  model text NOT NULL,
  model_version text NOT NULL,
  priority smallint NOT NULL,
  UNIQUE (queue, model, model_version, priority)
);

CREATE TABLE workers (
  worker_id text PRIMARY KEY,
  host text NOT NULL,
  pid integer NOT NULL,
  version text NOT NULL,
  queues text[] NOT NULL,
  models text[] NOT NULL,
  concurrency integer NOT NULL,
  started_at timestamptz NOT NULL DEFAULT clock(),
  last_seen_at timestamptz NOT NULL DEFAULT clock(),
  stopped_at timestamptz
);

CREATE TABLE model_runs (
  id uuid PRIMARY KEY,
  status run_status NOT NULL DEFAULT 'PENDING',
  owner text NOT NULL,
  model text NOT NULL,
  model_version text NOT NULL,
  queue text NOT NULL,
  priority smallint NOT NULL,
  lane integer NOT NULL,
  executor text NOT NULL,
  parameters jsonb NOT NULL,
  payload_hash text NOT NULL,
  seed bigint NOT NULL,
  title text,
  tags text[] NOT NULL DEFAULT '{}',
  batch_id uuid,
  retry_of uuid,
  reproduces uuid,
  reservation uuid,
  trace_parent text,
  created_at timestamptz NOT NULL,
  available_at timestamptz NOT NULL,
  started_at timestamptz,
  finished_at timestamptz,
  timeout_seconds double precision NOT NULL,
  expected_seconds double precision,
  max_attempts integer NOT NULL,
  attempt_count integer NOT NULL DEFAULT 0,
  release_count integer NOT NULL DEFAULT 0,
  reclaim_count integer NOT NULL DEFAULT 0,
  lease_owner text,
  lease_expires_at timestamptz,
  lease_epoch integer NOT NULL DEFAULT 0,
  heartbeat_at timestamptz,
  deadline_at timestamptz,
  cancel_requested_at timestamptz,
  event_seq integer NOT NULL DEFAULT 0,
  last_error text,
  last_error_class text,
  last_error_attempt integer,
  result_ref text,
  result_hash text,

  CONSTRAINT runs_lease_while_running CHECK (
    CASE status WHEN 'RUNNING' THEN num_nulls(lease_owner, lease_expires_at, deadline_at) = 0
      ELSE num_nonnulls(lease_owner, lease_expires_at, deadline_at) = 0 END),
  CONSTRAINT runs_finished_when_terminal CHECK (
    (finished_at IS NOT NULL) = (status IN ('SUCCEEDED', 'FAILED', 'CANCELLED'))),
  CONSTRAINT runs_result_when_succeeded CHECK (
    CASE status WHEN 'SUCCEEDED' THEN num_nulls(result_ref, result_hash) = 0
      ELSE num_nonnulls(result_ref, result_hash) = 0 END),
  CONSTRAINT runs_attempt_counts CHECK (
    release_count >= 0 AND reclaim_count >= 0 AND attempt_count >= release_count + reclaim_count
    AND attempt_count - release_count <= max_attempts AND max_attempts >= 1),
  CONSTRAINT runs_started_when_attempted CHECK ((started_at IS NOT NULL) = (attempt_count > 0)),
  CONSTRAINT runs_waiting_run_is_not_cancelled CHECK (status <> 'PENDING' OR cancel_requested_at IS NULL),
  -- A claim takes many runs at once and would fail for all of them.
  CONSTRAINT runs_waiting_has_attempts_left CHECK (status <> 'PENDING' OR attempt_count - release_count < max_attempts),
  CONSTRAINT runs_priority CHECK (priority BETWEEN -100 AND 100),
  CONSTRAINT runs_payload_hash CHECK (length(payload_hash) = 64),
  CONSTRAINT runs_owner CHECK (length(owner) BETWEEN 1 AND 255),
  CONSTRAINT runs_timeout CHECK (timeout_seconds > 0)
) WITH (
  -- Dead versions of a hot queue table must go soon, or every index pays for them.
  autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000,
  autovacuum_analyze_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 1
);

CREATE INDEX idx_runs_ready ON model_runs (lane, available_at, id) WHERE status = 'PENDING';
CREATE INDEX idx_runs_status_created_at ON model_runs (status, created_at);
-- Only ever asked for equality; hash entries are a fifth of the size of the text, and each status change writes one.
CREATE INDEX idx_runs_payload_hash ON model_runs USING hash (payload_hash);
CREATE INDEX idx_runs_lease_expires ON model_runs (status, lease_expires_at) WHERE status = 'RUNNING';

-- Almost always empty: cancels that wait for the holder to confirm. It does not name the status, so that no other index fits
-- the statement that reads it.
CREATE INDEX idx_runs_cancelling ON model_runs (cancel_requested_at) WHERE cancel_requested_at IS NOT NULL AND finished_at IS NULL;

CREATE TABLE run_attempts (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  run_id uuid NOT NULL,
  attempt integer NOT NULL,
  state attempt_state NOT NULL,
  executor text NOT NULL,
  worker_id text NOT NULL,
  lease_epoch integer NOT NULL,
  submitted_at timestamptz NOT NULL,
  started_at timestamptz,
  finished_at timestamptz,
  external_ref jsonb,
  token_hash bytea,
  exit_code integer,
  error_class text,
  error_message text,
  error_stack text,
  result_ref text,
  log_ref text,
  progress jsonb,
  progress_at timestamptz,
  cpu_seconds double precision,
  peak_memory_bytes bigint,
  PRIMARY KEY (run_id, attempt),
  CONSTRAINT attempts_number CHECK (attempt >= 1),
  CONSTRAINT attempts_finished CHECK ((finished_at IS NULL) = (state IN ('SUBMITTED', 'RUNNING')))
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 1);

CREATE INDEX idx_attempts_open ON run_attempts (state) WHERE state IN ('SUBMITTED', 'RUNNING');

CREATE TABLE run_events (
  run_id uuid NOT NULL,
  seq integer NOT NULL,
  type text NOT NULL,
  at timestamptz NOT NULL,
  status run_status,
  attempt integer,
  worker_id text,
  message text,
  data jsonb,
  PRIMARY KEY (run_id, seq)
);

CREATE TABLE run_results (
  run_id uuid PRIMARY KEY,
  attempt integer NOT NULL,
  result json NOT NULL
);

-- Explicit idempotency keys and implicit payload slots: a name that leads to one run of one owner until it expires.
CREATE TABLE idempotency_keys (
  owner text NOT NULL,
  kind text NOT NULL,
  key text NOT NULL,
  payload_hash text NOT NULL,
  run_id uuid NOT NULL REFERENCES model_runs (id) ON DELETE CASCADE,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (owner, kind, key),
  CONSTRAINT keys_kind CHECK (kind IN ('key', 'slot')),
  CONSTRAINT keys_key CHECK (length(key) BETWEEN 1 AND 255)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 1);

CREATE INDEX idx_idempotency_expires ON idempotency_keys (expires_at);

-- Heartbeats are written once, on the run's lease; an attempt shows them through this view.
CREATE VIEW run_attempt_heartbeats AS
  SELECT a.*, CASE WHEN a.finished_at IS NULL AND a.attempt = r.attempt_count THEN r.heartbeat_at END AS last_heartbeat_at
  FROM run_attempts a JOIN model_runs r ON r.id = a.run_id;

-- The rules again, where no program can pass them by. Each trigger has a WHEN clause or a column list that legal
-- statements never meet. They are AFTER triggers because Postgres locks the row once more for every BEFORE one, whether
-- or not its WHEN clause holds; an AFTER trigger whose clause does not hold is not even queued.

CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' AND current_setting('holdfast.retention', true) = 'on' THEN
    RETURN OLD;
  END IF;
  RAISE EXCEPTION 'holdfast: % (% on %)', TG_ARGV[0], lower(TG_OP), TG_TABLE_NAME
    USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = TG_NAME;
END $$;

CREATE TRIGGER runs_transition AFTER UPDATE OF status ON model_runs FOR EACH ROW
  WHEN (OLD.status <> NEW.status
    AND NOT (OLD.status = 'PENDING' AND NEW.status IN ('RUNNING', 'CANCELLED'))
    AND NOT (OLD.status = 'RUNNING' AND NEW.status IN ('PENDING', 'SUCCEEDED', 'FAILED', 'CANCELLED')))
  EXECUTE FUNCTION refuse_change('this transition of a run is not allowed');

-- Sealed: in a terminal row only event_seq may change. A test holds this list equal to the table's columns.
CREATE TRIGGER runs_sealed AFTER UPDATE ON model_runs FOR EACH ROW
  WHEN (OLD.status IN ('SUCCEEDED', 'FAILED', 'CANCELLED') AND (
    (NEW.id, NEW.status, NEW.owner, NEW.model, NEW.model_version, NEW.queue, NEW.priority, NEW.lane, NEW.executor,
     NEW.parameters, NEW.payload_hash, NEW.seed, NEW.title, NEW.tags, NEW.batch_id, NEW.retry_of, NEW.reproduces,
     NEW.reservation, NEW.trace_parent, NEW.created_at, NEW.available_at, NEW.started_at, NEW.finished_at,
     NEW.timeout_seconds, NEW.expected_seconds, NEW.max_attempts, NEW.attempt_count, NEW.release_count,
     NEW.reclaim_count, NEW.lease_owner, NEW.lease_expires_at, NEW.lease_epoch, NEW.heartbeat_at, NEW.deadline_at,
     NEW.cancel_requested_at, NEW.last_error, NEW.last_error_class, NEW.last_error_attempt, NEW.result_ref,
     NEW.result_hash)
    IS DISTINCT FROM
    (OLD.id, OLD.status, OLD.owner, OLD.model, OLD.model_version, OLD.queue, OLD.priority, OLD.lane, OLD.executor,
     OLD.parameters, OLD.payload_hash, OLD.seed, OLD.title, OLD.tags, OLD.batch_id, OLD.retry_of, OLD.reproduces,
     OLD.reservation, OLD.trace_parent, OLD.created_at, OLD.available_at, OLD.started_at, OLD.finished_at,
     OLD.timeout_seconds, OLD.expected_seconds, OLD.max_attempts, OLD.attempt_count, OLD.release_count,
     OLD.reclaim_count, OLD.lease_owner, OLD.lease_expires_at, OLD.lease_epoch, OLD.heartbeat_at, OLD.deadline_at,
     OLD.cancel_requested_at, OLD.last_error, OLD.last_error_class, OLD.last_error_attempt, OLD.result_ref,
     OLD.result_hash)))
  EXECUTE FUNCTION refuse_change('a finished run never changes');

CREATE TRIGGER runs_identity AFTER UPDATE OF id, owner, model, model_version, queue, priority, lane, parameters,
    payload_hash, seed, retry_of, reproduces, created_at ON model_runs FOR EACH ROW
  WHEN ((NEW.id, NEW.owner, NEW.model, NEW.model_version, NEW.queue, NEW.priority, NEW.lane, NEW.parameters,
         NEW.payload_hash, NEW.seed, NEW.retry_of, NEW.reproduces, NEW.created_at)
    IS DISTINCT FROM (OLD.id, OLD.owner, OLD.model, OLD.model_version, OLD.queue, OLD.priority, OLD.lane, OLD.parameters,
         OLD.payload_hash, OLD.seed, OLD.retry_of, OLD.reproduces, OLD.created_at))
  EXECUTE FUNCTION refuse_change('what a run was asked to do never changes');

CREATE TRIGGER runs_fence AFTER UPDATE ON model_runs FOR EACH ROW
  WHEN (NEW.lease_epoch < OLD.lease_epoch OR NEW.attempt_count < OLD.attempt_count OR NEW.event_seq < OLD.event_seq
    OR (OLD.status = 'PENDING' AND NEW.status = 'RUNNING'
      AND (NEW.lease_epoch <= OLD.lease_epoch OR NEW.attempt_count <> OLD.attempt_count + 1))
    OR (OLD.status = 'RUNNING' AND NEW.status = 'RUNNING' AND NEW.lease_owner <> OLD.lease_owner
      AND NEW.lease_epoch <= OLD.lease_epoch)
    OR (OLD.cancel_requested_at IS NOT NULL AND NEW.cancel_requested_at IS NULL))
  EXECUTE FUNCTION refuse_change('a lease changes hands only with a higher epoch and counters never go back');

CREATE TRIGGER runs_kept BEFORE DELETE ON model_runs FOR EACH ROW
  EXECUTE FUNCTION refuse_change('runs are deleted by retention only');
CREATE TRIGGER runs_not_truncated BEFORE TRUNCATE ON model_runs FOR EACH STATEMENT
  EXECUTE FUNCTION refuse_change('runs are deleted by retention only');

CREATE TRIGGER attempts_sealed AFTER UPDATE ON run_attempts FOR EACH ROW
  WHEN (OLD.finished_at IS NOT NULL OR NEW.run_id <> OLD.run_id OR NEW.attempt <> OLD.attempt
    OR (OLD.state = 'RUNNING' AND NEW.state = 'SUBMITTED') OR NEW.lease_epoch < OLD.lease_epoch)
  EXECUTE FUNCTION refuse_change('a finished attempt never changes');
CREATE TRIGGER attempts_kept BEFORE DELETE ON run_attempts FOR EACH ROW
  EXECUTE FUNCTION refuse_change('attempts are deleted by retention only');
CREATE TRIGGER attempts_not_truncated BEFORE TRUNCATE ON run_attempts FOR EACH STATEMENT
  EXECUTE FUNCTION refuse_change('attempts are deleted by retention only');

CREATE TRIGGER events_append_only BEFORE UPDATE OR DELETE ON run_events FOR EACH ROW
  EXECUTE FUNCTION refuse_change('events are append-only');
CREATE TRIGGER events_not_truncated BEFORE TRUNCATE ON run_events FOR EACH STATEMENT
  EXECUTE FUNCTION refuse_change('events are append-only');

CREATE TRIGGER results_sealed BEFORE UPDATE OR DELETE ON run_results FOR EACH ROW
  EXECUTE FUNCTION refuse_change('a result never changes');
CREATE TRIGGER results_not_truncated BEFORE TRUNCATE ON run_results FOR EACH STATEMENT
  EXECUTE FUNCTION refuse_change('a result never changes');
