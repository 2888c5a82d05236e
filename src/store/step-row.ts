/** A step as its row holds it. */

import type { Step } from './ports/steps.ts'

export const STEP_COLUMNS = `name, no, attempt, started_at, finished_at, tries, output::text AS output, output_ref, output_hash, output_bytes`

export type StepRow = {
  name: string
  no: number
  attempt: number
  started_at: Date | null
  finished_at: Date
  tries: number
  output: string | null
  output_ref: string
  output_hash: string
  output_bytes: number
}

export function stepOfRow(row: StepRow): Step {
  return {
    name: row.name,
    no: row.no,
    attempt: row.attempt,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
    tries: row.tries,
    output: { ref: row.output_ref, hash: row.output_hash, bytes: row.output_bytes, text: row.output },
  }
}
