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

export function presentStep(step: Step, redaction: RedactOptions): StepObject {
  const { text } = step.output
  return { ...committedStep(step), output: text === null ? null : redact(JSON.parse(text) as unknown, redaction) }
}
