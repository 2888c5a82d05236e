/**
 * What a name already taken means for a new request. A name is an explicit idempotency key, an implicit payload slot, or the id of
 * the finished run that a new one retries; each leads to one run of one owner.
 */

import { isTerminal, type RunStatus } from './status.ts'

export type WantedName = {
  kind: 'key' | 'slot' | 'retry'
  runId: string
  payloadHash: string
  /** For a slot: whether a finished success counts as the answer. */
  dedupe: 'active' | 'succeeded'
}

export type TakenName = { runId: string; payloadHash: string; expired: boolean; status: RunStatus }

/**
 * `mine`: an earlier sending of this very request was committed. `hit`: the existing run is the answer. `conflict`: the key
 * belongs to another payload. `free`: the name has lapsed and may be taken over.
 */
export type NameVerdict = 'mine' | 'hit' | 'conflict' | 'free'

export function judgeName(wanted: WantedName, taken: TakenName): NameVerdict {
  if (taken.runId === wanted.runId) return 'mine'
  const active = !isTerminal(taken.status)
  if (wanted.kind === 'key') {
    // A key lives its time, and in any case as long as its run.
    if (taken.expired && !active) return 'free'
    return taken.payloadHash === wanted.payloadHash ? 'hit' : 'conflict'
  }
  // A retry is held as long as it is active, whatever the clock says; afterwards the run may be retried anew.
  if (wanted.kind === 'retry') return active ? 'hit' : 'free'
  if (taken.expired) return 'free'
  return active || (wanted.dedupe === 'succeeded' && taken.status === 'SUCCEEDED') ? 'hit' : 'free'
}
