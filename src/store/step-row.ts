/** A step as its row holds it, and what its name says of it. */

import { itemOfName } from '../run/step-names.ts'
import type { NewStep, Step } from './ports/steps.ts'

const columns = (
  output: string,
) => `run_id, name, no, attempt, started_at, finished_at, tries, ${output} AS output, output_ref, output_hash,
  output_bytes, cpu_seconds, peak_memory_bytes`

export const STEP_COLUMNS = columns('output::text')

/** Longer texts than the parameter says are left out. */
export const stepColumns = (textBytesMax: string) =>
  columns(`CASE WHEN output_bytes <= ${textBytesMax} THEN output::text END`)

export type StepRow = {
  run_id: string
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
  cpu_seconds: number | null
  peak_memory_bytes: number | null
}

export function stepOfRow(row: StepRow): Step {
  return {
    name: row.name,
    runId: row.run_id,
    no: row.no,
    attempt: row.attempt,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
    tries: row.tries,
    output: { ref: row.output_ref, hash: row.output_hash, bytes: row.output_bytes, text: row.output },
    cpuSeconds: row.cpu_seconds,
    peakMemoryBytes: row.peak_memory_bytes,
  }
}

/** What is written beside the output. */
export function factsOf({ name, startedAt, tries, cpuSeconds = null, peakMemoryBytes = null }: NewStep) {
  const item = itemOfName(name)
  return {
    name,
    startedAt,
    tries,
    cpuSeconds,
    peakMemoryBytes: peakMemoryBytes === null ? null : Math.round(peakMemoryBytes),
    itemOf: item?.map ?? null,
    itemNo: item?.no ?? null,
  }
}
