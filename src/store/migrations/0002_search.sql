-- breaking: no — new tables and indexes that older programs do not need; runs they submit meanwhile are listed but not found by
-- owner, model, queue, tag, batch or title

-- A text without case, for every alphabet where Postgres was built with ICU, else as the database's locale has it. The
-- collation is set back so that calls can be inlined.
DO $do$ BEGIN
  EXECUTE format($$
    CREATE FUNCTION fold_case(given text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS 'SELECT lower(given COLLATE %I) COLLATE "default"'$$,
    CASE WHEN EXISTS (SELECT FROM pg_collation WHERE collname = 'und-x-icu') THEN 'und-x-icu' ELSE 'default' END);
END $do$;

-- What people search runs by, written once by the statement that creates the run and never updated, so that a status change
-- does not pay for it. Each index here is paid by every submit; the partial ones only by runs that have the value. There is
-- no key by run id alone: who deletes a run deletes its row here by the owner and created_at of that run, and its tags by tag
-- and created_at.
CREATE TABLE run_search (
  run_id uuid NOT NULL,
  created_at timestamptz NOT NULL,
  batch_id uuid,
  owner text NOT NULL,
  model text NOT NULL,
  model_version text NOT NULL,
  queue text NOT NULL,
  -- Without case.
  title text,
  -- Null for none.
  tags text[]
) WITH (autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.05);

CREATE TABLE run_tags (
  tag text NOT NULL,
  created_at timestamptz NOT NULL,
  run_id uuid NOT NULL
) WITH (autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.05);

INSERT INTO run_search (run_id, created_at, batch_id, owner, model, model_version, queue, title, tags)
SELECT id, created_at, batch_id, owner, model, model_version, queue, fold_case(title), NULLIF(tags, '{}')
FROM model_runs ORDER BY created_at, id;

INSERT INTO run_tags (tag, created_at, run_id)
SELECT DISTINCT t.tag, r.created_at, r.id FROM model_runs r CROSS JOIN LATERAL unnest(r.tags) AS t(tag);

CREATE INDEX idx_search_owner ON run_search (owner, created_at, run_id);
CREATE INDEX idx_search_model ON run_search (model, created_at, run_id);
CREATE INDEX idx_search_queue ON run_search (queue, created_at, run_id);
CREATE INDEX idx_search_batch ON run_search (batch_id, created_at, run_id) WHERE batch_id IS NOT NULL;
CREATE INDEX idx_search_title ON run_search (title text_pattern_ops, created_at, run_id) WHERE title IS NOT NULL;
CREATE UNIQUE INDEX idx_tags_tag ON run_tags (tag, created_at, run_id);

-- Paid by runs that had an error: the first by each of them, also when a later attempt succeeded, the second by those that
-- failed for good.
CREATE INDEX idx_runs_error_class ON model_runs (last_error_class text_pattern_ops, created_at, id)
  WHERE last_error_class IS NOT NULL;
CREATE INDEX idx_runs_failed ON model_runs (model, last_error_class, created_at, id) INCLUDE (owner)
  WHERE status = 'FAILED' AND last_error_class IS NOT NULL;
