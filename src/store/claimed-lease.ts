/** How a row of a claim, values in the order of their columns, becomes a lease that knows its place in its lane. */

import type { TextRow } from './ask.ts'
import type { Lease } from './store.ts'

export type ClaimedLease = Lease & { lane: number; availableAtUs: number }

/** How many values that is. */
export const CLAIMED_VALUES = 20

/** In the order of `CLAIMED_COLUMNS`. */
export function claimedOfRow(row: TextRow): ClaimedLease {
  return {
    runId: row[0]!,
    lane: Number(row[1]),
    availableAtUs: Number(row[2]),
    epoch: Number(row[3]),
    attempt: Number(row[4]),
    owner: row[5]!,
    model: row[6]!,
    modelVersion: row[7]!,
    queue: row[8]!,
    executor: row[9]!,
    parameters: JSON.parse(row[10]!),
    payloadHash: row[11]!,
    seed: Number(row[12]),
    timeoutSeconds: Number(row[13]),
    maxAttempts: Number(row[14]),
    releaseCount: Number(row[15]),
    reclaimCount: Number(row[16]),
    queuedSeconds: Number(row[17]),
    startedSeconds: Number(row[18]),
    row: row[19]!,
  }
}
