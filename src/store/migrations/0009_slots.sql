-- breaking: yes — programs of before look for slots where none are any more, and would accept equal payloads twice

-- Slots have a table of their own. A slot is taken by the statement that creates its run and lives for minutes, so it needs no foreign key:
-- checking one cost a submit more than the row itself. Explicit keys and retries, which people hold in their hands, keep theirs.
CREATE TABLE payload_slots (
  owner text NOT NULL,
  payload_hash text NOT NULL,
  run_id uuid NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (owner, payload_hash)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 1);

INSERT INTO payload_slots (owner, payload_hash, run_id, expires_at)
SELECT owner, key, run_id, expires_at FROM idempotency_keys WHERE kind = 'slot' AND expires_at > clock();

CREATE INDEX idx_slots_expires ON payload_slots (expires_at);

DELETE FROM idempotency_keys WHERE kind = 'slot';
ALTER TABLE idempotency_keys
  DROP CONSTRAINT keys_kind,
  ADD CONSTRAINT keys_kind CHECK (kind IN ('key', 'retry'));

-- What a run was asked for never changes, so its index belongs to the table that is written once: on model_runs every claim and every end
-- wrote a new entry.
ALTER TABLE run_search ADD COLUMN payload_hash text;
UPDATE run_search s SET payload_hash = r.payload_hash FROM model_runs r WHERE r.id = s.run_id;
ALTER TABLE run_search ALTER COLUMN payload_hash SET NOT NULL;
DROP INDEX idx_runs_payload_hash;
CREATE INDEX idx_runs_payload_hash ON run_search USING hash (payload_hash);

-- Every name that leads to a run.
CREATE VIEW run_names AS
SELECT owner, kind, key, payload_hash, run_id, expires_at FROM idempotency_keys
UNION ALL
SELECT owner, 'slot', payload_hash, payload_hash, run_id, expires_at FROM payload_slots;
