/** A request for a run as the store takes it: valid, unlike every other one, and changed field by field by the test. */

import { createHash } from 'node:crypto'
import { createRunIds } from '../../src/api/run-id.ts'
import type { NewRun } from '../../src/store/store.ts'

const newRunId = createRunIds()
let made = 0

/** Without a name unless the test gives one. Text and hash follow from the parameters, so equal parameters are an equal payload. */
export function newRun(changes: Partial<NewRun> = {}): NewRun {
  made += 1
  const parameters = changes.parameters ?? { no: made, process: process.pid }
  const parametersText = changes.parametersText ?? JSON.stringify(parameters)
  const model = changes.model ?? 'forecast'
  const modelVersion = changes.modelVersion ?? '1'
  return {
    id: newRunId(),
    owner: 'default',
    model,
    modelVersion,
    queue: 'default',
    priority: 0,
    executor: 'inline',
    parameters,
    parametersText,
    payloadHash: createHash('sha256').update(`${model} ${modelVersion} ${parametersText}`).digest('hex'),
    seed: made,
    maxAttempts: 3,
    timeoutSeconds: 3600,
    expectedSeconds: null,
    availableAt: null,
    key: null,
    slot: null,
    title: null,
    tags: [],
    batchId: null,
    retryOf: null,
    traceParent: null,
    ...changes,
  }
}

export function key(name: string, ttlSeconds = 86_400): NewRun['key'] {
  return { key: name, ttlSeconds }
}

export function slot(dedupe: 'active' | 'succeeded' = 'active', windowSeconds = 600): NewRun['slot'] {
  return { dedupe, windowSeconds }
}
