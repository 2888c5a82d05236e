/**
 * Lanes: the numbers that runs of one queue, model, version and priority share in the ready index, and in queues with fair share of one owner.
 * They are made before the transaction that needs them, so that no transaction holds a lock on one, and are never deleted: a number
 * once read stays right.
 *
 * Which queues are fair is remembered for a second. Runs that were put into the other kind of lane meanwhile are claimed all the same.
 */

import type pg from 'pg'
import { listOwners } from './fair-owners.ts'
import type { NewRun } from './store.ts'

// Numbers of owners' lanes are negative and go down.
const ENSURE_LANES = `
INSERT INTO lanes (queue, model, model_version, priority)
SELECT queue, model, model_version, priority FROM unnest($1::text[], $2::text[], $3::text[], $4::smallint[], $5::text[])
  AS w(queue, model, model_version, priority, owner) WHERE owner = '' ORDER BY 1, 2, 3, 4
ON CONFLICT DO NOTHING`

const ENSURE_OWNED_LANES = `
INSERT INTO lanes (lane, queue, model, model_version, priority, owner) OVERRIDING SYSTEM VALUE
SELECT nextval('fair_lanes'), w.* FROM (
  SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::smallint[], $5::text[])
    AS w(queue, model, model_version, priority, owner) WHERE owner <> '' ORDER BY 1, 2, 3, 4, 5
) w
ON CONFLICT DO NOTHING`

const READ_LANES = `
SELECT lane, queue, model, model_version AS "modelVersion", priority, owner
FROM unnest($1::text[], $2::text[], $3::text[], $4::smallint[], $5::text[]) AS w(queue, model, model_version, priority, owner)
JOIN lanes USING (queue, model, model_version, priority, owner)`

const READ_FAIR_NAMES = 'SELECT queue FROM queues WHERE fair_share'

const FAIR_NAMES_MS = 1_000
const NOBODY = ''

type LaneRow = Pick<NewRun, 'queue' | 'model' | 'modelVersion' | 'priority' | 'owner'> & { lane: number }

export type Lanes = {
  /** Makes those that are not there. Nothing to wait for where all are known, which is nearly always. */
  ensure(pool: pg.Pool, runs: readonly NewRun[]): Promise<void> | undefined
  /** Of a run whose lane was ensured. */
  of(run: NewRun): number
  /** Whether its queue has fair share, as far as is known. */
  isFair(run: NewRun): boolean
  /**
   * Tells claims of fair queues whose runs wait. To be called after the commit; never fails: without it workers find the runs about a
   * second later.
   */
  list(pool: pg.Pool, runs: readonly NewRun[]): Promise<void>
}

export function createLanes(): Lanes {
  const lanes = new Map<string, number>()
  let fairNames: ReadonlySet<string> | null = null
  let fairNamesUntil = 0
  let reading: Promise<void> | null = null

  /** The first time it is waited for; later the names are read anew while the old ones serve. */
  function readFairNames(pool: pg.Pool): Promise<void> | undefined {
    if (performance.now() < fairNamesUntil) return undefined
    reading ??= pool
      .query<{ queue: string }>({ name: 'read_fair_names', text: READ_FAIR_NAMES })
      .then(({ rows }) => {
        fairNames = new Set(rows.map(({ queue }) => queue))
        fairNamesUntil = performance.now() + FAIR_NAMES_MS
      })
      .finally(() => {
        reading = null
      })
    if (fairNames === null) return reading
    reading.catch(() => {})
    return undefined
  }

  const ownerIn = ({ queue, owner }: NewRun) => (fairNames?.has(queue) ? owner : NOBODY)

  function makeMissing(pool: pg.Pool, runs: readonly NewRun[]): Promise<void> | undefined {
    const missing = new Map<string, NewRun & { lineOwner: string }>()
    let last: NewRun | undefined
    for (const run of runs) {
      // Most are for the same lane as the one before.
      if (last && isSameLane(last, run)) continue
      last = run
      const lineOwner = ownerIn(run)
      const name = laneName(run, lineOwner)
      if (!lanes.has(name)) missing.set(name, { ...run, lineOwner })
    }
    return missing.size === 0 ? undefined : make(pool, [...missing.values()])
  }

  async function make(pool: pg.Pool, wanted: (NewRun & { lineOwner: string })[]): Promise<void> {
    const values = [
      wanted.map((run) => run.queue),
      wanted.map((run) => run.model),
      wanted.map((run) => run.modelVersion),
      wanted.map((run) => run.priority),
      wanted.map((run) => run.lineOwner),
    ]
    if (wanted.some(({ lineOwner }) => lineOwner === NOBODY)) await pool.query(ENSURE_LANES, values)
    if (wanted.some(({ lineOwner }) => lineOwner !== NOBODY)) await pool.query(ENSURE_OWNED_LANES, values)
    const { rows } = await pool.query<LaneRow>(READ_LANES, values)
    for (const row of rows) lanes.set(laneName(row, row.owner), row.lane)
  }

  return {
    isFair: ({ queue }) => fairNames?.has(queue) === true,
    // The names may have changed since; a lane of either kind will do.
    of: (run) =>
      lanes.get(laneName(run, ownerIn(run))) ??
      lanes.get(laneName(run, NOBODY)) ??
      lanes.get(laneName(run, run.owner))!,
    ensure(pool, runs) {
      const read = readFairNames(pool)
      if (read) return read.then(() => makeMissing(pool, runs))
      return makeMissing(pool, runs)
    },
    async list(pool, runs) {
      if (!fairNames?.size) return
      const owned = new Map<string, NewRun>()
      for (const run of runs) {
        const name = `${run.queue}\u0000${run.owner}\u0000${run.model}\u0000${run.modelVersion}`
        if (lanes.get(laneName(run, run.owner)) !== undefined && ownerIn(run) !== NOBODY) owned.set(name, run)
      }
      await listOwners(pool, [...owned.values()]).catch(() => {})
    },
  }
}

/** Whether both wait in the same lane, fair or not. */
export function isSameLane(a: NewRun, b: NewRun): boolean {
  return (
    a.queue === b.queue &&
    a.model === b.model &&
    a.modelVersion === b.modelVersion &&
    a.priority === b.priority &&
    a.owner === b.owner
  )
}

function laneName({ queue, model, modelVersion, priority }: Omit<LaneRow, 'lane' | 'owner'>, owner: string): string {
  return `${queue}\u0000${model}\u0000${modelVersion}\u0000${priority}\u0000${owner}`
}
