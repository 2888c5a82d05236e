/** The verbs of steps, bound to their pool, and how steps are read. */

import type pg from 'pg'
import { commitStep } from './commit-step.ts'
import type { Step, Steps } from './ports/steps.ts'
import { STEP_COLUMNS, type StepRow, stepOfRow } from './step-row.ts'

const LIST = `
SELECT ${STEP_COLUMNS.replace('output::text AS output', 'CASE WHEN output_bytes <= $2 THEN output::text END AS output')}
FROM run_steps WHERE run_id = $1 ORDER BY no`

const BYTES_OF = `
SELECT run_id, sum(output_bytes)::float8 AS bytes FROM run_steps WHERE run_id = ANY ($1::uuid[]) GROUP BY run_id`

/** Of an integer column. */
const BYTES_MAX = 2 ** 31 - 1

type Answered = <T>(asked: Promise<T>) => Promise<T>

export function createSteps(pool: pg.Pool, answered: Answered): Steps {
  return {
    commit: (runId, tokenHash, step, limits) => answered(commitStep(pool, runId, tokenHash, step, limits)),
    list: (runId, textBytesMax = BYTES_MAX) => answered(listSteps(pool, runId, textBytesMax)),
    bytesOf: (runIds) => answered(bytesOf(pool, runIds)),
  }
}

async function listSteps(pool: pg.Pool, runId: string, textBytesMax: number): Promise<Step[]> {
  const { rows } = await pool.query<StepRow>({ name: 'list_steps', text: LIST, values: [runId, textBytesMax] })
  return rows.map(stepOfRow)
}

async function bytesOf(pool: pg.Pool, runIds: string[]): Promise<Map<string, number>> {
  if (runIds.length === 0) return new Map()
  const { rows } = await pool.query<{ run_id: string; bytes: number }>({
    name: 'step_bytes_of',
    text: BYTES_OF,
    values: [runIds],
  })
  return new Map(rows.map((row) => [row.run_id, row.bytes]))
}
