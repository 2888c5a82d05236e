-- breaking: no — new tables, and columns with defaults

-- How many runs a worker executes at once, by queue and by model ("name@version"); what is not named has no limit of its own.
ALTER TABLE workers
  ADD COLUMN queue_limits jsonb NOT NULL DEFAULT '{}',
  ADD COLUMN model_limits jsonb NOT NULL DEFAULT '{}';

-- What happened per minute, hour and day: of each model in each queue, of each model, of each queue, and of all. An empty name stands
-- for all, so that every question reads one row per bucket. Counted from run_events, once each.
CREATE TABLE run_stats (
  grain text NOT NULL,
  model text NOT NULL,
  queue text NOT NULL,
  bucket_at timestamptz NOT NULL,
  created bigint NOT NULL,
  started bigint NOT NULL,
  succeeded bigint NOT NULL,
  failed bigint NOT NULL,
  cancelled bigint NOT NULL,
  retried bigint NOT NULL,
  reclaimed bigint NOT NULL,
  -- Histograms: how many values fell into each bin of a logarithmic scale (src/run/histogram.ts).
  lag jsonb NOT NULL,
  duration jsonb NOT NULL,
  PRIMARY KEY (grain, model, queue, bucket_at),
  CONSTRAINT run_stats_grain CHECK (grain IN ('minute', 'hour', 'day'))
);

CREATE INDEX idx_run_stats_bucket ON run_stats (grain, bucket_at);

-- Which transactions have been counted: those visible in this snapshot, but for events from before `count_from`. One row; whoever counts
-- holds its lock.
CREATE TABLE run_stats_cursor (
  only_one boolean PRIMARY KEY DEFAULT true CHECK (only_one),
  counted pg_snapshot NOT NULL,
  since timestamptz NOT NULL,
  count_from timestamptz NOT NULL DEFAULT '-infinity',
  rolled_at timestamptz NOT NULL
);

INSERT INTO run_stats_cursor (counted, since, rolled_at) VALUES (pg_current_snapshot(), clock(), clock());

CREATE FUNCTION add_histograms(one jsonb, other jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
  SELECT COALESCE(jsonb_object_agg(bin, n), '{}') FROM (
    SELECT bin, sum(n) AS n FROM (
      SELECT key AS bin, value::bigint AS n FROM jsonb_each_text(one)
      UNION ALL SELECT key, value::bigint FROM jsonb_each_text(other)
    ) both_of_them GROUP BY bin
  ) added
$$;
