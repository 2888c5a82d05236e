-- breaking: no — new tables; nothing that is there changes

-- What runs of models with a cost hold and did cost: one row per run, written with the run. Rows outlive their runs, so nothing here refers to
-- them. A row is HELD until its run has ended; the statement that ends the run closes it or, where that knows nothing of costs, the
-- janitor does. `held` stays as it was, for the record: it counts only while the row is HELD.
CREATE TABLE cost_ledger (
  run_id uuid PRIMARY KEY,
  owner text NOT NULL,
  model text NOT NULL,
  currency text,
  -- The estimate.
  held numeric(24, 6) NOT NULL,
  -- How the end is charged, as the model said when the run was submitted.
  rate_per_second numeric(30, 12),
  on_failure text NOT NULL,
  on_cancel text NOT NULL,
  -- What attempts said they cost, and which ones said it.
  reported numeric(24, 6) NOT NULL DEFAULT 0,
  reported_attempts integer[] NOT NULL DEFAULT '{}',
  settled numeric(24, 6) NOT NULL DEFAULT 0,
  state text NOT NULL DEFAULT 'HELD',
  created_at timestamptz NOT NULL,
  closed_at timestamptz,
  -- The UTC day the amount is charged to: that of the end.
  day date,
  -- Whether the amount is in cost_days.
  rolled boolean NOT NULL DEFAULT false,
  CONSTRAINT costs_state CHECK (state IN ('HELD', 'SETTLED', 'RELEASED')),
  CONSTRAINT costs_closed CHECK ((state = 'HELD') = (closed_at IS NULL) AND (closed_at IS NULL) = (day IS NULL)),
  CONSTRAINT costs_settled CHECK (settled >= 0 AND (state = 'SETTLED' OR settled = 0)),
  CONSTRAINT costs_rolled CHECK (NOT rolled OR state <> 'HELD'),
  CONSTRAINT costs_amounts CHECK (held >= 0 AND reported >= 0 AND rate_per_second >= 0),
  CONSTRAINT costs_policies CHECK (on_failure IN ('actual', 'release') AND on_cancel IN ('actual', 'release'))
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 1);

-- What admission adds up: all that is held, and what has ended in the last seconds.
CREATE INDEX idx_costs_open ON cost_ledger (owner, model) WHERE NOT rolled;
-- What is to be rolled up.
CREATE INDEX idx_costs_closed ON cost_ledger (run_id) WHERE NOT rolled AND state <> 'HELD';

CREATE TRIGGER costs_sealed AFTER UPDATE ON cost_ledger FOR EACH ROW
  WHEN (OLD.state <> 'HELD' AND (
    (NEW.run_id, NEW.owner, NEW.model, NEW.held, NEW.reported, NEW.settled, NEW.state, NEW.closed_at, NEW.day)
      IS DISTINCT FROM (OLD.run_id, OLD.owner, OLD.model, OLD.held, OLD.reported, OLD.settled, OLD.state, OLD.closed_at, OLD.day)
    OR (OLD.rolled AND NOT NEW.rolled)))
  EXECUTE FUNCTION refuse_change('what a run did cost never changes');

-- Amounts of closed rows by day, for each owner and model, for all models of an owner (model ''), for everyone (owner '') and for
-- both: whatever a limit is about, its month is 31 rows at most.
CREATE TABLE cost_days (
  owner text NOT NULL,
  model text NOT NULL,
  day date NOT NULL,
  amount numeric(30, 6) NOT NULL,
  PRIMARY KEY (owner, model, day),
  CONSTRAINT cost_days_amount CHECK (amount >= 0)
);

-- What the attempts of a run have cost: what they said; for those that did not say, their time at the rate; where there is neither, the
-- estimate, once. A run that no attempt began cost nothing. An attempt that is just ending counts until now.
CREATE FUNCTION cost_spent(run uuid, estimate numeric, rate numeric, reported numeric, reported_attempts integer[]) RETURNS numeric
LANGUAGE sql STABLE AS $$
  SELECT LEAST(round(CASE
    WHEN rate IS NOT NULL THEN reported + rate * COALESCE((
      SELECT sum(GREATEST(extract(epoch FROM COALESCE(a.finished_at, clock()) - a.started_at), 0))
      FROM run_attempts a WHERE a.run_id = ANY (ARRAY[run]) AND a.attempt <> ALL (reported_attempts)), 0)
    WHEN cardinality(reported_attempts) > 0 THEN reported
    WHEN EXISTS (SELECT FROM run_attempts a WHERE a.run_id = ANY (ARRAY[run])) THEN estimate
    ELSE 0 END, 6), 1e15)
$$;
