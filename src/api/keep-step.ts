/** Keeps a step that code which runs elsewhere commits by its attempt token, by the rules of our own workers. */

import type { StepBody } from '../contract/step.ts'
import { canonicalText } from '../run/canonical.ts'
import { Refusal } from '../run/errors.ts'
import { STEP_ITEMS_MAX, STEPS_MAX } from '../run/step-names.ts'
import type { Step } from '../store/ports/steps.ts'
import { keepStepOutput, StepOutputTooLarge } from '../worker/keep-step-output.ts'
import type { ApiDeps } from './api.ts'
import { leaseLost } from './attempt-credential.ts'

const INLINE_BYTES_MAX = 64 * 1024
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024

export type KeepStep = (runId: string, tokenHash: Buffer, body: StepBody) => Promise<Step>

export function createKeepStep({ store, blob, config }: Pick<ApiDeps, 'store' | 'blob' | 'config'>): KeepStep {
  const { inlineBytesMax = INLINE_BYTES_MAX, bytesMax = OUTPUT_BYTES_MAX } = config.result ?? {}
  const limits = { steps: STEPS_MAX, items: STEP_ITEMS_MAX, bytes: bytesMax }
  const keeping = { blob, inlineBytes: inlineBytesMax, maxBytes: bytesMax }

  return async (runId, tokenHash, body) => {
    const { name, output = null } = body
    const kept = await keepStepOutput(keeping, runId, name, canonicalText(output)).catch(inWords)
    const commit = await store.steps.commit(runId, tokenHash, { ...factsOf(body), output: kept }, limits)
    if (commit.is === 'kept' || commit.is === 'repeated') return commit.step
    // After a lost lease the bytes stay: a twin of this request may have been in time.
    if (commit.is === 'lost') throw leaseLost(runId)
    if (kept.text === null) await blob.delete(kept.ref)
    if (commit.is === 'conflict') throw conflict(commit.step)
    const most = `at most ${STEPS_MAX} steps and ${STEP_ITEMS_MAX} items of maps`
    const bytes = `with ${bytesMax} bytes of outputs together (HOLDFAST_RESULT_MAX_BYTES)`
    throw new Refusal('step-limit', `The step ${JSON.stringify(name)} was not kept: a run has ${most}, ${bytes}.`)
  }
}

function factsOf(body: StepBody) {
  return {
    name: body.name,
    startedAt: body.started_at ? new Date(body.started_at) : null,
    tries: body.tries ?? 1,
    cpuSeconds: body.cpu_seconds ?? null,
    peakMemoryBytes: body.peak_memory_bytes ?? null,
  }
}

function inWords(error: unknown): never {
  throw error instanceof StepOutputTooLarge ? new Refusal('body-too-large', error.message) : error
}

function conflict({ name, attempt, output }: Step): Refusal {
  const detail = `The run has another output of the step ${JSON.stringify(name)} since attempt ${attempt}; it was not changed.`
  return new Refusal('step-conflict', detail, { extra: { output_hash: output.hash } })
}
