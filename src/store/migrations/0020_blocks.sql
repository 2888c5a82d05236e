-- breaking: no — new tables; nothing that is there changes

-- Runs that may not start until something other than time happens. Such a run is PENDING with `available_at` in the year 9999, so that
-- claims never meet it; this row says why. It is deleted by the statement that lets the run go or ends it, never apart from it.
CREATE TABLE run_blocks (
  run_id uuid PRIMARY KEY,
  reason text NOT NULL,
  -- Of an approval: the rule that asked for it and, where the run has a concurrency key, what it asks for once it is approved.
  detail jsonb NOT NULL DEFAULT '{}',
  -- The time before which its request did not want it to start; null for at once.
  start_at timestamptz,
  -- That of the run: lists are in this order.
  created_at timestamptz NOT NULL,
  since timestamptz NOT NULL,
  CONSTRAINT blocks_reason CHECK (reason IN ('approval', 'concurrency'))
);

CREATE INDEX idx_blocks_reason ON run_blocks (reason, created_at, run_id);

-- Runs with a concurrency key that have not ended: those that have one of its places ('held'), those in line for one ('waiting') and those
-- that join the line at a later time ('scheduled'). Whether a holder has ended is the run's word; its row here is deleted soon after, by
-- whoever gives the place to the next. A row becomes 'held' only under the lock of its key.
CREATE TABLE concurrency_holds (
  run_id uuid PRIMARY KEY,
  -- Whose key it is; empty for one that all owners share.
  owner text NOT NULL,
  key text NOT NULL,
  -- As the run's own request or model says.
  max_runs integer NOT NULL,
  mode text NOT NULL,
  state text NOT NULL,
  priority smallint NOT NULL,
  -- When it joins the line.
  arrived_at timestamptz NOT NULL,
  CONSTRAINT holds_max_runs CHECK (max_runs >= 1),
  CONSTRAINT holds_mode CHECK (mode IN ('queue', 'refuse', 'cancel_older')),
  CONSTRAINT holds_state CHECK (state IN ('held', 'waiting', 'scheduled'))
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 1);

CREATE INDEX idx_holds_held ON concurrency_holds (owner, key) WHERE state = 'held';
CREATE INDEX idx_holds_waiting ON concurrency_holds (owner, key, priority DESC, arrived_at, run_id) WHERE state = 'waiting';
CREATE INDEX idx_holds_scheduled ON concurrency_holds (arrived_at) WHERE state = 'scheduled';
