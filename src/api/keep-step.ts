/**
 * Keeps what a step gave: inline when small, else in a blob that is durable before the step is. The blob is named after its
 * bytes, so another output under the same name never touches the one that was kept.
 */

import { STEPS_MAX, type StepBody } from '../contract/step.ts'
import { canonicalText, sha256 } from '../run/canonical.ts'
import { Refusal } from '../run/errors.ts'
import type { Step, StepOutput } from '../store/ports/steps.ts'
import type { ApiDeps } from './api.ts'
import { leaseLost } from './attempt-credential.ts'

const INLINE_BYTES_MAX = 64 * 1024
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024

export type KeepStep = (runId: string, tokenHash: Buffer, body: StepBody) => Promise<Step>

export function createKeepStep({ store, blob, config }: Pick<ApiDeps, 'store' | 'blob' | 'config'>): KeepStep {
  const { inlineBytesMax = INLINE_BYTES_MAX, bytesMax = OUTPUT_BYTES_MAX } = config.result ?? {}

  async function outputOf(runId: string, name: string, output: unknown): Promise<StepOutput> {
    const text = canonicalText(output)
    const bytes = Buffer.from(text)
    if (bytes.byteLength > bytesMax) throw tooLarge(bytes.byteLength, bytesMax)
    const facts = { hash: sha256(text), bytes: bytes.byteLength }
    if (bytes.byteLength <= inlineBytesMax) return { ...facts, ref: 'inline', text }
    const { ref } = await blob.put(`${runId}.step-${sha256(`${name}\n${facts.hash}`).slice(0, 32)}.json`, bytes)
    return { ...facts, ref, text: null }
  }

  return async (runId, tokenHash, { name, output = null, tries, started_at: startedAt }) => {
    const kept = await outputOf(runId, name, output)
    const commit = await store.steps.commit(
      runId,
      tokenHash,
      { name, startedAt: startedAt ? new Date(startedAt) : null, tries: tries ?? 1, output: kept },
      { steps: STEPS_MAX, bytes: bytesMax },
    )
    if (commit.is === 'kept' || commit.is === 'repeated') return commit.step
    // After a lost lease the bytes stay: a twin of this request may have been in time.
    if (commit.is === 'lost') throw leaseLost(runId)
    if (kept.text === null) await blob.delete(kept.ref)
    if (commit.is === 'conflict') throw conflict(commit.step)
    const most = `at most ${STEPS_MAX} steps with ${bytesMax} bytes of outputs together (HOLDFAST_RESULT_MAX_BYTES)`
    throw new Refusal('step-limit', `The step ${JSON.stringify(name)} was not kept: a run has ${most}.`)
  }
}

function conflict({ name, attempt, output }: Step): Refusal {
  const detail = `The run has another output of the step ${JSON.stringify(name)} since attempt ${attempt}; it was not changed.`
  return new Refusal('step-conflict', detail, { extra: { output_hash: output.hash } })
}

function tooLarge(bytes: number, bytesMax: number): Refusal {
  const detail = `The output has ${bytes} bytes; at most ${bytesMax} are accepted (HOLDFAST_RESULT_MAX_BYTES).`
  return new Refusal('body-too-large', detail)
}
