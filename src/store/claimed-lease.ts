/**
 * How a row of a claim becomes a lease that knows its place in its lane. Claims answer with values in the order of their columns: a driver's
 * objects of nineteen names each cost a worker more than the leases it makes of them.
 */

import type { Lease } from './store.ts'

export type ClaimedLease = Lease & { lane: number; availableAtUs: number }

/** How many values that is. */
export const CLAIMED_VALUES = 19

/** In the order of `CLAIMED_COLUMNS`. */
export function claimedOfValues(values: unknown[]): ClaimedLease {
  return {
    runId: values[0] as string,
    lane: values[1] as number,
    availableAtUs: values[2] as number,
    epoch: values[3] as number,
    attempt: values[4] as number,
    owner: values[5] as string,
    model: values[6] as string,
    modelVersion: values[7] as string,
    queue: values[8] as string,
    executor: values[9] as string,
    parameters: values[10],
    payloadHash: values[11] as string,
    seed: values[12] as number,
    timeoutSeconds: values[13] as number,
    maxAttempts: values[14] as number,
    releaseCount: values[15] as number,
    reclaimCount: values[16] as number,
    queuedSeconds: values[17] as number,
    startedSeconds: values[18] as number,
  }
}
