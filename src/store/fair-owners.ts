/**
 * Who waits in queues with fair share (`fair_owners`), and which queues those are.
 *
 * An owner is listed after a submit has been committed. When that does not happen (the process dies in between), and when a run goes back to
 * its lane or becomes due, a worker finds the lane: about every second each walks through the lanes of owners that have waiting runs,
 * a bounded number at a time, and lists whoever is missing. So no statement that makes a run wait has to know of this, and no run is stuck.
 *
 * An owner who comes starts at the lowest pass of the model's waiting owners, where there are none at that of another model: a claim that
 * serves both brings them close to each other. One who was marked as leaving keeps what it is ahead, up
 * to one step, or it would go before others by submitting one run at a time.
 */

import type pg from 'pg'

const list = (from: string) => `
INSERT INTO fair_owners AS held (queue, owner, model, model_version, pass)
SELECT w.queue, w.owner, w.model, w.model_version, COALESCE(
  (SELECT max(o.pass) FROM fair_owners o WHERE o.queue = w.queue AND o.owner = w.owner AND NOT o.leaving),
  (SELECT o.pass FROM fair_owners o WHERE o.queue = w.queue AND o.model = w.model AND o.model_version = w.model_version ORDER BY o.pass LIMIT 1),
  (SELECT o.pass FROM fair_owners o WHERE o.queue = w.queue ORDER BY o.model, o.model_version, o.pass LIMIT 1), 0)
FROM ${from} w
WHERE NOT EXISTS (SELECT FROM fair_owners o
  WHERE o.queue = w.queue AND o.owner = w.owner AND o.model = w.model AND o.model_version = w.model_version AND NOT o.leaving)
-- Locked in one order everywhere, so that two of these cannot wait for each other.
ORDER BY 1, 2, 3, 4
ON CONFLICT (queue, owner, model, model_version) DO UPDATE
  SET leaving = false, pass = GREATEST(excluded.pass, LEAST(held.pass, excluded.pass + 1)) WHERE held.leaving`

const LIST_OWNERS = list(`(
  SELECT DISTINCT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) AS n(queue, owner, model, model_version)
)`)

// The first waiting run of one lane after the other, by the ready index.
const firstAfter = (lane: string) => `
SELECT lane, available_at FROM model_runs WHERE status = 'PENDING' AND lane > ${lane} AND lane < 0 ORDER BY lane, available_at, id LIMIT 1`

const LIST_MISSING = `
WITH RECURSIVE walked AS (
  (${firstAfter('$1::int')})
  UNION ALL
  SELECT n.* FROM walked CROSS JOIN LATERAL (${firstAfter('walked.lane')}) n
), lane AS MATERIALIZED (
  SELECT * FROM walked LIMIT $2
), listed AS (
  ${list(`(
    SELECT DISTINCT l.queue, l.owner, l.model, l.model_version FROM lane JOIN lanes l USING (lane) WHERE lane.available_at <= clock()
  )`)}
  RETURNING queue
)
SELECT (SELECT count(*)::int FROM lane) AS lanes, (SELECT max(lane) FROM lane) AS last, (SELECT count(*)::int FROM listed) AS listed`

const LANES_AT_ONCE = 500
const FIRST_LANE = -(2 ** 31)

// Of a queue that is not fair any more, the owners that are left, and runs that went back to a lane of their owner, are served on.
const READ_FAIR = `
SELECT EXISTS (SELECT FROM model_runs WHERE status = 'PENDING' AND lane < 0) AS waiting,
  ARRAY(SELECT queue FROM queues WHERE fair_share) AS fair,
  ARRAY(SELECT q.queue FROM queues q WHERE NOT q.fair_share AND EXISTS (SELECT FROM fair_owners o WHERE o.queue = q.queue)) AS emptying`

export type Waiting = { queue: string; owner: string; model: string; modelVersion: string }

/** Of runs that are committed: a claim that does not see them yet may delete the row. */
export async function listOwners(pool: pg.Pool, waiting: readonly Waiting[]): Promise<void> {
  if (waiting.length === 0) return
  const values = [
    waiting.map(({ queue }) => queue),
    waiting.map(({ owner }) => owner),
    waiting.map(({ model }) => model),
    waiting.map(({ modelVersion }) => modelVersion),
  ]
  await pool.query({ name: 'list_owners', text: LIST_OWNERS, values })
}

/** Each call goes on where the last one ended; answers how many were missing. */
export function createListMissing(pool: pg.Pool): () => Promise<number> {
  let after = FIRST_LANE
  return async () => {
    const { rows } = await pool.query<{ lanes: number; last: number | null; listed: number }>({
      name: 'list_missing_owners',
      text: LIST_MISSING,
      values: [after, LANES_AT_ONCE],
    })
    const { lanes, last, listed } = rows[0]!
    after = lanes < LANES_AT_ONCE ? FIRST_LANE : last!
    return listed
  }
}

export type FairQueues = {
  fair: ReadonlySet<string>
  /** Not fair any more, with owners that are left. */
  emptying: ReadonlySet<string>
  /** Whether any run waits in a lane of an owner. */
  waiting: boolean
}

export async function readFairQueues(pool: pg.Pool): Promise<FairQueues> {
  const { rows } = await pool.query<{ fair: string[]; emptying: string[]; waiting: boolean }>({
    name: 'read_fair_queues',
    text: READ_FAIR,
  })
  const { fair, emptying, waiting } = rows[0]!
  return { fair: new Set(fair), emptying: new Set(emptying), waiting }
}
