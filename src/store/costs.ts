/** The verbs about costs outside submit and settle. */

import type pg from 'pg'
import { closeEnded } from './close-costs.ts'
import type { Costs, RunCosts } from './ports/costs.ts'
import { rollCosts } from './roll-costs.ts'

const OF_RUN = `
SELECT state, held::float8 AS held, settled::float8 AS settled, currency FROM cost_ledger WHERE run_id = $1`

/** `pinned`: with plans for look-ups by index. */
export function createCosts(pinned: pg.Pool, answered: <T>(asked: Promise<T>) => Promise<T>): Costs {
  return {
    closeEnded: (limit) => closeEnded(pinned, limit),
    roll: (limit) => rollCosts(pinned, limit),
    async of(runId) {
      return (await answered(pinned.query<RunCosts>(OF_RUN, [runId]))).rows[0] ?? null
    },
  }
}
