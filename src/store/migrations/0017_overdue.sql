-- breaking: no — a new table; nothing that is there changes

-- Attempts that have been running for three times as long as expected, each found once. A row is deleted soon after its attempt has ended;
-- what is kept of it is the event. So the table is never larger than what is running, and neither claims nor ends of attempts know of it.
CREATE TABLE run_overdue (
  run_id uuid NOT NULL,
  attempt integer NOT NULL,
  -- When the attempt had taken three times the expected duration.
  since timestamptz NOT NULL,
  PRIMARY KEY (run_id, attempt)
);
