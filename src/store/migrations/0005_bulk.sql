-- breaking: no — two new tables, and one more kind of name

-- A retry holds the name of the run it repeats while it is active, so that two clicks make one run.
ALTER TABLE idempotency_keys DROP CONSTRAINT keys_kind;
ALTER TABLE idempotency_keys ADD CONSTRAINT keys_kind CHECK (kind IN ('key', 'slot', 'retry'));

-- One cancel or retry of everything that a filter matches, applied page by page. Whoever holds the lease writes down which runs the
-- next page has, together with the cursor, before it touches any of them; then it applies them and writes the outcomes and counts.
CREATE TABLE bulk_operations (
  id uuid PRIMARY KEY,
  action text NOT NULL,
  filter jsonb NOT NULL,
  -- Whose runs it may touch and who may see it: null for everyone's.
  sees text,
  created_by text NOT NULL,
  idempotency_key text,
  state text NOT NULL DEFAULT 'RUNNING',
  -- Runs made later do not belong to it, so it never chases runs that it makes itself.
  created_before timestamptz NOT NULL,
  cursor text,
  -- The filter matches nothing further.
  exhausted boolean NOT NULL DEFAULT false,
  counts jsonb NOT NULL DEFAULT '{}',
  error text,
  cancel_requested_at timestamptz,
  lease_epoch integer NOT NULL DEFAULT 0,
  lease_expires_at timestamptz,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  finished_at timestamptz,
  CONSTRAINT bulk_action CHECK (action IN ('cancel', 'retry')),
  CONSTRAINT bulk_state CHECK (state IN ('RUNNING', 'DONE', 'CANCELLED', 'FAILED')),
  CONSTRAINT bulk_finished CHECK ((finished_at IS NULL) = (state = 'RUNNING'))
);

CREATE INDEX idx_bulk_running ON bulk_operations (updated_at) WHERE state = 'RUNNING';
CREATE INDEX idx_bulk_sees ON bulk_operations (sees, id);
CREATE UNIQUE INDEX idx_bulk_key ON bulk_operations (created_by, idempotency_key) WHERE idempotency_key IS NOT NULL;

CREATE TABLE bulk_items (
  operation_id uuid NOT NULL REFERENCES bulk_operations (id) ON DELETE CASCADE,
  run_id uuid NOT NULL,
  -- Null while the run is in hand: it may have been touched or not.
  outcome text,
  detail text,
  new_run_id uuid,
  at timestamptz,
  PRIMARY KEY (operation_id, run_id),
  CONSTRAINT bulk_items_outcome CHECK ((outcome IS NULL) = (at IS NULL))
);

-- Also finds what is in hand.
CREATE INDEX idx_bulk_items_outcome ON bulk_items (operation_id, outcome, run_id);
