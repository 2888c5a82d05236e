/** A lease for tests that need no database. */

import type { Lease } from '../../src/store/store.ts'

export function fakeLease(changes: Partial<Lease> = {}): Lease {
  return {
    runId: '01900000-0000-7000-8000-000000000001',
    epoch: 1,
    attempt: 1,
    owner: 'default',
    model: 'forecast',
    modelVersion: '1',
    queue: 'default',
    executor: 'inline',
    parameters: {},
    payloadHash: 'f'.repeat(64),
    seed: 7,
    timeoutSeconds: 60,
    maxAttempts: 3,
    releaseCount: 0,
    reclaimCount: 0,
    queuedSeconds: 1,
    startedSeconds: 0,
    ...changes,
  }
}
