-- breaking: no — new tables; rules hold once every process knows of them

-- The rules. A run is asked about them only when one concerns it; the table is small and read by its key.
CREATE TABLE quotas (
  -- A name, or * for everyone.
  owner text NOT NULL,
  -- A name, or empty for all models.
  model text NOT NULL,
  -- Of everyone: all owners are counted as one.
  together boolean NOT NULL,
  -- Null for no limit.
  max_concurrent integer,
  runs_per_hour integer,
  runs_per_day integer,
  cost_per_day double precision,
  cost_per_month double precision,
  action text NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  -- Since when runs that were there before the rule count; null as long as they do not. They are counted when every transaction that may
  -- not have seen the rule has ended: those are written down first.
  counted_at timestamptz,
  awaits text[],
  PRIMARY KEY (owner, model, together),
  CONSTRAINT quotas_owner CHECK (length(owner) BETWEEN 1 AND 255),
  CONSTRAINT quotas_model CHECK (length(model) <= 128),
  CONSTRAINT quotas_together CHECK (owner = '*' OR NOT together),
  CONSTRAINT quotas_action CHECK (action IN ('block', 'warn', 'require_approval')),
  CONSTRAINT quotas_limits CHECK (LEAST(max_concurrent, runs_per_hour, runs_per_day, cost_per_day, cost_per_month, 0) >= 0)
);

-- One row for each run that a rule concerned when it was admitted. A run counts as active as long as it has not ended, which is asked of the
-- run itself; is_active only keeps the look short, and is taken back some time after the end.
CREATE TABLE quota_holds (
  run_id uuid PRIMARY KEY,
  owner text NOT NULL,
  model text NOT NULL,
  created_at timestamptz NOT NULL,
  is_active boolean NOT NULL DEFAULT true
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 1);

-- Those of models over all owners are on an expression, so that no plan, made while the table was empty, takes them for an owner's runs.
CREATE INDEX idx_holds_active ON quota_holds (owner, model, run_id) WHERE is_active;
CREATE INDEX idx_holds_active_model ON quota_holds ((model || ''), run_id) WHERE is_active;
CREATE INDEX idx_holds_owner ON quota_holds (owner, created_at);
CREATE INDEX idx_holds_owner_model ON quota_holds (owner, model, created_at);
CREATE INDEX idx_holds_model ON quota_holds ((model || ''), created_at);
CREATE INDEX idx_holds_created ON quota_holds (created_at);

-- Places held before there is a run. ACTIVE ones count until expires_at, whether or not anybody has marked them since.
CREATE TABLE quota_reservations (
  reservation_id uuid PRIMARY KEY,
  owner text NOT NULL,
  -- Null: for a run of any model.
  model text,
  state text NOT NULL DEFAULT 'ACTIVE',
  cost double precision,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  -- When it was consumed, released or found expired.
  ended_at timestamptz,
  run_id uuid,
  CONSTRAINT reservations_state CHECK (state IN ('ACTIVE', 'CONSUMED', 'RELEASED', 'EXPIRED')),
  CONSTRAINT reservations_ended CHECK ((ended_at IS NULL) = (state = 'ACTIVE')),
  CONSTRAINT reservations_consumed CHECK ((run_id IS NOT NULL) = (state = 'CONSUMED')),
  CONSTRAINT reservations_owner CHECK (length(owner) BETWEEN 1 AND 255),
  CONSTRAINT reservations_cost CHECK (cost >= 0)
);

CREATE INDEX idx_reservations_user ON quota_reservations (owner, created_at, reservation_id);
CREATE INDEX idx_reservations_created ON quota_reservations (created_at, reservation_id);
CREATE INDEX idx_reservations_expires ON quota_reservations (expires_at) WHERE state = 'ACTIVE';
CREATE INDEX idx_reservations_active ON quota_reservations (owner, model, expires_at) WHERE state = 'ACTIVE';
