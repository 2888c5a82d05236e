/** What is done of a run, as remote workers get it. */

import type { BlobStore } from '../blob/blob.ts'
import type { DoneStepObject } from '../contract/step.ts'
import type { Store } from '../store/store.ts'
import type { Log } from '../telemetry/log.ts'
import { readDoneSteps } from '../worker/read-done-steps.ts'

export type DoneStepsDeps = { store: Pick<Store, 'steps'>; blob: BlobStore; log: Log }

export async function doneSteps({ store, blob, log }: DoneStepsDeps, runId: string): Promise<DoneStepObject[]> {
  const { done } = await readDoneSteps({ steps: store.steps, blob, log }, runId)
  return done.map(({ name, outputText }) => ({ name, output: JSON.parse(outputText) }))
}
