-- breaking: no — a nullable column with a default, and an index

-- The transaction that wrote an event, for the feed of everything that happens: readers follow what commits, and
-- commits do not come in the order of any number taken before them. bigint holds every xid8 there will be, and unlike
-- xid8 it can be in a BRIN index. Events from before this migration have none and lie before every place in the feed.
ALTER TABLE run_events ADD COLUMN xid bigint;
ALTER TABLE run_events ALTER COLUMN xid SET DEFAULT pg_current_xact_id()::text::bigint;

-- One entry for each 64 pages, made once they are full: writing an event writes nothing here. A b-tree would get an
-- entry for every event.
CREATE INDEX idx_events_xid ON run_events USING brin (xid, at) WITH (pages_per_range = 64, autosummarize = on);

-- Pages without an entry are read by every look into the feed. A vacuum makes the entries that were missed in a rush.
ALTER TABLE run_events SET (autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_vacuum_insert_threshold = 50000);
