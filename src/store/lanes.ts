/**
 * Lanes: the numbers that runs of one queue, model, version and priority share in the ready index. They are made before the transaction
 * that needs them, so that no transaction holds a lock on one, and are never deleted: a number once read stays right.
 */

import type pg from 'pg'
import type { NewRun } from './store.ts'

const ENSURE_LANES = `
INSERT INTO lanes (queue, model, model_version, priority)
SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::smallint[]) ORDER BY 1, 2, 3, 4
ON CONFLICT DO NOTHING`

const READ_LANES = `
SELECT lane, queue, model, model_version AS "modelVersion", priority
FROM unnest($1::text[], $2::text[], $3::text[], $4::smallint[]) AS w(queue, model, model_version, priority)
JOIN lanes USING (queue, model, model_version, priority)`

type LaneRow = Pick<NewRun, 'queue' | 'model' | 'modelVersion' | 'priority'> & { lane: number }

export type Lanes = {
  /** Makes those that are not there. */
  ensure(pool: pg.Pool, runs: readonly NewRun[]): Promise<void>
  /** Of a run whose lane was ensured. */
  of(run: NewRun): number
}

export function createLanes(): Lanes {
  const lanes = new Map<string, number>()
  return {
    of: (run) => lanes.get(laneName(run))!,
    async ensure(pool, runs) {
      const missing = new Map<string, NewRun>()
      for (const run of runs) {
        const name = laneName(run)
        if (!lanes.has(name)) missing.set(name, run)
      }
      if (missing.size === 0) return
      const wanted = [...missing.values()]
      const values = [
        wanted.map((run) => run.queue),
        wanted.map((run) => run.model),
        wanted.map((run) => run.modelVersion),
        wanted.map((run) => run.priority),
      ]
      await pool.query(ENSURE_LANES, values)
      const { rows } = await pool.query<LaneRow>(READ_LANES, values)
      for (const row of rows) lanes.set(laneName(row), row.lane)
    },
  }
}

function laneName({ queue, model, modelVersion, priority }: Omit<LaneRow, 'lane'>): string {
  return `${queue}\u0000${model}\u0000${modelVersion}\u0000${priority}`
}
