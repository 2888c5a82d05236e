/**
 * A blocked run: PENDING, and kept from every claim by a time that never comes. The time is a mark and is never shown; why the run
 * waits is told instead.
 */

export const BLOCKED_UNTIL = new Date('9999-01-01T00:00:00.000Z')

export type BlockReason = 'approval' | 'concurrency'

/** Requests may ask for times some years ahead at most, so no other run has such a time. */
export function isBlocked({ availableAt }: { availableAt: Date }): boolean {
  return availableAt.getTime() >= BLOCKED_UNTIL.getTime()
}
