-- breaking: no — which index an attempt's state is found by, and how much room pages leave, no program can tell

-- An attempt is written twice: when it begins and when it ends. While its state was in a B-tree, the end made a new entry in every index of the
-- table. An index that only sums up blocks does not stand in the way of updating a row where it is (since Postgres 16), and pages
-- half full have the room for it. Whoever looks for open attempts skips the blocks in which all have ended.
DROP INDEX idx_attempts_open;
CREATE INDEX idx_attempts_open ON run_attempts USING brin ((CASE WHEN state <= 'RUNNING' THEN 1 ELSE 0 END))
  WITH (pages_per_range = 64, autosummarize = on);
ALTER TABLE run_attempts SET (fillfactor = 50);
