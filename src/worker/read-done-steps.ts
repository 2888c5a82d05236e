/**
 * What earlier attempts of a run have done, or the run it goes on from, for the attempt that goes on. An output whose bytes are gone or damaged
 * is left out: its step is done again, and the same output puts them back.
 */

import { BlobDamaged, BlobMissing, type BlobStore } from '../blob/blob.ts'
import type { DoneStep } from '../executor/executor.ts'
import type { Step, Steps } from '../store/ports/steps.ts'
import type { Log } from '../telemetry/log.ts'

export type ReadDoneDeps = { steps: Pick<Steps, 'list'>; blob: BlobStore; log: Log }

export async function readDoneSteps(deps: ReadDoneDeps, runId: string): Promise<{ done: DoneStep[]; gone: string[] }> {
  const done: DoneStep[] = []
  const gone: string[] = []
  for (const step of await deps.steps.list(runId)) {
    const outputText = step.output.text ?? (await storedText(deps, runId, step))
    if (outputText === null) gone.push(step.name)
    else done.push({ name: step.name, outputText })
  }
  return { done, gone }
}

async function storedText({ blob, log }: ReadDoneDeps, runId: string, { name, output }: Step): Promise<string | null> {
  try {
    const bytes = await blob.get(output.ref, { bytes: output.bytes, sha256: output.hash })
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString()
  } catch (error) {
    if (!(error instanceof BlobMissing || error instanceof BlobDamaged)) throw error
    log.warn({ err: error, run_id: runId, step: name, output_ref: output.ref }, 'the stored output of a step is gone')
    return null
  }
}
