/**
 * What earlier attempts of a run have done, for the attempt that goes on. An output whose bytes are gone is left out: its step is
 * done again, and the same output puts them back.
 */

import { BlobMissing, type BlobStore } from '../blob/blob.ts'
import type { DoneStepObject } from '../contract/step.ts'
import type { Step } from '../store/ports/steps.ts'
import type { Store } from '../store/store.ts'
import type { Log } from '../telemetry/log.ts'

export type DoneStepsDeps = { store: Pick<Store, 'steps'>; blob: BlobStore; log: Log }

export async function doneSteps(deps: DoneStepsDeps, runId: string): Promise<DoneStepObject[]> {
  const done: DoneStepObject[] = []
  for (const step of await deps.store.steps.list(runId)) {
    const text = step.output.text ?? (await storedText(deps, runId, step))
    if (text !== null) done.push({ name: step.name, output: JSON.parse(text) })
  }
  return done
}

async function storedText({ blob, log }: DoneStepsDeps, runId: string, { name, output }: Step): Promise<string | null> {
  try {
    const bytes = await blob.get(output.ref)
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString()
  } catch (error) {
    if (!(error instanceof BlobMissing)) throw error
    log.warn({ run_id: runId, step: name, output_ref: output.ref }, 'the stored output of a step is gone')
    return null
  }
}
