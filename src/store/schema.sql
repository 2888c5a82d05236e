CREATE TYPE holdfast.attempt_state AS ENUM ('SUBMITTED', 'RUNNING', 'SUCCEEDED', 'FAILED', 'CANCELLED', 'LOST', 'RELEASED');

CREATE TYPE holdfast.run_status AS ENUM ('PENDING', 'RUNNING', 'SUCCEEDED', 'FAILED', 'CANCELLED');

CREATE TABLE holdfast.idempotency_keys (
  owner text NOT NULL,
  kind text NOT NULL,
  key text NOT NULL,
  payload_hash text NOT NULL,
  run_id uuid NOT NULL,
  created_at timestamp with time zone NOT NULL,
  expires_at timestamp with time zone NOT NULL
) WITH (autovacuum_vacuum_cost_delay=1, autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_threshold=5000);

CREATE TABLE holdfast.lanes (
  lane integer GENERATED ALWAYS AS IDENTITY NOT NULL,
  queue text NOT NULL,
  model text NOT NULL,
  model_version text NOT NULL,
  priority smallint NOT NULL
);

CREATE TABLE holdfast.model_runs (
  id uuid NOT NULL,
  status holdfast.run_status DEFAULT 'PENDING'::holdfast.run_status NOT NULL,
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
  tags text[] DEFAULT '{}'::text[] NOT NULL,
  batch_id uuid,
  retry_of uuid,
  reproduces uuid,
  reservation uuid,
  trace_parent text,
  created_at timestamp with time zone NOT NULL,
  available_at timestamp with time zone NOT NULL,
  started_at timestamp with time zone,
  finished_at timestamp with time zone,
  timeout_seconds double precision NOT NULL,
  expected_seconds double precision,
  max_attempts integer NOT NULL,
  attempt_count integer DEFAULT 0 NOT NULL,
  release_count integer DEFAULT 0 NOT NULL,
  reclaim_count integer DEFAULT 0 NOT NULL,
  lease_owner text,
  lease_expires_at timestamp with time zone,
  lease_epoch integer DEFAULT 0 NOT NULL,
  heartbeat_at timestamp with time zone,
  deadline_at timestamp with time zone,
  cancel_requested_at timestamp with time zone,
  event_seq integer DEFAULT 0 NOT NULL,
  last_error text,
  last_error_class text,
  last_error_attempt integer,
  result_ref text,
  result_hash text
) WITH (autovacuum_analyze_scale_factor=0.05, autovacuum_vacuum_cost_delay=1, autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_threshold=5000);

CREATE TABLE holdfast.models (
  name text NOT NULL,
  version text NOT NULL,
  definition jsonb NOT NULL,
  registered_at timestamp with time zone DEFAULT holdfast.clock() NOT NULL,
  updated_at timestamp with time zone DEFAULT holdfast.clock() NOT NULL
);

CREATE TABLE holdfast.queues (
  queue text NOT NULL,
  paused boolean DEFAULT false NOT NULL,
  retry jsonb DEFAULT '{}'::jsonb NOT NULL,
  updated_at timestamp with time zone DEFAULT holdfast.clock() NOT NULL
);

CREATE TABLE holdfast.run_attempts (
  id uuid DEFAULT gen_random_uuid() NOT NULL,
  run_id uuid NOT NULL,
  attempt integer NOT NULL,
  state holdfast.attempt_state NOT NULL,
  executor text NOT NULL,
  worker_id text NOT NULL,
  lease_epoch integer NOT NULL,
  submitted_at timestamp with time zone NOT NULL,
  started_at timestamp with time zone,
  finished_at timestamp with time zone,
  external_ref jsonb,
  token_hash bytea,
  exit_code integer,
  error_class text,
  error_message text,
  error_stack text,
  result_ref text,
  log_ref text,
  progress jsonb,
  progress_at timestamp with time zone,
  cpu_seconds double precision,
  peak_memory_bytes bigint
) WITH (autovacuum_vacuum_cost_delay=1, autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_threshold=5000);

CREATE TABLE holdfast.run_events (
  run_id uuid NOT NULL,
  seq integer NOT NULL,
  type text NOT NULL,
  at timestamp with time zone NOT NULL,
  status holdfast.run_status,
  attempt integer,
  worker_id text,
  message text,
  data jsonb
);

CREATE TABLE holdfast.run_results (
  run_id uuid NOT NULL,
  attempt integer NOT NULL,
  result json NOT NULL
);

CREATE TABLE holdfast.schema_migrations (
  name text NOT NULL,
  sha256 text NOT NULL,
  breaking boolean NOT NULL,
  applied_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL
);

CREATE TABLE holdfast.settings (
  name text NOT NULL,
  value text NOT NULL
);

CREATE TABLE holdfast.workers (
  worker_id text NOT NULL,
  host text NOT NULL,
  pid integer NOT NULL,
  version text NOT NULL,
  queues text[] NOT NULL,
  models text[] NOT NULL,
  concurrency integer NOT NULL,
  started_at timestamp with time zone DEFAULT holdfast.clock() NOT NULL,
  last_seen_at timestamp with time zone DEFAULT holdfast.clock() NOT NULL,
  stopped_at timestamp with time zone
);

ALTER TABLE holdfast.idempotency_keys ADD CONSTRAINT idempotency_keys_pkey PRIMARY KEY (owner, kind, key);

ALTER TABLE holdfast.idempotency_keys ADD CONSTRAINT idempotency_keys_run_id_fkey FOREIGN KEY (run_id) REFERENCES holdfast.model_runs(id) ON DELETE CASCADE;

ALTER TABLE holdfast.idempotency_keys ADD CONSTRAINT keys_key CHECK (((length(key) >= 1) AND (length(key) <= 255)));

ALTER TABLE holdfast.idempotency_keys ADD CONSTRAINT keys_kind CHECK ((kind = ANY (ARRAY['key'::text, 'slot'::text])));

ALTER TABLE holdfast.lanes ADD CONSTRAINT lanes_pkey PRIMARY KEY (lane);

ALTER TABLE holdfast.lanes ADD CONSTRAINT lanes_queue_model_model_version_priority_key UNIQUE (queue, model, model_version, priority);

ALTER TABLE holdfast.model_runs ADD CONSTRAINT model_runs_pkey PRIMARY KEY (id);

ALTER TABLE holdfast.model_runs ADD CONSTRAINT runs_attempt_counts CHECK (((release_count >= 0) AND (reclaim_count >= 0) AND (attempt_count >= (release_count + reclaim_count)) AND ((attempt_count - release_count) <= max_attempts) AND (max_attempts >= 1)));

ALTER TABLE holdfast.model_runs ADD CONSTRAINT runs_finished_when_terminal CHECK (((finished_at IS NOT NULL) = (status = ANY (ARRAY['SUCCEEDED'::holdfast.run_status, 'FAILED'::holdfast.run_status, 'CANCELLED'::holdfast.run_status]))));

ALTER TABLE holdfast.model_runs ADD CONSTRAINT runs_lease_while_running CHECK (
CASE status
    WHEN 'RUNNING'::holdfast.run_status THEN (num_nulls(lease_owner, lease_expires_at, deadline_at) = 0)
    ELSE (num_nonnulls(lease_owner, lease_expires_at, deadline_at) = 0)
END);

ALTER TABLE holdfast.model_runs ADD CONSTRAINT runs_owner CHECK (((length(owner) >= 1) AND (length(owner) <= 255)));

ALTER TABLE holdfast.model_runs ADD CONSTRAINT runs_payload_hash CHECK ((length(payload_hash) = 64));

ALTER TABLE holdfast.model_runs ADD CONSTRAINT runs_priority CHECK (((priority >= '-100'::integer) AND (priority <= 100)));

ALTER TABLE holdfast.model_runs ADD CONSTRAINT runs_result_when_succeeded CHECK (
CASE status
    WHEN 'SUCCEEDED'::holdfast.run_status THEN (num_nulls(result_ref, result_hash) = 0)
    ELSE (num_nonnulls(result_ref, result_hash) = 0)
END);

ALTER TABLE holdfast.model_runs ADD CONSTRAINT runs_started_when_attempted CHECK (((started_at IS NOT NULL) = (attempt_count > 0)));

ALTER TABLE holdfast.model_runs ADD CONSTRAINT runs_timeout CHECK ((timeout_seconds > (0)::double precision));

ALTER TABLE holdfast.model_runs ADD CONSTRAINT runs_waiting_has_attempts_left CHECK (((status <> 'PENDING'::holdfast.run_status) OR ((attempt_count - release_count) < max_attempts)));

ALTER TABLE holdfast.model_runs ADD CONSTRAINT runs_waiting_run_is_not_cancelled CHECK (((status <> 'PENDING'::holdfast.run_status) OR (cancel_requested_at IS NULL)));

ALTER TABLE holdfast.models ADD CONSTRAINT models_name CHECK (((length(name) >= 1) AND (length(name) <= 128)));

ALTER TABLE holdfast.models ADD CONSTRAINT models_pkey PRIMARY KEY (name, version);

ALTER TABLE holdfast.models ADD CONSTRAINT models_version CHECK (((length(version) >= 1) AND (length(version) <= 64)));

ALTER TABLE holdfast.queues ADD CONSTRAINT queues_name CHECK (((length(queue) >= 1) AND (length(queue) <= 128)));

ALTER TABLE holdfast.queues ADD CONSTRAINT queues_pkey PRIMARY KEY (queue);

ALTER TABLE holdfast.run_attempts ADD CONSTRAINT attempts_finished CHECK (((finished_at IS NULL) = (state = ANY (ARRAY['SUBMITTED'::holdfast.attempt_state, 'RUNNING'::holdfast.attempt_state]))));

ALTER TABLE holdfast.run_attempts ADD CONSTRAINT attempts_number CHECK ((attempt >= 1));

ALTER TABLE holdfast.run_attempts ADD CONSTRAINT run_attempts_pkey PRIMARY KEY (run_id, attempt);

ALTER TABLE holdfast.run_events ADD CONSTRAINT run_events_pkey PRIMARY KEY (run_id, seq);

ALTER TABLE holdfast.run_results ADD CONSTRAINT run_results_pkey PRIMARY KEY (run_id);

ALTER TABLE holdfast.schema_migrations ADD CONSTRAINT schema_migrations_pkey PRIMARY KEY (name);

ALTER TABLE holdfast.settings ADD CONSTRAINT settings_pkey PRIMARY KEY (name);

ALTER TABLE holdfast.workers ADD CONSTRAINT workers_pkey PRIMARY KEY (worker_id);

CREATE INDEX idx_idempotency_expires ON holdfast.idempotency_keys USING btree (expires_at);

CREATE INDEX idx_runs_cancelling ON holdfast.model_runs USING btree (cancel_requested_at) WHERE ((cancel_requested_at IS NOT NULL) AND (finished_at IS NULL));

CREATE INDEX idx_runs_lease_expires ON holdfast.model_runs USING btree (status, lease_expires_at) WHERE (status = 'RUNNING'::holdfast.run_status);

CREATE INDEX idx_runs_payload_hash ON holdfast.model_runs USING hash (payload_hash);

CREATE INDEX idx_runs_ready ON holdfast.model_runs USING btree (lane, available_at, id) WHERE (status = 'PENDING'::holdfast.run_status);

CREATE INDEX idx_runs_status_created_at ON holdfast.model_runs USING btree (status, created_at);

CREATE INDEX idx_attempts_open ON holdfast.run_attempts USING btree (state) WHERE (state = ANY (ARRAY['SUBMITTED'::holdfast.attempt_state, 'RUNNING'::holdfast.attempt_state]));

CREATE VIEW holdfast.run_attempt_heartbeats AS
 SELECT a.id,
    a.run_id,
    a.attempt,
    a.state,
    a.executor,
    a.worker_id,
    a.lease_epoch,
    a.submitted_at,
    a.started_at,
    a.finished_at,
    a.external_ref,
    a.token_hash,
    a.exit_code,
    a.error_class,
    a.error_message,
    a.error_stack,
    a.result_ref,
    a.log_ref,
    a.progress,
    a.progress_at,
    a.cpu_seconds,
    a.peak_memory_bytes,
        CASE
            WHEN ((a.finished_at IS NULL) AND (a.attempt = r.attempt_count)) THEN r.heartbeat_at
            ELSE NULL::timestamp with time zone
        END AS last_heartbeat_at
   FROM (holdfast.run_attempts a
     JOIN holdfast.model_runs r ON ((r.id = a.run_id)));

CREATE OR REPLACE FUNCTION holdfast.clock()
 RETURNS timestamp with time zone
 LANGUAGE sql
 STABLE PARALLEL SAFE
AS $function$ SELECT statement_timestamp() $function$;

CREATE OR REPLACE FUNCTION holdfast.refuse_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF TG_OP = 'DELETE' AND current_setting('holdfast.retention', true) = 'on' THEN
    RETURN OLD;
  END IF;
  RAISE EXCEPTION 'holdfast: % (% on %)', TG_ARGV[0], lower(TG_OP), TG_TABLE_NAME
    USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = TG_NAME;
END $function$;

CREATE TRIGGER runs_fence AFTER UPDATE ON holdfast.model_runs FOR EACH ROW WHEN (((new.lease_epoch < old.lease_epoch) OR (new.attempt_count < old.attempt_count) OR (new.event_seq < old.event_seq) OR ((old.status = 'PENDING'::holdfast.run_status) AND (new.status = 'RUNNING'::holdfast.run_status) AND ((new.lease_epoch <= old.lease_epoch) OR (new.attempt_count <> (old.attempt_count + 1)))) OR ((old.status = 'RUNNING'::holdfast.run_status) AND (new.status = 'RUNNING'::holdfast.run_status) AND (new.lease_owner <> old.lease_owner) AND (new.lease_epoch <= old.lease_epoch)) OR ((old.cancel_requested_at IS NOT NULL) AND (new.cancel_requested_at IS NULL)))) EXECUTE FUNCTION holdfast.refuse_change('a lease changes hands only with a higher epoch and counters never go back');

CREATE TRIGGER runs_identity AFTER UPDATE OF id, owner, model, model_version, queue, priority, lane, parameters, payload_hash, seed, retry_of, reproduces, created_at ON holdfast.model_runs FOR EACH ROW WHEN ((((((((((((((new.id IS DISTINCT FROM old.id) OR (new.owner IS DISTINCT FROM old.owner)) OR (new.model IS DISTINCT FROM old.model)) OR (new.model_version IS DISTINCT FROM old.model_version)) OR (new.queue IS DISTINCT FROM old.queue)) OR (new.priority IS DISTINCT FROM old.priority)) OR (new.lane IS DISTINCT FROM old.lane)) OR (new.parameters IS DISTINCT FROM old.parameters)) OR (new.payload_hash IS DISTINCT FROM old.payload_hash)) OR (new.seed IS DISTINCT FROM old.seed)) OR (new.retry_of IS DISTINCT FROM old.retry_of)) OR (new.reproduces IS DISTINCT FROM old.reproduces)) OR (new.created_at IS DISTINCT FROM old.created_at))) EXECUTE FUNCTION holdfast.refuse_change('what a run was asked to do never changes');

CREATE TRIGGER runs_kept BEFORE DELETE ON holdfast.model_runs FOR EACH ROW EXECUTE FUNCTION holdfast.refuse_change('runs are deleted by retention only');

CREATE TRIGGER runs_not_truncated BEFORE TRUNCATE ON holdfast.model_runs FOR EACH STATEMENT EXECUTE FUNCTION holdfast.refuse_change('runs are deleted by retention only');

CREATE TRIGGER runs_sealed AFTER UPDATE ON holdfast.model_runs FOR EACH ROW WHEN (((old.status = ANY (ARRAY['SUCCEEDED'::holdfast.run_status, 'FAILED'::holdfast.run_status, 'CANCELLED'::holdfast.run_status])) AND ((((((((((((((((((((((((((((((((((((((((new.id IS DISTINCT FROM old.id) OR (new.status IS DISTINCT FROM old.status)) OR (new.owner IS DISTINCT FROM old.owner)) OR (new.model IS DISTINCT FROM old.model)) OR (new.model_version IS DISTINCT FROM old.model_version)) OR (new.queue IS DISTINCT FROM old.queue)) OR (new.priority IS DISTINCT FROM old.priority)) OR (new.lane IS DISTINCT FROM old.lane)) OR (new.executor IS DISTINCT FROM old.executor)) OR (new.parameters IS DISTINCT FROM old.parameters)) OR (new.payload_hash IS DISTINCT FROM old.payload_hash)) OR (new.seed IS DISTINCT FROM old.seed)) OR (new.title IS DISTINCT FROM old.title)) OR (new.tags IS DISTINCT FROM old.tags)) OR (new.batch_id IS DISTINCT FROM old.batch_id)) OR (new.retry_of IS DISTINCT FROM old.retry_of)) OR (new.reproduces IS DISTINCT FROM old.reproduces)) OR (new.reservation IS DISTINCT FROM old.reservation)) OR (new.trace_parent IS DISTINCT FROM old.trace_parent)) OR (new.created_at IS DISTINCT FROM old.created_at)) OR (new.available_at IS DISTINCT FROM old.available_at)) OR (new.started_at IS DISTINCT FROM old.started_at)) OR (new.finished_at IS DISTINCT FROM old.finished_at)) OR (new.timeout_seconds IS DISTINCT FROM old.timeout_seconds)) OR (new.expected_seconds IS DISTINCT FROM old.expected_seconds)) OR (new.max_attempts IS DISTINCT FROM old.max_attempts)) OR (new.attempt_count IS DISTINCT FROM old.attempt_count)) OR (new.release_count IS DISTINCT FROM old.release_count)) OR (new.reclaim_count IS DISTINCT FROM old.reclaim_count)) OR (new.lease_owner IS DISTINCT FROM old.lease_owner)) OR (new.lease_expires_at IS DISTINCT FROM old.lease_expires_at)) OR (new.lease_epoch IS DISTINCT FROM old.lease_epoch)) OR (new.heartbeat_at IS DISTINCT FROM old.heartbeat_at)) OR (new.deadline_at IS DISTINCT FROM old.deadline_at)) OR (new.cancel_requested_at IS DISTINCT FROM old.cancel_requested_at)) OR (new.last_error IS DISTINCT FROM old.last_error)) OR (new.last_error_class IS DISTINCT FROM old.last_error_class)) OR (new.last_error_attempt IS DISTINCT FROM old.last_error_attempt)) OR (new.result_ref IS DISTINCT FROM old.result_ref)) OR (new.result_hash IS DISTINCT FROM old.result_hash)))) EXECUTE FUNCTION holdfast.refuse_change('a finished run never changes');

CREATE TRIGGER runs_transition AFTER UPDATE OF status ON holdfast.model_runs FOR EACH ROW WHEN (((old.status <> new.status) AND (NOT ((old.status = 'PENDING'::holdfast.run_status) AND (new.status = ANY (ARRAY['RUNNING'::holdfast.run_status, 'CANCELLED'::holdfast.run_status])))) AND (NOT ((old.status = 'RUNNING'::holdfast.run_status) AND (new.status = ANY (ARRAY['PENDING'::holdfast.run_status, 'SUCCEEDED'::holdfast.run_status, 'FAILED'::holdfast.run_status, 'CANCELLED'::holdfast.run_status])))))) EXECUTE FUNCTION holdfast.refuse_change('this transition of a run is not allowed');

CREATE TRIGGER attempts_kept BEFORE DELETE ON holdfast.run_attempts FOR EACH ROW EXECUTE FUNCTION holdfast.refuse_change('attempts are deleted by retention only');

CREATE TRIGGER attempts_not_truncated BEFORE TRUNCATE ON holdfast.run_attempts FOR EACH STATEMENT EXECUTE FUNCTION holdfast.refuse_change('attempts are deleted by retention only');

CREATE TRIGGER attempts_sealed AFTER UPDATE ON holdfast.run_attempts FOR EACH ROW WHEN (((old.finished_at IS NOT NULL) OR (new.run_id <> old.run_id) OR (new.attempt <> old.attempt) OR ((old.state = 'RUNNING'::holdfast.attempt_state) AND (new.state = 'SUBMITTED'::holdfast.attempt_state)) OR (new.lease_epoch < old.lease_epoch))) EXECUTE FUNCTION holdfast.refuse_change('a finished attempt never changes');

CREATE TRIGGER events_append_only BEFORE DELETE OR UPDATE ON holdfast.run_events FOR EACH ROW EXECUTE FUNCTION holdfast.refuse_change('events are append-only');

CREATE TRIGGER events_not_truncated BEFORE TRUNCATE ON holdfast.run_events FOR EACH STATEMENT EXECUTE FUNCTION holdfast.refuse_change('events are append-only');

CREATE TRIGGER results_not_truncated BEFORE TRUNCATE ON holdfast.run_results FOR EACH STATEMENT EXECUTE FUNCTION holdfast.refuse_change('a result never changes');

CREATE TRIGGER results_sealed BEFORE DELETE OR UPDATE ON holdfast.run_results FOR EACH ROW EXECUTE FUNCTION holdfast.refuse_change('a result never changes');
