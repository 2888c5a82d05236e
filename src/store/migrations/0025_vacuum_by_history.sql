-- breaking: no — how often a table is vacuumed and analysed, no program can tell

-- A vacuum reads all entries of all indexes, those of every finished run, too. At a fiftieth of the table it came after every 20,000 runs of a
-- service with 2,000,000, in the middle of a rush, and took up to a fifth of the computing. Claims do not need it that often: they
-- start where the last one ended, and an entry that was once found dead is skipped. A tenth of the table is what dead versions may take.
ALTER TABLE model_runs SET (autovacuum_vacuum_scale_factor = 0.1, autovacuum_analyze_scale_factor = 0.1);
