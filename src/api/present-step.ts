/** A step as the API shows it. */

import type { CommittedStepObject, StepObject } from '../contract/step.ts'
import { type RedactOptions, redact } from '../run/redaction.ts'
import type { Step } from '../store/ports/steps.ts'

export function committedStep({ name, no, attempt, startedAt, finishedAt, tries, output }: Step): CommittedStepObject {
  return {
    name,
    no,
    attempt,
    started_at: startedAt?.toISOString() ?? null,
    finished_at: finishedAt.toISOString(),
    tries,
    output_ref: output.ref,
    output_hash: output.hash,
    output_bytes: output.bytes,
  }
}

/** A step that is done, of the run or taken over by it. */
export function presentStep(step: Step, runId: string, redaction: RedactOptions): StepObject {
  const { startedAt, finishedAt, output } = step
  return {
    name: step.name,
    state: 'SUCCEEDED',
    tries: step.tries,
    started_at: startedAt?.toISOString() ?? null,
    finished_at: finishedAt.toISOString(),
    duration_seconds: durationSeconds(startedAt, finishedAt),
    cpu_seconds: step.cpuSeconds,
    peak_memory_bytes: step.peakMemoryBytes,
    attempt: step.attempt,
    no: step.no,
    from_run_id: step.runId === runId ? null : step.runId,
    output: output.text === null ? null : redact(JSON.parse(output.text) as unknown, redaction),
    output_ref: output.ref,
    output_hash: output.hash,
    output_bytes: output.bytes,
    last_error: null,
    items: null,
  }
}

/** One of which nothing is known but its name. */
export function pendingStep(name: string): StepObject {
  return {
    name,
    state: 'PENDING',
    tries: 0,
    started_at: null,
    finished_at: null,
    duration_seconds: null,
    cpu_seconds: null,
    peak_memory_bytes: null,
    attempt: null,
    no: null,
    from_run_id: null,
    output: null,
    output_ref: null,
    output_hash: null,
    output_bytes: null,
    last_error: null,
    items: null,
  }
}

export function durationSeconds(startedAt: Date | null, finishedAt: Date): number | null {
  return startedAt && Math.max(0, finishedAt.getTime() - startedAt.getTime()) / 1_000
}
