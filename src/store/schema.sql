CREATE TYPE holdfast.attempt_state AS ENUM ('SUBMITTED', 'RUNNING', 'SUCCEEDED', 'FAILED', 'CANCELLED', 'LOST', 'RELEASED');

CREATE TYPE holdfast.run_status AS ENUM ('PENDING', 'RUNNING', 'SUCCEEDED', 'FAILED', 'CANCELLED');

CREATE DOMAIN holdfast.attempt_limit AS integer CHECK ((VALUE >= 1));

CREATE DOMAIN holdfast.counter AS integer CHECK ((VALUE >= 0));

CREATE DOMAIN holdfast.owner_name AS text CHECK (((length(VALUE) >= 1) AND (length(VALUE) <= 255)));

CREATE DOMAIN holdfast.run_priority AS smallint CHECK (((VALUE >= '-100'::integer) AND (VALUE <= 100)));

CREATE DOMAIN holdfast.sha256_text AS text CHECK ((length(VALUE) = 64));

CREATE DOMAIN holdfast.some_seconds AS double precision CHECK ((VALUE > (0)::double precision));

CREATE SEQUENCE holdfast.fair_lanes AS integer INCREMENT -1 MINVALUE -2147483648 MAXVALUE -1 START -1 CACHE 1;

CREATE TABLE holdfast.api_sessions (
  session_hash bytea NOT NULL,
  token_id uuid NOT NULL,
  created_at timestamp with time zone DEFAULT holdfast.clock() NOT NULL,
  expires_at timestamp with time zone NOT NULL
);

CREATE TABLE holdfast.api_tokens (
  id uuid NOT NULL,
  name text NOT NULL,
  token_hash bytea NOT NULL,
  role text NOT NULL,
  owner text NOT NULL,
  queues text[],
  created_at timestamp with time zone DEFAULT holdfast.clock() NOT NULL,
  created_by text NOT NULL,
  expires_at timestamp with time zone,
  last_used_at timestamp with time zone,
  revoked_at timestamp with time zone
);

CREATE TABLE holdfast.attempt_outcomes (
  run_id uuid NOT NULL,
  attempt integer NOT NULL,
  outcome text NOT NULL,
  delivered_at timestamp with time zone NOT NULL
);

CREATE TABLE holdfast.audit_events (
  id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  at timestamp with time zone DEFAULT holdfast.clock() NOT NULL,
  actor_token uuid,
  actor_owner text NOT NULL,
  action text NOT NULL,
  target text,
  data jsonb DEFAULT '{}'::jsonb NOT NULL,
  request_id text
);

CREATE TABLE holdfast.batch_watches (
  batch_id uuid NOT NULL,
  owner text NOT NULL,
  due_at timestamp with time zone NOT NULL
);

CREATE TABLE holdfast.batches (
  id uuid NOT NULL,
  owner text NOT NULL,
  title text,
  created_at timestamp with time zone NOT NULL
);

CREATE TABLE holdfast.bulk_items (
  operation_id uuid NOT NULL,
  run_id uuid NOT NULL,
  outcome text,
  detail text,
  new_run_id uuid,
  at timestamp with time zone
);

CREATE TABLE holdfast.bulk_operations (
  id uuid NOT NULL,
  action text NOT NULL,
  filter jsonb NOT NULL,
  sees text,
  created_by text NOT NULL,
  idempotency_key text,
  state text DEFAULT 'RUNNING'::text NOT NULL,
  created_before timestamp with time zone NOT NULL,
  cursor text,
  exhausted boolean DEFAULT false NOT NULL,
  counts jsonb DEFAULT '{}'::jsonb NOT NULL,
  error text,
  cancel_requested_at timestamp with time zone,
  lease_epoch integer DEFAULT 0 NOT NULL,
  lease_expires_at timestamp with time zone,
  created_at timestamp with time zone NOT NULL,
  updated_at timestamp with time zone NOT NULL,
  finished_at timestamp with time zone
);

CREATE TABLE holdfast.concurrency_holds (
  run_id uuid NOT NULL,
  owner text NOT NULL,
  key text NOT NULL,
  max_runs integer NOT NULL,
  mode text NOT NULL,
  state text NOT NULL,
  priority smallint NOT NULL,
  arrived_at timestamp with time zone NOT NULL
) WITH (autovacuum_vacuum_cost_delay=1, autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_threshold=5000);

CREATE TABLE holdfast.cost_days (
  owner text NOT NULL,
  model text NOT NULL,
  day date NOT NULL,
  amount numeric(30,6) NOT NULL
);

CREATE TABLE holdfast.cost_ledger (
  run_id uuid NOT NULL,
  owner text NOT NULL,
  model text NOT NULL,
  currency text,
  held numeric(24,6) NOT NULL,
  rate_per_second numeric(30,12),
  on_failure text NOT NULL,
  on_cancel text NOT NULL,
  reported numeric(24,6) DEFAULT 0 NOT NULL,
  reported_attempts integer[] DEFAULT '{}'::integer[] NOT NULL,
  settled numeric(24,6) DEFAULT 0 NOT NULL,
  state text DEFAULT 'HELD'::text NOT NULL,
  created_at timestamp with time zone NOT NULL,
  closed_at timestamp with time zone,
  day date,
  rolled boolean DEFAULT false NOT NULL
) WITH (autovacuum_vacuum_cost_delay=1, autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_threshold=5000);

CREATE TABLE holdfast.deliveries (
  id uuid NOT NULL,
  receiver_id uuid NOT NULL,
  channel text NOT NULL,
  owner text NOT NULL,
  kind text NOT NULL,
  message_id text NOT NULL,
  data jsonb NOT NULL,
  group_key text,
  state text DEFAULT 'PENDING'::text NOT NULL,
  created_at timestamp with time zone NOT NULL,
  available_at timestamp with time zone NOT NULL,
  attempts integer DEFAULT 0 NOT NULL,
  tries integer DEFAULT 0 NOT NULL,
  lease_token uuid,
  finished_at timestamp with time zone,
  last_error text,
  is_unanswered boolean DEFAULT false NOT NULL
) WITH (autovacuum_vacuum_cost_delay=1, autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_threshold=5000);

CREATE TABLE holdfast.delivery_attempts (
  delivery_id uuid NOT NULL,
  attempt integer NOT NULL,
  started_at timestamp with time zone NOT NULL,
  duration_ms double precision,
  request jsonb,
  response jsonb,
  error text
);

CREATE TABLE holdfast.documents (
  owner text NOT NULL,
  payload_hash text NOT NULL,
  file_id text NOT NULL,
  run_id uuid NOT NULL,
  created_at timestamp with time zone NOT NULL,
  counted_at timestamp with time zone
);

CREATE TABLE holdfast.fair_owners (
  queue text NOT NULL,
  owner text NOT NULL,
  model text NOT NULL,
  model_version text NOT NULL,
  pass double precision NOT NULL,
  leaving boolean DEFAULT false NOT NULL
) WITH (autovacuum_vacuum_cost_delay=1, autovacuum_vacuum_scale_factor=0.05, autovacuum_vacuum_threshold=1000);

CREATE TABLE holdfast.file_uploads (
  id uuid NOT NULL,
  owner text NOT NULL,
  file_id text NOT NULL,
  name text NOT NULL,
  type text DEFAULT 'application/octet-stream'::text NOT NULL,
  batch_id uuid,
  run_id uuid,
  duplicate boolean NOT NULL,
  key text,
  created_at timestamp with time zone NOT NULL
);

CREATE TABLE holdfast.files (
  id text NOT NULL,
  bytes bigint NOT NULL,
  type text NOT NULL,
  ref text NOT NULL,
  created_at timestamp with time zone NOT NULL,
  released_at timestamp with time zone
);

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
  priority smallint NOT NULL,
  owner text DEFAULT ''::text NOT NULL
);

CREATE TABLE holdfast.mail_addresses (
  id uuid NOT NULL,
  owner text NOT NULL,
  address text NOT NULL
);

CREATE TABLE holdfast.model_runs (
  id uuid NOT NULL,
  status holdfast.run_status DEFAULT 'PENDING'::holdfast.run_status NOT NULL,
  owner holdfast.owner_name NOT NULL,
  model text NOT NULL,
  model_version text NOT NULL,
  queue text NOT NULL,
  priority holdfast.run_priority NOT NULL,
  lane integer NOT NULL,
  executor text NOT NULL,
  parameters jsonb NOT NULL,
  payload_hash holdfast.sha256_text NOT NULL,
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
  timeout_seconds holdfast.some_seconds NOT NULL,
  expected_seconds double precision,
  max_attempts holdfast.attempt_limit NOT NULL,
  attempt_count integer DEFAULT 0 NOT NULL,
  release_count holdfast.counter DEFAULT 0 NOT NULL,
  reclaim_count holdfast.counter DEFAULT 0 NOT NULL,
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
) WITH (autovacuum_analyze_scale_factor=0.1, autovacuum_vacuum_cost_delay=1, autovacuum_vacuum_scale_factor=0.1, autovacuum_vacuum_threshold=5000);

CREATE TABLE holdfast.models (
  name text NOT NULL,
  version text NOT NULL,
  definition jsonb NOT NULL,
  registered_at timestamp with time zone DEFAULT holdfast.clock() NOT NULL,
  updated_at timestamp with time zone DEFAULT holdfast.clock() NOT NULL
);

CREATE TABLE holdfast.outbox (
  id text NOT NULL,
  kind text NOT NULL,
  owner text NOT NULL,
  run_id uuid,
  batch_id uuid,
  at timestamp with time zone NOT NULL,
  data jsonb DEFAULT '{}'::jsonb NOT NULL,
  spread_at timestamp with time zone
) WITH (autovacuum_vacuum_cost_delay=1, autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_threshold=5000);

CREATE TABLE holdfast.owner_files (
  owner text NOT NULL,
  file_id text NOT NULL,
  created_at timestamp with time zone NOT NULL
);

CREATE TABLE holdfast.packed_logs (
  run_id uuid NOT NULL,
  attempt integer NOT NULL,
  first_no integer NOT NULL,
  last_no integer NOT NULL,
  bytes bigint NOT NULL,
  sha256 text NOT NULL,
  ref text NOT NULL,
  last_at timestamp with time zone NOT NULL
);

CREATE TABLE holdfast.payload_slots (
  owner text NOT NULL,
  payload_hash text NOT NULL,
  run_id uuid NOT NULL,
  expires_at timestamp with time zone NOT NULL
) WITH (autovacuum_vacuum_cost_delay=1, autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_threshold=5000);

CREATE TABLE holdfast.progress_counts (
  owner text NOT NULL,
  batch_id uuid NOT NULL,
  done bigint NOT NULL
);

CREATE TABLE holdfast.queue_weights (
  queue text NOT NULL,
  owner holdfast.owner_name NOT NULL,
  weight double precision NOT NULL
);

CREATE TABLE holdfast.queues (
  queue text NOT NULL,
  paused boolean DEFAULT false NOT NULL,
  retry jsonb DEFAULT '{}'::jsonb NOT NULL,
  updated_at timestamp with time zone DEFAULT holdfast.clock() NOT NULL,
  fair_share boolean DEFAULT false NOT NULL
);

CREATE TABLE holdfast.quota_holds (
  run_id uuid NOT NULL,
  owner text NOT NULL,
  model text NOT NULL,
  created_at timestamp with time zone NOT NULL,
  is_active boolean DEFAULT true NOT NULL
) WITH (autovacuum_vacuum_cost_delay=1, autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_threshold=5000);

CREATE TABLE holdfast.quota_reservations (
  reservation_id uuid NOT NULL,
  owner text NOT NULL,
  model text,
  state text DEFAULT 'ACTIVE'::text NOT NULL,
  cost double precision,
  created_at timestamp with time zone NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  ended_at timestamp with time zone,
  run_id uuid
);

CREATE TABLE holdfast.quotas (
  owner text NOT NULL,
  model text NOT NULL,
  together boolean NOT NULL,
  max_concurrent integer,
  runs_per_hour integer,
  runs_per_day integer,
  cost_per_day double precision,
  cost_per_month double precision,
  action text NOT NULL,
  created_at timestamp with time zone NOT NULL,
  updated_at timestamp with time zone NOT NULL,
  counted_at timestamp with time zone,
  awaits text[]
);

CREATE TABLE holdfast.receivers (
  id uuid NOT NULL,
  channel text NOT NULL,
  owner text NOT NULL,
  kinds text[] NOT NULL,
  is_enabled boolean DEFAULT true NOT NULL,
  disabled_reason text,
  slots integer NOT NULL,
  due_at timestamp with time zone,
  failures integer DEFAULT 0 NOT NULL,
  created_at timestamp with time zone NOT NULL,
  created_by text NOT NULL
);

CREATE TABLE holdfast.resumable_uploads (
  id uuid NOT NULL,
  owner text NOT NULL,
  bytes bigint NOT NULL,
  received bigint DEFAULT 0 NOT NULL,
  metadata jsonb NOT NULL,
  created_at timestamp with time zone NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  upload_id uuid
);

CREATE TABLE holdfast.run_artifacts (
  run_id uuid NOT NULL,
  attempt integer NOT NULL,
  name text COLLATE "C" NOT NULL,
  bytes bigint NOT NULL,
  sha256 text NOT NULL,
  ref text NOT NULL,
  at timestamp with time zone NOT NULL
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
  peak_memory_bytes bigint,
  ticket_hash bytea,
  log_bytes bigint,
  log_no integer,
  step_states jsonb
) WITH (autovacuum_vacuum_cost_delay=1, autovacuum_vacuum_scale_factor=0.1, autovacuum_vacuum_threshold=5000, fillfactor=50);

CREATE TABLE holdfast.run_blocks (
  run_id uuid NOT NULL,
  reason text NOT NULL,
  detail jsonb DEFAULT '{}'::jsonb NOT NULL,
  start_at timestamp with time zone,
  created_at timestamp with time zone NOT NULL,
  since timestamp with time zone NOT NULL
);

CREATE TABLE holdfast.run_events (
  run_id uuid NOT NULL,
  seq integer NOT NULL,
  type text NOT NULL,
  at timestamp with time zone NOT NULL,
  status holdfast.run_status,
  attempt integer,
  worker_id text,
  message text,
  data jsonb,
  xid bigint DEFAULT ((pg_current_xact_id())::text)::bigint
) WITH (autovacuum_vacuum_insert_scale_factor=0.02, autovacuum_vacuum_insert_threshold=50000);

CREATE TABLE holdfast.run_facets (
  run_id uuid NOT NULL,
  name text COLLATE "C" NOT NULL,
  value text COLLATE "C" NOT NULL,
  created_at timestamp with time zone NOT NULL
) WITH (autovacuum_analyze_scale_factor=0.05, autovacuum_vacuum_insert_scale_factor=0.02);

CREATE TABLE holdfast.run_files (
  run_id uuid NOT NULL,
  parameter text NOT NULL,
  file_id text NOT NULL,
  name text NOT NULL
);

CREATE TABLE holdfast.run_logs (
  run_id uuid NOT NULL,
  no integer NOT NULL,
  attempt integer NOT NULL,
  at timestamp with time zone NOT NULL,
  stream text NOT NULL,
  text text NOT NULL
);

CREATE TABLE holdfast.run_overdue (
  run_id uuid NOT NULL,
  attempt integer NOT NULL,
  since timestamp with time zone NOT NULL
);

CREATE TABLE holdfast.run_places (
  run_id uuid NOT NULL,
  no integer NOT NULL,
  file_id text,
  latitude double precision NOT NULL,
  longitude double precision NOT NULL,
  label text,
  created_at timestamp with time zone NOT NULL
) WITH (autovacuum_analyze_scale_factor=0.05, autovacuum_vacuum_insert_scale_factor=0.02);

CREATE TABLE holdfast.run_results (
  run_id uuid NOT NULL,
  attempt integer NOT NULL,
  result json NOT NULL
);

CREATE TABLE holdfast.run_search (
  run_id uuid NOT NULL,
  created_at timestamp with time zone NOT NULL,
  batch_id uuid,
  owner text NOT NULL,
  model text NOT NULL,
  model_version text NOT NULL,
  queue text NOT NULL,
  title text,
  tags text[],
  payload_hash text NOT NULL
) WITH (autovacuum_analyze_scale_factor=0.05, autovacuum_vacuum_insert_scale_factor=0.02);

CREATE TABLE holdfast.run_stats (
  grain text NOT NULL,
  model text NOT NULL,
  queue text NOT NULL,
  bucket_at timestamp with time zone NOT NULL,
  created bigint NOT NULL,
  started bigint NOT NULL,
  succeeded bigint NOT NULL,
  failed bigint NOT NULL,
  cancelled bigint NOT NULL,
  retried bigint NOT NULL,
  reclaimed bigint NOT NULL,
  lag jsonb NOT NULL,
  duration jsonb NOT NULL
);

CREATE TABLE holdfast.run_stats_cursor (
  only_one boolean DEFAULT true NOT NULL,
  counted pg_snapshot NOT NULL,
  since timestamp with time zone NOT NULL,
  count_from timestamp with time zone DEFAULT '-infinity'::timestamp with time zone NOT NULL,
  rolled_at timestamp with time zone NOT NULL
);

CREATE TABLE holdfast.run_step_sources (
  run_id uuid NOT NULL,
  source_run_id uuid NOT NULL
);

CREATE TABLE holdfast.run_steps (
  run_id uuid NOT NULL,
  name text NOT NULL,
  no integer NOT NULL,
  attempt integer NOT NULL,
  started_at timestamp with time zone,
  finished_at timestamp with time zone NOT NULL,
  tries integer NOT NULL,
  output json,
  output_ref text NOT NULL,
  output_hash text NOT NULL,
  output_bytes integer NOT NULL,
  cpu_seconds double precision,
  peak_memory_bytes bigint,
  item_of text,
  item_no integer,
  named_upto integer,
  bytes_upto bigint
);

CREATE TABLE holdfast.run_tags (
  tag text NOT NULL,
  created_at timestamp with time zone NOT NULL,
  run_id uuid NOT NULL
) WITH (autovacuum_analyze_scale_factor=0.05, autovacuum_vacuum_insert_scale_factor=0.02);

CREATE TABLE holdfast.schema_migrations (
  name text NOT NULL,
  sha256 text NOT NULL,
  breaking boolean NOT NULL,
  applied_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL
);

CREATE TABLE holdfast.service_keys (
  name text NOT NULL,
  key text NOT NULL,
  created_at timestamp with time zone NOT NULL
);

CREATE TABLE holdfast.settings (
  name text NOT NULL,
  value text NOT NULL
);

CREATE TABLE holdfast.upload_parts (
  resumable_id uuid NOT NULL,
  from_byte bigint NOT NULL,
  bytes bigint NOT NULL,
  ref text NOT NULL
);

CREATE TABLE holdfast.views (
  id uuid DEFAULT gen_random_uuid() NOT NULL,
  owner text NOT NULL,
  name text NOT NULL,
  filter jsonb NOT NULL,
  "order" text NOT NULL,
  shared boolean NOT NULL,
  created_at timestamp with time zone DEFAULT holdfast.clock() NOT NULL,
  updated_at timestamp with time zone DEFAULT holdfast.clock() NOT NULL
);

CREATE TABLE holdfast.wanted_events (
  owner text NOT NULL,
  type text NOT NULL,
  only_batches boolean DEFAULT false NOT NULL,
  receiver_id uuid NOT NULL
);

CREATE TABLE holdfast.webhooks (
  id uuid NOT NULL,
  url text NOT NULL,
  description text,
  secret text NOT NULL,
  old_secret text,
  old_secret_until timestamp with time zone
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
  stopped_at timestamp with time zone,
  queue_limits jsonb DEFAULT '{}'::jsonb NOT NULL,
  model_limits jsonb DEFAULT '{}'::jsonb NOT NULL
);

ALTER TABLE holdfast.api_sessions ADD CONSTRAINT api_sessions_pkey PRIMARY KEY (session_hash);

ALTER TABLE holdfast.api_sessions ADD CONSTRAINT api_sessions_token_id_fkey FOREIGN KEY (token_id) REFERENCES holdfast.api_tokens(id) ON DELETE CASCADE;

ALTER TABLE holdfast.api_sessions ADD CONSTRAINT sessions_hash CHECK ((length(session_hash) = 32));

ALTER TABLE holdfast.api_tokens ADD CONSTRAINT api_tokens_pkey PRIMARY KEY (id);

ALTER TABLE holdfast.api_tokens ADD CONSTRAINT api_tokens_token_hash_key UNIQUE (token_hash);

ALTER TABLE holdfast.api_tokens ADD CONSTRAINT tokens_expiry CHECK ((expires_at > created_at));

ALTER TABLE holdfast.api_tokens ADD CONSTRAINT tokens_hash CHECK ((length(token_hash) = 32));

ALTER TABLE holdfast.api_tokens ADD CONSTRAINT tokens_name CHECK (((length(name) >= 1) AND (length(name) <= 255)));

ALTER TABLE holdfast.api_tokens ADD CONSTRAINT tokens_owner CHECK (((length(owner) >= 1) AND (length(owner) <= 255)));

ALTER TABLE holdfast.api_tokens ADD CONSTRAINT tokens_queues CHECK (((queues IS NULL) OR ((role = 'worker'::text) AND ((cardinality(queues) >= 1) AND (cardinality(queues) <= 100)))));

ALTER TABLE holdfast.api_tokens ADD CONSTRAINT tokens_role CHECK ((role = ANY (ARRAY['viewer'::text, 'submitter'::text, 'worker'::text, 'operator'::text, 'admin'::text])));

ALTER TABLE holdfast.attempt_outcomes ADD CONSTRAINT attempt_outcomes_pkey PRIMARY KEY (run_id, attempt);

ALTER TABLE holdfast.audit_events ADD CONSTRAINT audit_action CHECK (((length(action) >= 1) AND (length(action) <= 100)));

ALTER TABLE holdfast.audit_events ADD CONSTRAINT audit_events_pkey PRIMARY KEY (id);

ALTER TABLE holdfast.batch_watches ADD CONSTRAINT batch_watches_pkey PRIMARY KEY (batch_id);

ALTER TABLE holdfast.batches ADD CONSTRAINT batches_pkey PRIMARY KEY (id);

ALTER TABLE holdfast.bulk_items ADD CONSTRAINT bulk_items_operation_id_fkey FOREIGN KEY (operation_id) REFERENCES holdfast.bulk_operations(id) ON DELETE CASCADE;

ALTER TABLE holdfast.bulk_items ADD CONSTRAINT bulk_items_outcome CHECK (((outcome IS NULL) = (at IS NULL)));

ALTER TABLE holdfast.bulk_items ADD CONSTRAINT bulk_items_pkey PRIMARY KEY (operation_id, run_id);

ALTER TABLE holdfast.bulk_operations ADD CONSTRAINT bulk_action CHECK ((action = ANY (ARRAY['cancel'::text, 'retry'::text])));

ALTER TABLE holdfast.bulk_operations ADD CONSTRAINT bulk_finished CHECK (((finished_at IS NULL) = (state = 'RUNNING'::text)));

ALTER TABLE holdfast.bulk_operations ADD CONSTRAINT bulk_operations_pkey PRIMARY KEY (id);

ALTER TABLE holdfast.bulk_operations ADD CONSTRAINT bulk_state CHECK ((state = ANY (ARRAY['RUNNING'::text, 'DONE'::text, 'CANCELLED'::text, 'FAILED'::text])));

ALTER TABLE holdfast.concurrency_holds ADD CONSTRAINT concurrency_holds_pkey PRIMARY KEY (run_id);

ALTER TABLE holdfast.concurrency_holds ADD CONSTRAINT holds_max_runs CHECK ((max_runs >= 1));

ALTER TABLE holdfast.concurrency_holds ADD CONSTRAINT holds_mode CHECK ((mode = ANY (ARRAY['queue'::text, 'refuse'::text, 'cancel_older'::text])));

ALTER TABLE holdfast.concurrency_holds ADD CONSTRAINT holds_state CHECK ((state = ANY (ARRAY['held'::text, 'waiting'::text, 'scheduled'::text])));

ALTER TABLE holdfast.cost_days ADD CONSTRAINT cost_days_amount CHECK ((amount >= (0)::numeric));

ALTER TABLE holdfast.cost_days ADD CONSTRAINT cost_days_pkey PRIMARY KEY (owner, model, day);

ALTER TABLE holdfast.cost_ledger ADD CONSTRAINT cost_ledger_pkey PRIMARY KEY (run_id);

ALTER TABLE holdfast.cost_ledger ADD CONSTRAINT costs_amounts CHECK (((held >= (0)::numeric) AND (reported >= (0)::numeric) AND (rate_per_second >= (0)::numeric)));

ALTER TABLE holdfast.cost_ledger ADD CONSTRAINT costs_closed CHECK ((((state = 'HELD'::text) = (closed_at IS NULL)) AND ((closed_at IS NULL) = (day IS NULL))));

ALTER TABLE holdfast.cost_ledger ADD CONSTRAINT costs_policies CHECK (((on_failure = ANY (ARRAY['actual'::text, 'release'::text])) AND (on_cancel = ANY (ARRAY['actual'::text, 'release'::text]))));

ALTER TABLE holdfast.cost_ledger ADD CONSTRAINT costs_rolled CHECK (((NOT rolled) OR (state <> 'HELD'::text)));

ALTER TABLE holdfast.cost_ledger ADD CONSTRAINT costs_settled CHECK (((settled >= (0)::numeric) AND ((state = 'SETTLED'::text) OR (settled = (0)::numeric))));

ALTER TABLE holdfast.cost_ledger ADD CONSTRAINT costs_state CHECK ((state = ANY (ARRAY['HELD'::text, 'SETTLED'::text, 'RELEASED'::text])));

ALTER TABLE holdfast.deliveries ADD CONSTRAINT deliveries_finished CHECK (((state = 'PENDING'::text) = (finished_at IS NULL)));

ALTER TABLE holdfast.deliveries ADD CONSTRAINT deliveries_lease CHECK (((lease_token IS NULL) OR (state = 'PENDING'::text)));

ALTER TABLE holdfast.deliveries ADD CONSTRAINT deliveries_message UNIQUE (receiver_id, message_id);

ALTER TABLE holdfast.deliveries ADD CONSTRAINT deliveries_pkey PRIMARY KEY (id);

ALTER TABLE holdfast.deliveries ADD CONSTRAINT deliveries_receiver_id_fkey FOREIGN KEY (receiver_id) REFERENCES holdfast.receivers(id) ON DELETE CASCADE;

ALTER TABLE holdfast.deliveries ADD CONSTRAINT deliveries_state CHECK ((state = ANY (ARRAY['PENDING'::text, 'DELIVERED'::text, 'DEAD'::text, 'DROPPED'::text])));

ALTER TABLE holdfast.delivery_attempts ADD CONSTRAINT delivery_attempts_delivery_id_fkey FOREIGN KEY (delivery_id) REFERENCES holdfast.deliveries(id) ON DELETE CASCADE;

ALTER TABLE holdfast.delivery_attempts ADD CONSTRAINT delivery_attempts_pkey PRIMARY KEY (delivery_id, attempt);

ALTER TABLE holdfast.documents ADD CONSTRAINT documents_file_id_fkey FOREIGN KEY (file_id) REFERENCES holdfast.files(id);

ALTER TABLE holdfast.documents ADD CONSTRAINT documents_pkey PRIMARY KEY (owner, payload_hash);

ALTER TABLE holdfast.fair_owners ADD CONSTRAINT fair_owners_pkey PRIMARY KEY (queue, owner, model, model_version);

ALTER TABLE holdfast.file_uploads ADD CONSTRAINT file_uploads_file_id_fkey FOREIGN KEY (file_id) REFERENCES holdfast.files(id);

ALTER TABLE holdfast.file_uploads ADD CONSTRAINT file_uploads_pkey PRIMARY KEY (id);

ALTER TABLE holdfast.file_uploads ADD CONSTRAINT uploads_name CHECK (((octet_length(name) >= 1) AND (octet_length(name) <= 1024)));

ALTER TABLE holdfast.files ADD CONSTRAINT files_bytes CHECK ((bytes >= 0));

ALTER TABLE holdfast.files ADD CONSTRAINT files_id CHECK ((id ~ '^[0-9a-f]{64}$'::text));

ALTER TABLE holdfast.files ADD CONSTRAINT files_pkey PRIMARY KEY (id);

ALTER TABLE holdfast.files ADD CONSTRAINT files_ref UNIQUE (ref);

ALTER TABLE holdfast.idempotency_keys ADD CONSTRAINT idempotency_keys_pkey PRIMARY KEY (key, owner, kind);

ALTER TABLE holdfast.idempotency_keys ADD CONSTRAINT idempotency_keys_run_id_fkey FOREIGN KEY (run_id) REFERENCES holdfast.model_runs(id) ON DELETE CASCADE;

ALTER TABLE holdfast.idempotency_keys ADD CONSTRAINT keys_key CHECK (((length(key) >= 1) AND (length(key) <= 255)));

ALTER TABLE holdfast.idempotency_keys ADD CONSTRAINT keys_kind CHECK ((kind = ANY (ARRAY['key'::text, 'retry'::text])));

ALTER TABLE holdfast.lanes ADD CONSTRAINT lanes_key UNIQUE (queue, model, model_version, owner, priority);

ALTER TABLE holdfast.lanes ADD CONSTRAINT lanes_owner CHECK (((lane < 0) = (owner <> ''::text)));

ALTER TABLE holdfast.lanes ADD CONSTRAINT lanes_pkey PRIMARY KEY (lane);

ALTER TABLE holdfast.mail_addresses ADD CONSTRAINT mail_addresses_id_fkey FOREIGN KEY (id) REFERENCES holdfast.receivers(id) ON DELETE CASCADE;

ALTER TABLE holdfast.mail_addresses ADD CONSTRAINT mail_addresses_once UNIQUE (owner, address);

ALTER TABLE holdfast.mail_addresses ADD CONSTRAINT mail_addresses_pkey PRIMARY KEY (id);

ALTER TABLE holdfast.model_runs ADD CONSTRAINT model_runs_pkey PRIMARY KEY (id);

ALTER TABLE holdfast.model_runs ADD CONSTRAINT runs_attempt_counts CHECK ((attempt_count >= ((release_count)::integer + (reclaim_count)::integer)));

ALTER TABLE holdfast.model_runs ADD CONSTRAINT runs_attempts_within_limit CHECK (((attempt_count - (release_count)::integer) <= ((max_attempts)::integer - ((status = 'PENDING'::holdfast.run_status))::integer)));

ALTER TABLE holdfast.model_runs ADD CONSTRAINT runs_finished_when_terminal CHECK (((finished_at IS NOT NULL) = (status >= 'SUCCEEDED'::holdfast.run_status)));

ALTER TABLE holdfast.model_runs ADD CONSTRAINT runs_lease_while_running CHECK ((num_nonnulls(lease_owner, lease_expires_at, deadline_at) = (3 * ((status = 'RUNNING'::holdfast.run_status))::integer)));

ALTER TABLE holdfast.model_runs ADD CONSTRAINT runs_result_when_succeeded CHECK ((num_nonnulls(result_ref, result_hash) = (2 * ((status = 'SUCCEEDED'::holdfast.run_status))::integer)));

ALTER TABLE holdfast.model_runs ADD CONSTRAINT runs_started_when_attempted CHECK (((started_at IS NOT NULL) = (attempt_count > 0)));

ALTER TABLE holdfast.model_runs ADD CONSTRAINT runs_waiting_run_is_not_cancelled CHECK (((status <> 'PENDING'::holdfast.run_status) OR (cancel_requested_at IS NULL)));

ALTER TABLE holdfast.models ADD CONSTRAINT models_name CHECK (((length(name) >= 1) AND (length(name) <= 128)));

ALTER TABLE holdfast.models ADD CONSTRAINT models_pkey PRIMARY KEY (name, version);

ALTER TABLE holdfast.models ADD CONSTRAINT models_version CHECK (((length(version) >= 1) AND (length(version) <= 64)));

ALTER TABLE holdfast.outbox ADD CONSTRAINT outbox_id CHECK ((id ~ '^[A-Za-z0-9_-]{1,200}$'::text));

ALTER TABLE holdfast.outbox ADD CONSTRAINT outbox_pkey PRIMARY KEY (id);

ALTER TABLE holdfast.owner_files ADD CONSTRAINT owner_files_file_id_fkey FOREIGN KEY (file_id) REFERENCES holdfast.files(id);

ALTER TABLE holdfast.owner_files ADD CONSTRAINT owner_files_pkey PRIMARY KEY (owner, file_id);

ALTER TABLE holdfast.packed_logs ADD CONSTRAINT packed_logs_nos CHECK ((first_no <= last_no));

ALTER TABLE holdfast.packed_logs ADD CONSTRAINT packed_logs_pkey PRIMARY KEY (run_id, attempt);

ALTER TABLE holdfast.payload_slots ADD CONSTRAINT payload_slots_pkey PRIMARY KEY (payload_hash, owner);

ALTER TABLE holdfast.progress_counts ADD CONSTRAINT progress_counts_pkey PRIMARY KEY (owner, batch_id);

ALTER TABLE holdfast.queue_weights ADD CONSTRAINT queue_weights_pkey PRIMARY KEY (queue, owner);

ALTER TABLE holdfast.queue_weights ADD CONSTRAINT weights_weight CHECK (((weight >= (0.01)::double precision) AND (weight <= (1000)::double precision)));

ALTER TABLE holdfast.queues ADD CONSTRAINT queues_name CHECK (((length(queue) >= 1) AND (length(queue) <= 128)));

ALTER TABLE holdfast.queues ADD CONSTRAINT queues_pkey PRIMARY KEY (queue);

ALTER TABLE holdfast.quota_holds ADD CONSTRAINT quota_holds_pkey PRIMARY KEY (run_id);

ALTER TABLE holdfast.quota_reservations ADD CONSTRAINT quota_reservations_pkey PRIMARY KEY (reservation_id);

ALTER TABLE holdfast.quota_reservations ADD CONSTRAINT reservations_consumed CHECK (((run_id IS NOT NULL) = (state = 'CONSUMED'::text)));

ALTER TABLE holdfast.quota_reservations ADD CONSTRAINT reservations_cost CHECK ((cost >= (0)::double precision));

ALTER TABLE holdfast.quota_reservations ADD CONSTRAINT reservations_ended CHECK (((ended_at IS NULL) = (state = 'ACTIVE'::text)));

ALTER TABLE holdfast.quota_reservations ADD CONSTRAINT reservations_owner CHECK (((length(owner) >= 1) AND (length(owner) <= 255)));

ALTER TABLE holdfast.quota_reservations ADD CONSTRAINT reservations_state CHECK ((state = ANY (ARRAY['ACTIVE'::text, 'CONSUMED'::text, 'RELEASED'::text, 'EXPIRED'::text])));

ALTER TABLE holdfast.quotas ADD CONSTRAINT quotas_action CHECK ((action = ANY (ARRAY['block'::text, 'warn'::text, 'require_approval'::text])));

ALTER TABLE holdfast.quotas ADD CONSTRAINT quotas_limits CHECK ((LEAST((max_concurrent)::double precision, (runs_per_hour)::double precision, (runs_per_day)::double precision, cost_per_day, cost_per_month, (0)::double precision) >= (0)::double precision));

ALTER TABLE holdfast.quotas ADD CONSTRAINT quotas_model CHECK ((length(model) <= 128));

ALTER TABLE holdfast.quotas ADD CONSTRAINT quotas_owner CHECK (((length(owner) >= 1) AND (length(owner) <= 255)));

ALTER TABLE holdfast.quotas ADD CONSTRAINT quotas_pkey PRIMARY KEY (owner, model, together);

ALTER TABLE holdfast.quotas ADD CONSTRAINT quotas_together CHECK (((owner = '*'::text) OR (NOT together)));

ALTER TABLE holdfast.receivers ADD CONSTRAINT receivers_channel CHECK ((channel = ANY (ARRAY['webhook'::text, 'mail'::text, 'stream'::text])));

ALTER TABLE holdfast.receivers ADD CONSTRAINT receivers_kinds CHECK ((cardinality(kinds) > 0));

ALTER TABLE holdfast.receivers ADD CONSTRAINT receivers_pkey PRIMARY KEY (id);

ALTER TABLE holdfast.receivers ADD CONSTRAINT receivers_reason CHECK ((is_enabled = (disabled_reason IS NULL)));

ALTER TABLE holdfast.receivers ADD CONSTRAINT receivers_slots CHECK (((slots >= 1) AND (slots <= 1000)));

ALTER TABLE holdfast.resumable_uploads ADD CONSTRAINT resumable_received CHECK (((received >= 0) AND (received <= bytes)));

ALTER TABLE holdfast.resumable_uploads ADD CONSTRAINT resumable_uploads_pkey PRIMARY KEY (id);

ALTER TABLE holdfast.run_artifacts ADD CONSTRAINT artifacts_bytes CHECK ((bytes >= 0));

ALTER TABLE holdfast.run_artifacts ADD CONSTRAINT artifacts_name CHECK (((octet_length(name) >= 1) AND (octet_length(name) <= 1000)));

ALTER TABLE holdfast.run_artifacts ADD CONSTRAINT artifacts_sha256 CHECK ((length(sha256) = 64));

ALTER TABLE holdfast.run_artifacts ADD CONSTRAINT run_artifacts_pkey PRIMARY KEY (run_id, attempt, name);

ALTER TABLE holdfast.run_attempts ADD CONSTRAINT attempts_finished CHECK (((finished_at IS NULL) = (state <= 'RUNNING'::holdfast.attempt_state)));

ALTER TABLE holdfast.run_attempts ADD CONSTRAINT attempts_number CHECK ((attempt >= 1));

ALTER TABLE holdfast.run_attempts ADD CONSTRAINT run_attempts_pkey PRIMARY KEY (run_id, attempt);

ALTER TABLE holdfast.run_blocks ADD CONSTRAINT blocks_reason CHECK ((reason = ANY (ARRAY['approval'::text, 'concurrency'::text])));

ALTER TABLE holdfast.run_blocks ADD CONSTRAINT run_blocks_pkey PRIMARY KEY (run_id);

ALTER TABLE holdfast.run_events ADD CONSTRAINT run_events_pkey PRIMARY KEY (run_id, seq);

ALTER TABLE holdfast.run_facets ADD CONSTRAINT facets_name CHECK (((octet_length(name) >= 1) AND (octet_length(name) <= 64)));

ALTER TABLE holdfast.run_facets ADD CONSTRAINT facets_value CHECK (((octet_length(value) >= 1) AND (octet_length(value) <= 1000)));

ALTER TABLE holdfast.run_facets ADD CONSTRAINT run_facets_pkey PRIMARY KEY (run_id, name, value);

ALTER TABLE holdfast.run_files ADD CONSTRAINT run_files_file_id_fkey FOREIGN KEY (file_id) REFERENCES holdfast.files(id);

ALTER TABLE holdfast.run_files ADD CONSTRAINT run_files_pkey PRIMARY KEY (run_id, parameter);

ALTER TABLE holdfast.run_logs ADD CONSTRAINT logs_stream CHECK ((stream = ANY (ARRAY['stdout'::text, 'stderr'::text, 'log'::text])));

ALTER TABLE holdfast.run_logs ADD CONSTRAINT run_logs_pkey PRIMARY KEY (run_id, no);

ALTER TABLE holdfast.run_overdue ADD CONSTRAINT run_overdue_pkey PRIMARY KEY (run_id, attempt);

ALTER TABLE holdfast.run_places ADD CONSTRAINT places_file CHECK ((file_id ~ '^[0-9a-f]{64}$'::text));

ALTER TABLE holdfast.run_places ADD CONSTRAINT places_label CHECK (((octet_length(label) >= 1) AND (octet_length(label) <= 1000)));

ALTER TABLE holdfast.run_places ADD CONSTRAINT places_latitude CHECK (((latitude >= ('-90'::integer)::double precision) AND (latitude <= (90)::double precision)));

ALTER TABLE holdfast.run_places ADD CONSTRAINT places_longitude CHECK (((longitude >= ('-180'::integer)::double precision) AND (longitude <= (180)::double precision)));

ALTER TABLE holdfast.run_places ADD CONSTRAINT places_no CHECK ((no >= 1));

ALTER TABLE holdfast.run_places ADD CONSTRAINT run_places_pkey PRIMARY KEY (run_id, no);

ALTER TABLE holdfast.run_results ADD CONSTRAINT run_results_pkey PRIMARY KEY (run_id);

ALTER TABLE holdfast.run_stats ADD CONSTRAINT run_stats_grain CHECK ((grain = ANY (ARRAY['minute'::text, 'hour'::text, 'day'::text])));

ALTER TABLE holdfast.run_stats ADD CONSTRAINT run_stats_pkey PRIMARY KEY (grain, model, queue, bucket_at);

ALTER TABLE holdfast.run_stats_cursor ADD CONSTRAINT run_stats_cursor_only_one_check CHECK (only_one);

ALTER TABLE holdfast.run_stats_cursor ADD CONSTRAINT run_stats_cursor_pkey PRIMARY KEY (only_one);

ALTER TABLE holdfast.run_step_sources ADD CONSTRAINT run_step_sources_pkey PRIMARY KEY (run_id);

ALTER TABLE holdfast.run_step_sources ADD CONSTRAINT sources_other CHECK ((run_id <> source_run_id));

ALTER TABLE holdfast.run_steps ADD CONSTRAINT run_steps_pkey PRIMARY KEY (run_id, name);

ALTER TABLE holdfast.run_steps ADD CONSTRAINT steps_item CHECK (((item_of IS NULL) = (item_no IS NULL)));

ALTER TABLE holdfast.run_steps ADD CONSTRAINT steps_name CHECK (((length(name) >= 1) AND (length(name) <= 128)));

ALTER TABLE holdfast.run_steps ADD CONSTRAINT steps_no UNIQUE (run_id, no);

ALTER TABLE holdfast.run_steps ADD CONSTRAINT steps_output CHECK (((output_ref = 'inline'::text) = (output IS NOT NULL)));

ALTER TABLE holdfast.run_steps ADD CONSTRAINT steps_tries CHECK ((tries >= 1));

ALTER TABLE holdfast.schema_migrations ADD CONSTRAINT schema_migrations_pkey PRIMARY KEY (name);

ALTER TABLE holdfast.service_keys ADD CONSTRAINT service_keys_pkey PRIMARY KEY (name);

ALTER TABLE holdfast.settings ADD CONSTRAINT settings_pkey PRIMARY KEY (name);

ALTER TABLE holdfast.upload_parts ADD CONSTRAINT parts_bytes CHECK ((bytes > 0));

ALTER TABLE holdfast.upload_parts ADD CONSTRAINT parts_ref UNIQUE (ref);

ALTER TABLE holdfast.upload_parts ADD CONSTRAINT upload_parts_pkey PRIMARY KEY (resumable_id, from_byte);

ALTER TABLE holdfast.upload_parts ADD CONSTRAINT upload_parts_resumable_id_fkey FOREIGN KEY (resumable_id) REFERENCES holdfast.resumable_uploads(id) ON DELETE CASCADE;

ALTER TABLE holdfast.views ADD CONSTRAINT views_name CHECK (((length(name) >= 1) AND (length(name) <= 128)));

ALTER TABLE holdfast.views ADD CONSTRAINT views_name_of_owner UNIQUE (owner, name);

ALTER TABLE holdfast.views ADD CONSTRAINT views_owner CHECK (((length(owner) >= 1) AND (length(owner) <= 255)));

ALTER TABLE holdfast.views ADD CONSTRAINT views_pkey PRIMARY KEY (id);

ALTER TABLE holdfast.wanted_events ADD CONSTRAINT wanted_events_pkey PRIMARY KEY (owner, type, receiver_id);

ALTER TABLE holdfast.wanted_events ADD CONSTRAINT wanted_events_receiver_id_fkey FOREIGN KEY (receiver_id) REFERENCES holdfast.receivers(id) ON DELETE CASCADE;

ALTER TABLE holdfast.webhooks ADD CONSTRAINT webhooks_id_fkey FOREIGN KEY (id) REFERENCES holdfast.receivers(id) ON DELETE CASCADE;

ALTER TABLE holdfast.webhooks ADD CONSTRAINT webhooks_old_secret CHECK (((old_secret IS NULL) = (old_secret_until IS NULL)));

ALTER TABLE holdfast.webhooks ADD CONSTRAINT webhooks_pkey PRIMARY KEY (id);

ALTER TABLE holdfast.workers ADD CONSTRAINT workers_pkey PRIMARY KEY (worker_id);

CREATE INDEX idx_sessions_expires ON holdfast.api_sessions USING btree (expires_at);

CREATE INDEX idx_batch_watches_due ON holdfast.batch_watches USING btree (due_at);

CREATE INDEX idx_batches_created ON holdfast.batches USING btree (created_at, id);

CREATE INDEX idx_batches_owner ON holdfast.batches USING btree (owner, created_at, id);

CREATE INDEX idx_bulk_items_outcome ON holdfast.bulk_items USING btree (operation_id, outcome, run_id);

CREATE UNIQUE INDEX idx_bulk_key ON holdfast.bulk_operations USING btree (created_by, idempotency_key) WHERE (idempotency_key IS NOT NULL);

CREATE INDEX idx_bulk_running ON holdfast.bulk_operations USING btree (updated_at) WHERE (state = 'RUNNING'::text);

CREATE INDEX idx_bulk_sees ON holdfast.bulk_operations USING btree (sees, id);

CREATE INDEX idx_holds_held ON holdfast.concurrency_holds USING btree (owner, key) WHERE (state = 'held'::text);

CREATE INDEX idx_holds_scheduled ON holdfast.concurrency_holds USING btree (arrived_at) WHERE (state = 'scheduled'::text);

CREATE INDEX idx_holds_waiting ON holdfast.concurrency_holds USING btree (owner, key, priority DESC, arrived_at, run_id) WHERE (state = 'waiting'::text);

CREATE INDEX idx_costs_closed ON holdfast.cost_ledger USING btree (run_id) WHERE ((NOT rolled) AND (state <> 'HELD'::text));

CREATE INDEX idx_costs_open ON holdfast.cost_ledger USING btree (owner, model) WHERE (NOT rolled);

CREATE INDEX idx_deliveries_created ON holdfast.deliveries USING btree (created_at, id);

CREATE INDEX idx_deliveries_due ON holdfast.deliveries USING btree (receiver_id, available_at, id) WHERE (state = 'PENDING'::text);

CREATE UNIQUE INDEX idx_deliveries_group ON holdfast.deliveries USING btree (receiver_id, group_key) WHERE ((group_key IS NOT NULL) AND (state = 'PENDING'::text) AND (attempts = 0));

CREATE INDEX idx_deliveries_owner ON holdfast.deliveries USING btree (owner, created_at, id);

CREATE INDEX idx_deliveries_receiver ON holdfast.deliveries USING btree (receiver_id, created_at, id);

CREATE INDEX idx_deliveries_sending ON holdfast.deliveries USING btree (receiver_id, available_at) WHERE (lease_token IS NOT NULL);

CREATE INDEX idx_deliveries_state ON holdfast.deliveries USING btree (state, created_at, id);

CREATE INDEX idx_deliveries_unanswered ON holdfast.deliveries USING btree (receiver_id, created_at) WHERE ((state = 'PENDING'::text) AND is_unanswered);

CREATE INDEX idx_documents_file ON holdfast.documents USING btree (file_id);

CREATE INDEX idx_fair_lowest ON holdfast.fair_owners USING btree (queue, model, model_version, pass, owner);

CREATE INDEX idx_uploads_batch ON holdfast.file_uploads USING btree (batch_id, duplicate) WHERE (batch_id IS NOT NULL);

CREATE INDEX idx_uploads_created ON holdfast.file_uploads USING btree (created_at, id);

CREATE INDEX idx_uploads_file ON holdfast.file_uploads USING btree (file_id, owner, created_at);

CREATE UNIQUE INDEX idx_uploads_key ON holdfast.file_uploads USING btree (owner, key) WHERE (key IS NOT NULL);

CREATE INDEX idx_uploads_owner ON holdfast.file_uploads USING btree (owner, created_at, id);

CREATE INDEX idx_files_released ON holdfast.files USING btree (released_at) WHERE (released_at IS NOT NULL);

CREATE INDEX idx_idempotency_expires ON holdfast.idempotency_keys USING btree (expires_at);

CREATE INDEX idx_runs_cancelling ON holdfast.model_runs USING btree (cancel_requested_at) WHERE ((cancel_requested_at IS NOT NULL) AND (finished_at IS NULL));

CREATE INDEX idx_runs_error_class ON holdfast.model_runs USING btree (last_error_class text_pattern_ops, created_at, id) WHERE (last_error_class IS NOT NULL);

CREATE INDEX idx_runs_failed ON holdfast.model_runs USING btree (model, last_error_class, created_at, id) INCLUDE (owner) WHERE ((status = 'FAILED'::holdfast.run_status) AND (last_error_class IS NOT NULL));

CREATE INDEX idx_runs_lease_expires ON holdfast.model_runs USING btree (status, lease_expires_at) WHERE (status = 'RUNNING'::holdfast.run_status);

CREATE INDEX idx_runs_ready ON holdfast.model_runs USING btree (lane, available_at, id) WHERE (status = 'PENDING'::holdfast.run_status);

CREATE INDEX idx_runs_status_created_at ON holdfast.model_runs USING btree (status, created_at);

CREATE INDEX idx_outbox_spread ON holdfast.outbox USING btree (spread_at) WHERE (spread_at IS NOT NULL);

CREATE INDEX idx_outbox_waiting ON holdfast.outbox USING btree (at, id) WHERE (spread_at IS NULL);

CREATE INDEX idx_owner_files_file ON holdfast.owner_files USING btree (file_id);

CREATE INDEX idx_packed_logs_at ON holdfast.packed_logs USING btree (last_at);

CREATE INDEX idx_slots_expires ON holdfast.payload_slots USING btree (expires_at);

CREATE INDEX idx_holds_active ON holdfast.quota_holds USING btree (owner, model, run_id) WHERE is_active;

CREATE INDEX idx_holds_active_model ON holdfast.quota_holds USING btree (((model || ''::text)), run_id) WHERE is_active;

CREATE INDEX idx_holds_created ON holdfast.quota_holds USING btree (created_at);

CREATE INDEX idx_holds_model ON holdfast.quota_holds USING btree (((model || ''::text)), created_at);

CREATE INDEX idx_holds_owner ON holdfast.quota_holds USING btree (owner, created_at);

CREATE INDEX idx_holds_owner_model ON holdfast.quota_holds USING btree (owner, model, created_at);

CREATE INDEX idx_reservations_active ON holdfast.quota_reservations USING btree (owner, model, expires_at) WHERE (state = 'ACTIVE'::text);

CREATE INDEX idx_reservations_created ON holdfast.quota_reservations USING btree (created_at, reservation_id);

CREATE INDEX idx_reservations_expires ON holdfast.quota_reservations USING btree (expires_at) WHERE (state = 'ACTIVE'::text);

CREATE INDEX idx_reservations_user ON holdfast.quota_reservations USING btree (owner, created_at, reservation_id);

CREATE INDEX idx_receivers_due ON holdfast.receivers USING btree (due_at) WHERE (is_enabled AND (due_at IS NOT NULL));

CREATE INDEX idx_receivers_failing ON holdfast.receivers USING btree (channel, id) WHERE (failures > 0);

CREATE INDEX idx_receivers_owner ON holdfast.receivers USING btree (owner, channel, created_at, id);

CREATE INDEX idx_resumable_complete ON holdfast.resumable_uploads USING btree (expires_at) WHERE ((received = bytes) AND (upload_id IS NULL));

CREATE INDEX idx_resumable_expires ON holdfast.resumable_uploads USING btree (expires_at);

CREATE INDEX idx_resumable_open ON holdfast.resumable_uploads USING btree (owner) WHERE (upload_id IS NULL);

CREATE INDEX idx_attempts_open ON holdfast.run_attempts USING brin ((
CASE
    WHEN (state <= 'RUNNING'::holdfast.attempt_state) THEN 1
    ELSE 0
END)) WITH (pages_per_range='64', autosummarize='on');

CREATE INDEX idx_blocks_reason ON holdfast.run_blocks USING btree (reason, created_at, run_id);

CREATE INDEX idx_events_xid ON holdfast.run_events USING brin (xid, at) WITH (pages_per_range='64', autosummarize='on');

CREATE INDEX idx_facets_value ON holdfast.run_facets USING btree (name, value, created_at, run_id);

CREATE INDEX idx_run_files_file ON holdfast.run_files USING btree (file_id);

CREATE INDEX idx_logs_at ON holdfast.run_logs USING btree (at);

CREATE INDEX idx_places_point ON holdfast.run_places USING gist (point(longitude, latitude));

CREATE INDEX idx_runs_payload_hash ON holdfast.run_search USING hash (payload_hash);

CREATE INDEX idx_search_batch ON holdfast.run_search USING btree (batch_id, created_at, run_id) WHERE (batch_id IS NOT NULL);

CREATE INDEX idx_search_model ON holdfast.run_search USING btree (model, created_at, run_id);

CREATE INDEX idx_search_owner ON holdfast.run_search USING btree (owner, created_at, run_id);

CREATE INDEX idx_search_queue ON holdfast.run_search USING btree (queue, created_at, run_id);

CREATE INDEX idx_search_title ON holdfast.run_search USING btree (title text_pattern_ops, created_at, run_id) WHERE (title IS NOT NULL);

CREATE INDEX idx_run_stats_bucket ON holdfast.run_stats USING btree (grain, bucket_at);

CREATE INDEX idx_steps_item ON holdfast.run_steps USING btree (run_id, item_of, item_no) WHERE (item_of IS NOT NULL);

CREATE UNIQUE INDEX idx_tags_tag ON holdfast.run_tags USING btree (tag, created_at, run_id);

CREATE INDEX idx_wanted_receiver ON holdfast.wanted_events USING btree (receiver_id);

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

CREATE VIEW holdfast.run_names AS
 SELECT idempotency_keys.owner,
    idempotency_keys.kind,
    idempotency_keys.key,
    idempotency_keys.payload_hash,
    idempotency_keys.run_id,
    idempotency_keys.expires_at
   FROM holdfast.idempotency_keys
UNION ALL
 SELECT payload_slots.owner,
    'slot'::text AS kind,
    payload_slots.payload_hash AS key,
    payload_slots.payload_hash,
    payload_slots.run_id,
    payload_slots.expires_at
   FROM holdfast.payload_slots;

CREATE OR REPLACE FUNCTION holdfast.add_histograms(one jsonb, other jsonb)
 RETURNS jsonb
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  SELECT COALESCE(jsonb_object_agg(bin, n), '{}') FROM (
    SELECT bin, sum(n) AS n FROM (
      SELECT key AS bin, value::bigint AS n FROM jsonb_each_text(one)
      UNION ALL SELECT key, value::bigint FROM jsonb_each_text(other)
    ) both_of_them GROUP BY bin
  ) added
$function$;

CREATE OR REPLACE FUNCTION holdfast.announce()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF EXISTS (SELECT FROM wanted_events) THEN
    INSERT INTO outbox (id, kind, owner, run_id, batch_id, at, data)
    SELECT replace(e.run_id::text, '-', '') || '_' || e.seq,
      CASE e.type WHEN 'document.duplicate' THEN e.type WHEN 'lost' THEN 'run.reclaimed' ELSE 'run.' || e.type END,
      r.owner, e.run_id, b.batch_id, e.at,
      jsonb_strip_nulls(jsonb_build_object('seq', e.seq, 'status', e.status, 'attempt', e.attempt, 'message', e.message, 'data', e.data))
    FROM event e JOIN model_runs r ON r.id = ANY (ARRAY[e.run_id])
      CROSS JOIN LATERAL (
        SELECT CASE e.type WHEN 'document.duplicate' THEN (e.data->>'batch_id')::uuid ELSE r.batch_id END AS batch_id) b
    WHERE EXISTS (SELECT FROM wanted_events w
      WHERE w.owner IN (r.owner, '*') AND w.type = e.type AND (NOT w.only_batches OR b.batch_id IS NOT NULL))
    ON CONFLICT DO NOTHING;
  END IF;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION holdfast.clock()
 RETURNS timestamp with time zone
 LANGUAGE sql
 STABLE PARALLEL SAFE
AS $function$ SELECT statement_timestamp() $function$;

CREATE OR REPLACE FUNCTION holdfast.cost_spent(run uuid, estimate numeric, rate numeric, reported numeric, reported_attempts integer[])
 RETURNS numeric
 LANGUAGE sql
 STABLE
AS $function$
  SELECT LEAST(round(CASE
    WHEN rate IS NOT NULL THEN reported + rate * COALESCE((
      SELECT sum(GREATEST(extract(epoch FROM COALESCE(a.finished_at, clock()) - a.started_at), 0))
      FROM run_attempts a WHERE a.run_id = ANY (ARRAY[run]) AND a.attempt <> ALL (reported_attempts)), 0)
    WHEN cardinality(reported_attempts) > 0 THEN reported
    WHEN EXISTS (SELECT FROM run_attempts a WHERE a.run_id = ANY (ARRAY[run])) THEN estimate
    ELSE 0 END, 6), 1e15)
$function$;

CREATE OR REPLACE FUNCTION holdfast.fold_case(given text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE STRICT
AS $function$SELECT lower(given COLLATE "und-x-icu") COLLATE "default"$function$;

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

CREATE OR REPLACE FUNCTION holdfast.refuse_change_of_finished_run()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF to_jsonb(NEW) - 'event_seq' IS DISTINCT FROM to_jsonb(OLD) - 'event_seq' THEN
    RAISE EXCEPTION 'holdfast: a finished run never changes (update on %)', TG_TABLE_NAME
      USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = TG_NAME;
  END IF;
  RETURN NULL;
END $function$;

CREATE TRIGGER tokens_identity AFTER UPDATE ON holdfast.api_tokens FOR EACH ROW WHEN (((((((((((new.id IS DISTINCT FROM old.id) OR (new.name IS DISTINCT FROM old.name)) OR (new.token_hash IS DISTINCT FROM old.token_hash)) OR (new.role IS DISTINCT FROM old.role)) OR (new.owner IS DISTINCT FROM old.owner)) OR (new.queues IS DISTINCT FROM old.queues)) OR (new.created_at IS DISTINCT FROM old.created_at)) OR (new.created_by IS DISTINCT FROM old.created_by)) OR (new.expires_at IS DISTINCT FROM old.expires_at)) OR ((old.revoked_at IS NOT NULL) AND (new.revoked_at IS DISTINCT FROM old.revoked_at)))) EXECUTE FUNCTION holdfast.refuse_change('what a token may do never changes, and a revoked one stays revoked');

CREATE TRIGGER tokens_kept BEFORE DELETE ON holdfast.api_tokens FOR EACH ROW EXECUTE FUNCTION holdfast.refuse_change('tokens are revoked, not deleted');

CREATE TRIGGER tokens_not_truncated BEFORE TRUNCATE ON holdfast.api_tokens FOR EACH STATEMENT EXECUTE FUNCTION holdfast.refuse_change('tokens are revoked, not deleted');

CREATE TRIGGER audit_append_only BEFORE DELETE OR UPDATE ON holdfast.audit_events FOR EACH ROW EXECUTE FUNCTION holdfast.refuse_change('the audit is append-only');

CREATE TRIGGER audit_not_truncated BEFORE TRUNCATE ON holdfast.audit_events FOR EACH STATEMENT EXECUTE FUNCTION holdfast.refuse_change('the audit is append-only');

CREATE TRIGGER costs_sealed AFTER UPDATE ON holdfast.cost_ledger FOR EACH ROW WHEN (((old.state <> 'HELD'::text) AND ((((((((((new.run_id IS DISTINCT FROM old.run_id) OR (new.owner IS DISTINCT FROM old.owner)) OR (new.model IS DISTINCT FROM old.model)) OR (new.held IS DISTINCT FROM old.held)) OR (new.reported IS DISTINCT FROM old.reported)) OR (new.settled IS DISTINCT FROM old.settled)) OR (new.state IS DISTINCT FROM old.state)) OR (new.closed_at IS DISTINCT FROM old.closed_at)) OR (new.day IS DISTINCT FROM old.day)) OR (old.rolled AND (NOT new.rolled))))) EXECUTE FUNCTION holdfast.refuse_change('what a run did cost never changes');

CREATE TRIGGER runs_fence AFTER UPDATE ON holdfast.model_runs FOR EACH ROW WHEN (((new.lease_epoch < old.lease_epoch) OR (new.attempt_count < old.attempt_count) OR (new.event_seq < old.event_seq) OR ((new.lease_owner IS DISTINCT FROM old.lease_owner) AND (new.lease_owner IS NOT NULL) AND (new.lease_epoch = old.lease_epoch)) OR ((old.lease_owner IS NULL) AND (new.lease_owner IS NOT NULL) AND (new.attempt_count <> (old.attempt_count + 1))) OR ((old.cancel_requested_at IS NOT NULL) AND (new.cancel_requested_at IS NULL)))) EXECUTE FUNCTION holdfast.refuse_change('a lease changes hands only with a higher epoch and counters never go back');

CREATE TRIGGER runs_identity AFTER UPDATE OF id, owner, model, model_version, queue, priority, lane, parameters, payload_hash, seed, retry_of, reproduces, created_at ON holdfast.model_runs FOR EACH ROW WHEN (((new.id IS DISTINCT FROM old.id) OR ((new.owner)::text IS DISTINCT FROM (old.owner)::text) OR (new.model IS DISTINCT FROM old.model) OR (new.model_version IS DISTINCT FROM old.model_version) OR (new.queue IS DISTINCT FROM old.queue) OR ((new.priority)::smallint IS DISTINCT FROM (old.priority)::smallint) OR (new.lane IS DISTINCT FROM old.lane) OR (new.parameters IS DISTINCT FROM old.parameters) OR ((new.payload_hash)::text IS DISTINCT FROM (old.payload_hash)::text) OR (new.seed IS DISTINCT FROM old.seed) OR (new.retry_of IS DISTINCT FROM old.retry_of) OR (new.reproduces IS DISTINCT FROM old.reproduces) OR (new.created_at IS DISTINCT FROM old.created_at))) EXECUTE FUNCTION holdfast.refuse_change('what a run was asked to do never changes');

CREATE TRIGGER runs_kept BEFORE DELETE ON holdfast.model_runs FOR EACH ROW EXECUTE FUNCTION holdfast.refuse_change('runs are deleted by retention only');

CREATE TRIGGER runs_not_truncated BEFORE TRUNCATE ON holdfast.model_runs FOR EACH STATEMENT EXECUTE FUNCTION holdfast.refuse_change('runs are deleted by retention only');

CREATE TRIGGER runs_sealed AFTER UPDATE ON holdfast.model_runs FOR EACH ROW WHEN ((old.finished_at IS NOT NULL)) EXECUTE FUNCTION holdfast.refuse_change_of_finished_run();

CREATE TRIGGER runs_transition AFTER UPDATE OF status ON holdfast.model_runs FOR EACH ROW WHEN (((old.status = 'PENDING'::holdfast.run_status) AND (new.status = ANY (ARRAY['SUCCEEDED'::holdfast.run_status, 'FAILED'::holdfast.run_status])))) EXECUTE FUNCTION holdfast.refuse_change('this transition of a run is not allowed');

CREATE TRIGGER attempts_handed AFTER UPDATE OF worker_id, token_hash, ticket_hash ON holdfast.run_attempts FOR EACH ROW WHEN ((((new.worker_id <> old.worker_id) AND (new.lease_epoch <= old.lease_epoch)) OR ((old.token_hash IS NOT NULL) AND (new.token_hash IS DISTINCT FROM old.token_hash)) OR ((old.token_hash IS NOT NULL) AND (new.ticket_hash IS DISTINCT FROM old.ticket_hash)))) EXECUTE FUNCTION holdfast.refuse_change('an attempt changes hands only with a higher epoch and keeps its token');

CREATE TRIGGER attempts_identity AFTER UPDATE OF run_id, attempt ON holdfast.run_attempts FOR EACH ROW WHEN (((new.run_id <> old.run_id) OR (new.attempt <> old.attempt))) EXECUTE FUNCTION holdfast.refuse_change('an attempt stays with its run and keeps its number');

CREATE TRIGGER attempts_kept BEFORE DELETE ON holdfast.run_attempts FOR EACH ROW EXECUTE FUNCTION holdfast.refuse_change('attempts are deleted by retention only');

CREATE TRIGGER attempts_not_truncated BEFORE TRUNCATE ON holdfast.run_attempts FOR EACH STATEMENT EXECUTE FUNCTION holdfast.refuse_change('attempts are deleted by retention only');

CREATE TRIGGER attempts_sealed AFTER UPDATE ON holdfast.run_attempts FOR EACH ROW WHEN (((old.finished_at IS NOT NULL) OR (new.state < old.state) OR (new.lease_epoch < old.lease_epoch))) EXECUTE FUNCTION holdfast.refuse_change('a finished attempt never changes');

CREATE TRIGGER events_announced AFTER INSERT ON holdfast.run_events REFERENCING NEW TABLE AS event FOR EACH STATEMENT WHEN ((pg_relation_size('holdfast.wanted_events'::regclass) > 0)) EXECUTE FUNCTION holdfast.announce();

CREATE TRIGGER events_append_only BEFORE DELETE OR UPDATE ON holdfast.run_events FOR EACH ROW EXECUTE FUNCTION holdfast.refuse_change('events are append-only');

CREATE TRIGGER events_not_truncated BEFORE TRUNCATE ON holdfast.run_events FOR EACH STATEMENT EXECUTE FUNCTION holdfast.refuse_change('events are append-only');

CREATE TRIGGER facets_not_truncated BEFORE TRUNCATE ON holdfast.run_facets FOR EACH STATEMENT EXECUTE FUNCTION holdfast.refuse_change('what a result says never changes');

CREATE TRIGGER facets_sealed BEFORE DELETE OR UPDATE ON holdfast.run_facets FOR EACH ROW EXECUTE FUNCTION holdfast.refuse_change('what a result says never changes');

CREATE TRIGGER places_not_truncated BEFORE TRUNCATE ON holdfast.run_places FOR EACH STATEMENT EXECUTE FUNCTION holdfast.refuse_change('what a result says never changes');

CREATE TRIGGER places_sealed BEFORE DELETE OR UPDATE ON holdfast.run_places FOR EACH ROW EXECUTE FUNCTION holdfast.refuse_change('what a result says never changes');

CREATE TRIGGER results_not_truncated BEFORE TRUNCATE ON holdfast.run_results FOR EACH STATEMENT EXECUTE FUNCTION holdfast.refuse_change('a result never changes');

CREATE TRIGGER results_sealed BEFORE DELETE OR UPDATE ON holdfast.run_results FOR EACH ROW EXECUTE FUNCTION holdfast.refuse_change('a result never changes');

CREATE TRIGGER steps_not_truncated BEFORE TRUNCATE ON holdfast.run_steps FOR EACH STATEMENT EXECUTE FUNCTION holdfast.refuse_change('a step never changes');

CREATE TRIGGER steps_sealed BEFORE DELETE OR UPDATE ON holdfast.run_steps FOR EACH ROW EXECUTE FUNCTION holdfast.refuse_change('a step never changes');
