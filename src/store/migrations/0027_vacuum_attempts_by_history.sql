-- breaking: no — how often a table is vacuumed, no program can tell

-- As for runs (0025). The version that the end of an attempt leaves behind lies in the page of the attempt and goes with the next look at that page,
-- so a vacuum finds little to do there; but it reads the entries of all attempts in their index. At a fiftieth of 2,000,000 one came in the middle of
-- every other rush of 50,000 runs and took a tenth of the computing.
ALTER TABLE run_attempts SET (autovacuum_vacuum_scale_factor = 0.1);
