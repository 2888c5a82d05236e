/** When a name that is taken may be taken over: the rules of the statements that insert runs. The row that is there is called `held`. */

/** A key or a retry, once it has lapsed. A run that this snapshot cannot see counts as alive: its request is answered by a new read. */
export const TAKE_LAPSED_NAME = `ON CONFLICT (owner, kind, key) DO UPDATE
    SET payload_hash = excluded.payload_hash, run_id = excluded.run_id,
        created_at = excluded.created_at, expires_at = excluded.expires_at
    WHERE EXISTS (SELECT FROM model_runs r WHERE r.id = held.run_id AND r.finished_at IS NOT NULL
      AND (held.kind = 'retry' OR held.expires_at <= clock()))`

/**
 * A slot, once its window is over or its run has ended; `keepSucceeded` says whether a success does not count as one. The run is asked for as a value: a
 * plan for a condition, made while there were few runs, could read all of them.
 */
export const takeLapsedSlot = (keepSucceeded: string) => `ON CONFLICT (owner, payload_hash) DO UPDATE
    SET run_id = excluded.run_id, expires_at = excluded.expires_at
    WHERE held.expires_at <= clock() OR (
      SELECT r.finished_at IS NOT NULL AND NOT (r.result_ref IS NOT NULL AND ${keepSucceeded})
      FROM model_runs r WHERE r.id = held.run_id)`
