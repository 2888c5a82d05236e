-- breaking: no — what is added has defaults; switch fair share on only when every process is of this version

-- In a queue with fair share claims rotate among the owners who wait in it.
ALTER TABLE queues ADD COLUMN fair_share boolean NOT NULL DEFAULT false;

-- How many runs an owner gets for each run of an owner without a row here.
CREATE TABLE queue_weights (
  queue text NOT NULL,
  owner owner_name NOT NULL,
  weight double precision NOT NULL,
  PRIMARY KEY (queue, owner),
  CONSTRAINT weights_weight CHECK (weight BETWEEN 0.01 AND 1000)
);

-- A lane of a queue with fair share belongs to one owner; all others belong to nobody (''). Numbers of owners' lanes are negative and go down,
-- so that claims of other queues, which look whether a lane with a higher number has appeared, never hear of them.
ALTER TABLE lanes
  ADD COLUMN owner text NOT NULL DEFAULT '',
  DROP CONSTRAINT lanes_queue_model_model_version_priority_key,
  ADD CONSTRAINT lanes_key UNIQUE (queue, model, model_version, owner, priority),
  ADD CONSTRAINT lanes_owner CHECK ((lane < 0) = (owner <> ''));

CREATE SEQUENCE fair_lanes AS integer INCREMENT -1 MINVALUE -2147483648 MAXVALUE -1 START -1;

-- Owners who wait: one row for each model of a queue of which they have waiting runs in lanes of their own. Claims serve the lowest pass first
-- and add 1 / weight for each run taken. A row too many is found empty by a claim, which marks it and, when the next one finds it empty
-- again, deletes it; a missing one is added when a worker next looks through the lanes. So nothing depends on these rows but the order.
CREATE TABLE fair_owners (
  queue text NOT NULL,
  owner text NOT NULL,
  model text NOT NULL,
  model_version text NOT NULL,
  pass double precision NOT NULL,
  -- A claim found nothing more to take; whoever adds a run takes the mark away.
  leaving boolean NOT NULL DEFAULT false,
  PRIMARY KEY (queue, owner, model, model_version)
) WITH (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 1);

CREATE INDEX idx_fair_lowest ON fair_owners (queue, model, model_version, pass, owner);
