-- breaking: no — new tables, and a trigger on run_events that writes nothing as long as nobody wants to hear of anything

-- Who hears of facts: a webhook, a mail address or a stream. What one channel needs besides is in a table of its own with the same id.
CREATE TABLE receivers (
  id uuid PRIMARY KEY,
  channel text NOT NULL,
  -- Whose facts; '*' for everybody's.
  owner text NOT NULL,
  -- What was asked for, by the names of src/run/fact-kinds.ts.
  kinds text[] NOT NULL,
  is_enabled boolean NOT NULL DEFAULT true,
  disabled_reason text,
  -- Sends under way at once, of all relays together.
  slots integer NOT NULL,
  -- When the next delivery may be due; null while none waits. Whoever makes a delivery moves it forward, a claim sets it anew.
  due_at timestamptz,
  -- Sends that failed since the last one that worked.
  failures integer NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL,
  created_by text NOT NULL,
  CONSTRAINT receivers_channel CHECK (channel IN ('webhook', 'mail', 'stream')),
  CONSTRAINT receivers_kinds CHECK (cardinality(kinds) > 0),
  CONSTRAINT receivers_slots CHECK (slots BETWEEN 1 AND 1000),
  CONSTRAINT receivers_reason CHECK (is_enabled = (disabled_reason IS NULL))
);

CREATE INDEX idx_receivers_due ON receivers (due_at) WHERE is_enabled AND due_at IS NOT NULL;
CREATE INDEX idx_receivers_failing ON receivers (channel, id) WHERE failures > 0;
CREATE INDEX idx_receivers_owner ON receivers (owner, channel, created_at, id);

-- Which events of runs must be written down for them, in the form the trigger below asks. A webhook for batch.completed needs the ends of
-- runs that are in a batch; `only_batches` says so. Written with its receiver, in one transaction; none for a disabled one.
CREATE TABLE wanted_events (
  owner text NOT NULL,
  type text NOT NULL,
  only_batches boolean NOT NULL DEFAULT false,
  receiver_id uuid NOT NULL REFERENCES receivers ON DELETE CASCADE,
  PRIMARY KEY (owner, type, receiver_id)
);

CREATE INDEX idx_wanted_receiver ON wanted_events (receiver_id);

CREATE TABLE webhooks (
  id uuid PRIMARY KEY REFERENCES receivers ON DELETE CASCADE,
  url text NOT NULL,
  description text,
  -- whsec_…; the old one signs too until its time is over.
  secret text NOT NULL,
  old_secret text,
  old_secret_until timestamptz,
  CONSTRAINT webhooks_old_secret CHECK ((old_secret IS NULL) = (old_secret_until IS NULL))
);

-- Where people of an owner get mail. `kinds` of its receiver are their preferences; an address that has unsubscribed from everything is disabled.
CREATE TABLE mail_addresses (
  id uuid PRIMARY KEY REFERENCES receivers ON DELETE CASCADE,
  owner text NOT NULL,
  address text NOT NULL,
  CONSTRAINT mail_addresses_once UNIQUE (owner, address)
);

-- Facts that somebody wants to hear of, written in the transaction that made them true. The relay spreads each of them once into deliveries, in one
-- transaction with `spread_at`. The id says which fact it is, so that no fact is here twice, and receivers know a repeat by it.
CREATE TABLE outbox (
  id text PRIMARY KEY,
  kind text NOT NULL,
  owner text NOT NULL,
  run_id uuid,
  batch_id uuid,
  at timestamptz NOT NULL,
  data jsonb NOT NULL DEFAULT '{}',
  spread_at timestamptz,
  CONSTRAINT outbox_id CHECK (id ~ '^[A-Za-z0-9_-]{1,200}$')
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 1);

CREATE INDEX idx_outbox_waiting ON outbox (at, id) WHERE spread_at IS NULL;
CREATE INDEX idx_outbox_spread ON outbox (spread_at) WHERE spread_at IS NOT NULL;

-- One sending of one fact, or of one mail that tells of several, to one receiver.
CREATE TABLE deliveries (
  id uuid PRIMARY KEY,
  receiver_id uuid NOT NULL REFERENCES receivers ON DELETE CASCADE,
  channel text NOT NULL,
  owner text NOT NULL,
  kind text NOT NULL,
  -- The fact's id, or for a mail about several the mail's own: what webhook-id and Message-ID are made of.
  message_id text NOT NULL,
  data jsonb NOT NULL,
  -- Facts that come before the mail is sent for the first time join it.
  group_key text,
  state text NOT NULL DEFAULT 'PENDING',
  created_at timestamptz NOT NULL,
  -- When it may be sent next. While it is being sent: when its relay counts as dead.
  available_at timestamptz NOT NULL,
  attempts integer NOT NULL DEFAULT 0,
  -- Sends since it was made or last redelivered: this decides when to give up.
  tries integer NOT NULL DEFAULT 0,
  lease_token uuid,
  finished_at timestamptz,
  last_error text,
  -- The last try found nobody who answered: it says nothing of the message, and is worth another as soon as somebody does.
  is_unanswered boolean NOT NULL DEFAULT false,
  CONSTRAINT deliveries_message UNIQUE (receiver_id, message_id),
  CONSTRAINT deliveries_state CHECK (state IN ('PENDING', 'DELIVERED', 'DEAD', 'DROPPED')),
  CONSTRAINT deliveries_finished CHECK ((state = 'PENDING') = (finished_at IS NULL)),
  CONSTRAINT deliveries_lease CHECK (lease_token IS NULL OR state = 'PENDING')
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 1);

CREATE INDEX idx_deliveries_due ON deliveries (receiver_id, available_at, id) WHERE state = 'PENDING';
-- How many sends a receiver has under way is counted at each claim, beside any number that wait for their next try.
CREATE INDEX idx_deliveries_sending ON deliveries (receiver_id, available_at) WHERE lease_token IS NOT NULL;
CREATE INDEX idx_deliveries_unanswered ON deliveries (receiver_id, created_at) WHERE state = 'PENDING' AND is_unanswered;
CREATE UNIQUE INDEX idx_deliveries_group ON deliveries (receiver_id, group_key)
  WHERE group_key IS NOT NULL AND state = 'PENDING' AND attempts = 0;
CREATE INDEX idx_deliveries_created ON deliveries (created_at, id);
CREATE INDEX idx_deliveries_receiver ON deliveries (receiver_id, created_at, id);
CREATE INDEX idx_deliveries_state ON deliveries (state, created_at, id);
CREATE INDEX idx_deliveries_owner ON deliveries (owner, created_at, id);

-- What was sent and answered, each time.
CREATE TABLE delivery_attempts (
  delivery_id uuid NOT NULL REFERENCES deliveries ON DELETE CASCADE,
  attempt integer NOT NULL,
  started_at timestamptz NOT NULL,
  duration_ms double precision,
  request jsonb,
  response jsonb,
  error text,
  PRIMARY KEY (delivery_id, attempt)
);

-- Documents of an owner, and of each batch, that were counted as done, moved in the transaction that spreads the fact.
CREATE TABLE progress_counts (
  owner text NOT NULL,
  -- All zeros for the owner as a whole.
  batch_id uuid NOT NULL,
  done bigint NOT NULL,
  PRIMARY KEY (owner, batch_id)
);

-- A document counts once, however often it is processed again. Null: nobody who wants to hear of progress has counted it.
ALTER TABLE documents ADD COLUMN counted_at timestamptz;

-- Batches in which something ended and that may be finished: looked at when nothing has come for a while.
CREATE TABLE batch_watches (
  batch_id uuid PRIMARY KEY,
  owner text NOT NULL,
  due_at timestamptz NOT NULL
);

CREATE INDEX idx_batch_watches_due ON batch_watches (due_at);

-- Keys that the service makes for itself, once, such as the one that signs unsubscribe links.
CREATE TABLE service_keys (
  name text PRIMARY KEY,
  key text NOT NULL,
  created_at timestamptz NOT NULL
);

-- Whatever statement writes an event, the fact is in the outbox with it or neither is. Without receivers it is one look at an empty table.
-- `= ANY (ARRAY[…])` can only be a look-up, so that no plan made while the table was small reads all runs later.
-- A duplicate is told on the run of the first upload, and belongs to the batch it was itself uploaded with.
CREATE FUNCTION announce() RETURNS trigger LANGUAGE plpgsql AS $$
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
END $$;

CREATE TRIGGER events_announced AFTER INSERT ON run_events REFERENCING NEW TABLE AS event
  FOR EACH STATEMENT EXECUTE FUNCTION announce();
