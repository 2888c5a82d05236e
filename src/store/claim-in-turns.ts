/**
 * Claims from lanes of nobody and from those of owners in turns.
 *
 * A worker without a queue with fair share has only the former, and its claims are what they always were. Otherwise both kinds go first in
 * turns, and the other gets the slots that are left. A queue can have both: runs that waited when fair share was switched on are
 * in lanes of nobody, and after it was switched off the lanes of owners are emptied; in turns, neither has to wait for the other's end.
 *
 * Which queues are fair is read every `lookBackMs` and when a claim finds nothing. At the same times owners are listed that are missing, and in
 * fair queues the lanes of nobody are looked at, which are empty as a rule.
 */

import type pg from 'pg'
import { type FairClaim, lessTaken } from './claim-fair.ts'
import { createListMissing, type FairQueues, readFairQueues } from './fair-owners.ts'
import type { ClaimRequest, Lease } from './store.ts'

type Claim = (request: ClaimRequest) => Promise<Lease[]>
type Parts = { pool: pg.Pool; lookBackMs: number; plain: Claim; fair: FairClaim }

export function claimInTurns({ pool, lookBackMs, plain, fair }: Parts): Claim {
  const listMissing = createListMissing(pool)
  let known: FairQueues | null = null
  let lookBackAt = 0
  let looking: Promise<void> | null = null
  /** How many owners were missing so far. */
  let listed = 0
  let turn = 0
  /** The last look into lanes of nobody in fair queues found something. */
  let foundUnowned = false

  return async function claim(request) {
    if (request.slots <= 0 || request.queues.length === 0 || request.models.length === 0) return []
    known ??= await readFairQueues(pool)
    const isDue = performance.now() >= lookBackAt
    const before = { listed, served: servedOf(request).length }
    // Nobody waits for this look.
    if (isDue && !looking) look().catch(() => {})
    const everywhere = isDue || foundUnowned
    const leases = await claimBoth(request, everywhere)
    if (leases.length > 0) return leases
    // A look that is under way may have begun before the run was there that this claim was woken for.
    await looking?.catch(() => {})
    await look()
    const served = servedOf(request).length
    const isNew = listed > before.listed || served > before.served || !everywhere
    return served > 0 && isNew ? claimBoth(request, true) : leases
  }

  function look(): Promise<void> {
    fair.lookBack()
    lookBackAt = Number.POSITIVE_INFINITY
    const mine = lookAround().finally(() => {
      if (looking === mine) looking = null
    })
    looking = mine
    return mine
  }

  async function lookAround(): Promise<void> {
    const startedAt = performance.now()
    try {
      known = await readFairQueues(pool)
      const found = known.waiting ? await listMissing() : 0
      listed += found
      // They may be of a queue that is not fair any more.
      if (found > 0) known = await readFairQueues(pool)
    } finally {
      // Where looking is slow, it is done less often, so that it never takes more than a twentieth of the time.
      const nowMs = performance.now()
      lookBackAt = nowMs + Math.max(lookBackMs, 20 * (nowMs - startedAt))
    }
  }

  /** The queues of the request that have lanes of owners. */
  function servedOf({ queues }: ClaimRequest): ClaimRequest['queues'] {
    return queues.filter(({ queue }) => known!.fair.has(queue) || known!.emptying.has(queue))
  }

  async function claimBoth(request: ClaimRequest, everywhere: boolean): Promise<Lease[]> {
    const served = servedOf(request)
    if (served.length === 0) return plain(request)
    turn += 1
    const { fair: fairNames } = known!
    const owned = rotated(served, turn).map(
      ({ queue }) =>
        (left: ClaimRequest) =>
          fair.claim(left, left.queues.find((other) => other.queue === queue)!),
    )
    const unowned = async (left: ClaimRequest) => {
      const queues = left.queues.filter(({ queue }) => everywhere || !fairNames.has(queue))
      const leases = queues.length > 0 ? await plain({ ...left, queues }) : []
      if (everywhere) foundUnowned = leases.some(({ queue }) => fairNames.has(queue))
      return leases
    }
    const claims = turn % 2 === 0 ? [unowned, ...owned] : [...owned, unowned]
    const leases: Lease[] = []
    try {
      for (const claimNext of claims) {
        const left = lessTaken(request, leases)
        if (left.slots > 0) leases.push(...(await claimNext(left)))
      }
    } catch (error) {
      // What is claimed already is ours and has to be worked on.
      if (leases.length === 0) throw error
    }
    return leases
  }
}

function rotated<Item>(items: Item[], by: number): Item[] {
  const first = by % items.length
  return [...items.slice(first), ...items.slice(0, first)]
}
