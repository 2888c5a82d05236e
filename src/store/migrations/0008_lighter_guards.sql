-- breaking: no — the same rules, written so that legal statements pay less for them

-- Postgres reads the stored text of a WHEN clause anew in every statement that updates the table, however few rows it touches. A clause that
-- names each column twice cost a claim of one run more than all the rest of its guards, so the clauses are as short as the rules allow.

-- Sealed: in a terminal row, which is one with an end, only event_seq may change. Updates of such rows are rare enough to be compared whole.
DROP TRIGGER runs_sealed ON model_runs;

CREATE FUNCTION refuse_change_of_finished_run() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF to_jsonb(NEW) - 'event_seq' IS DISTINCT FROM to_jsonb(OLD) - 'event_seq' THEN
    RAISE EXCEPTION 'holdfast: a finished run never changes (update on %)', TG_TABLE_NAME
      USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = TG_NAME;
  END IF;
  RETURN NULL;
END $$;

CREATE TRIGGER runs_sealed AFTER UPDATE ON model_runs FOR EACH ROW WHEN (OLD.finished_at IS NOT NULL)
  EXECUTE FUNCTION refuse_change_of_finished_run();

-- What leaves a terminal state is refused above, and RUNNING may become anything.
DROP TRIGGER runs_transition ON model_runs;
CREATE TRIGGER runs_transition AFTER UPDATE OF status ON model_runs FOR EACH ROW
  WHEN (OLD.status = 'PENDING' AND NEW.status IN ('SUCCEEDED', 'FAILED'))
  EXECUTE FUNCTION refuse_change('this transition of a run is not allowed');

DROP TRIGGER runs_fence ON model_runs;
CREATE TRIGGER runs_fence AFTER UPDATE ON model_runs FOR EACH ROW
  WHEN (NEW.lease_epoch < OLD.lease_epoch OR NEW.attempt_count < OLD.attempt_count OR NEW.event_seq < OLD.event_seq
    OR (NEW.lease_owner IS DISTINCT FROM OLD.lease_owner AND NEW.lease_owner IS NOT NULL AND NEW.lease_epoch = OLD.lease_epoch)
    OR (OLD.lease_owner IS NULL AND NEW.lease_owner IS NOT NULL AND NEW.attempt_count <> OLD.attempt_count + 1)
    OR (OLD.cancel_requested_at IS NOT NULL AND NEW.cancel_requested_at IS NULL))
  EXECUTE FUNCTION refuse_change('a lease changes hands only with a higher epoch and counters never go back');

-- The checks likewise: they are read anew in every statement too. Statuses are declared in the order of a run's life, so the terminal ones
-- are those from SUCCEEDED on.
ALTER TABLE model_runs
  DROP CONSTRAINT runs_lease_while_running,
  ADD CONSTRAINT runs_lease_while_running
    CHECK (num_nonnulls(lease_owner, lease_expires_at, deadline_at) = 3 * (status = 'RUNNING')::int),
  DROP CONSTRAINT runs_finished_when_terminal,
  ADD CONSTRAINT runs_finished_when_terminal CHECK ((finished_at IS NOT NULL) = (status >= 'SUCCEEDED')),
  DROP CONSTRAINT runs_result_when_succeeded,
  ADD CONSTRAINT runs_result_when_succeeded CHECK (num_nonnulls(result_ref, result_hash) = 2 * (status = 'SUCCEEDED')::int);
