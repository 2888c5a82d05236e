/**
 * Claim from one queue with fair share: its owners in turns, each by priority and then in order of availability.
 *
 * One statement shares the slots out (`claim-fair-statements.ts`). It may leave some free though runs wait: it looks at a bounded number of
 * owners, some of them may have nothing left, and others may be locked by another worker's claim. So it is repeated, a few times at most.
 *
 * While one owner waits alone, as in a queue that few use, there is nothing to share, and a claim is hardly more than in any queue.
 *
 * Places in lanes are remembered between claims as in other queues, where many runs were taken from one lane.
 */

import type pg from 'pg'
import { ask, type TextRow } from './ask.ts'
import { CLAIM_ALONE, CLAIM_FAIR, CLAIM_FAIR_IN_ROOMS, MOVE_ON, WAIT_FOR_OWNER } from './claim-fair-statements.ts'
import { claimOneByOne, claimOrName, type Place } from './claim-one-by-one.ts'
import { CLAIMED_VALUES, type ClaimedLease, claimedOfRow } from './claimed-lease.ts'
import { createPace } from './fair-pace.ts'
import { connectionsOf } from './kept-connection.ts'
import { isBadRow, isLockTimeout } from './pg-errors.ts'
import type { ClaimRequest, Lease } from './store.ts'

const ROUNDS_MAX = 24
/** A place is worth sending once so many runs were taken from its lane. */
const PLACE_AFTER = 128
const PLACES_MAX = 200
/** Smaller ones always serve an owner one run at a time. */
const LARGE_CLAIM = 64
/** Owners looked at beyond those the free slots are for: at first, and after rounds in which none of them had a run. */
const MORE_OWNERS = 4
const MORE_OWNERS_MAX = 1_024

/** `changed`: owners who turned out to have nothing left, or something after all. `locked`: one that was left out. */
type Facts = { seen: number; held: number; cut: boolean; unfinished: number; changed: number; locked: string | null }
type Round = { leases: ClaimedLease[]; facts: Facts }
type Asked = {
  queue: string
  slots: number
  models: ClaimRequest['models']
  atOnce: number
  moreOwners: number
  how: unknown[]
}

export type FairClaim = {
  /** From lanes of owners in that queue of the request. */
  claim(request: ClaimRequest, queue: ClaimRequest['queues'][number]): Promise<Lease[]>
  /** Forgets the places in lanes: runs can appear before them. */
  lookBack(): void
}

export function createFairClaim(pool: pg.Pool, connections = connectionsOf(pool)): FairClaim {
  const places = new Map<number, { atUs: number; id: string; taken: number }>()
  /** Queues in which the last claim met one owner. */
  const lonely = new Set<string>()
  const pace = createPace()

  function advance(lane: number, atUs: number, id: string, taken = 1): void {
    const place = places.get(lane)
    if (!place) {
      places.set(lane, { atUs, id, taken })
      return
    }
    place.taken += taken
    if (atUs < place.atUs || (atUs === place.atUs && id <= place.id)) return
    place.atUs = atUs
    place.id = id
  }

  function placesText(): string {
    const sent = [...places].filter(([, { taken }]) => taken >= PLACE_AFTER).slice(-PLACES_MAX)
    return JSON.stringify(Object.fromEntries(sent.map(([lane, { atUs, id }]) => [lane, [atUs, id]])))
  }

  function pickValues({ queue, slots, models, atOnce, moreOwners }: Asked): unknown[] {
    return [
      slots,
      queue,
      models.map(({ model }) => model),
      models.map(({ version }) => version),
      models.map(({ room }) => room),
      placesText(),
      Math.ceil(slots / atOnce) + moreOwners,
      atOnce,
    ]
  }

  /** Nothing when several owners wait. A damaged run is left to the other statement. */
  async function takeAlone(asked: Asked): Promise<ClaimedLease[]> {
    try {
      const values = [...pickValues(asked).slice(0, -2), ...asked.how]
      return (await ask(pool, CLAIM_ALONE, values)).map(claimedOfRow)
    } catch (error) {
      if (isBadRow(error)) return []
      throw error
    }
  }

  async function takeOnce(asked: Asked): Promise<Round> {
    const { queue, how } = asked
    const picking = pickValues(asked)
    const statements = asked.models.some(({ room }) => room !== null) ? CLAIM_FAIR_IN_ROOMS : CLAIM_FAIR
    const found = await claimOrName(connections, { ...statements, picking, how })
    if (found.rows) return roundOf(found.rows)
    const passBy = ({ lane, available_at_us, id }: Place) => advance(lane, available_at_us, id, PLACE_AFTER)
    const leases = await claimOneByOne(pool, found.places, how, passBy)
    await pool.query(MOVE_ON, [queue, leases.map(({ owner }) => owner)])
    const count = leases.length
    return {
      leases,
      facts: { seen: count, held: count, cut: false, unfinished: count, changed: 0, locked: null },
    }
  }

  /** Whether another round may find more. */
  async function isWorthMore(queue: string, { leases, facts }: Round): Promise<boolean> {
    const { seen, held, cut, unfinished, changed, locked } = facts
    if (leases.length > 0) return cut || held < seen || unfinished > 0
    if (locked === null) return changed > 0 && (cut || unfinished > 0)
    try {
      await pool.query(WAIT_FOR_OWNER, [queue, locked])
      return true
    } catch (error) {
      if (isLockTimeout(error)) return false
      throw error
    }
  }

  return {
    lookBack: () => places.clear(),
    async claim(request, { queue, room }) {
      const how = [request.workerId, request.leaseMs, request.engines ?? []]
      const claimed: ClaimedLease[] = []
      let moreOwners = MORE_OWNERS
      try {
        for (let round = 0; round < ROUNDS_MAX; round += 1) {
          const left = lessTaken(request, claimed)
          const slots = Math.min(left.slots, room === null ? left.slots : room - claimed.length)
          const models = left.models.filter((model) => model.room === null || model.room > 0)
          if (slots <= 0 || models.length === 0) break
          const isLarge = slots >= LARGE_CLAIM
          const atOnce = isLarge ? pace.atOnce() : 1
          const asked = { queue, slots, models, atOnce, moreOwners, how }
          const alone = lonely.has(queue) ? await takeAlone(asked) : []
          const taken = alone.length > 0 ? { leases: alone, facts: null } : await takeOnce(asked)
          for (const { lane, availableAtUs, runId } of taken.leases) advance(lane, availableAtUs, runId)
          claimed.push(...taken.leases)
          pace.took(taken.leases.length)
          if (!taken.facts) break
          // What a limit of room left free says nothing about owners.
          if (isLarge && models.every((model) => model.room === null))
            pace.got(taken.leases.length, taken.facts.held, taken.leases.length === slots)
          if (taken.facts.seen === 1) lonely.add(queue)
          else lonely.delete(queue)
          if (!(await isWorthMore(queue, taken))) break
          if (taken.leases.length === 0) moreOwners = Math.min(4 * moreOwners, MORE_OWNERS_MAX)
        }
      } catch (error) {
        // What was claimed in earlier rounds is ours and has to be worked on.
        if (claimed.length === 0) throw error
      }
      return claimed
    },
  }
}

/** The facts are in the last row, where the columns of a run are empty. */
function roundOf(rows: TextRow[]): Round {
  const facts = JSON.parse(rows.at(-1)![CLAIMED_VALUES]!) as Facts
  return { leases: rows.slice(0, -1).map(claimedOfRow), facts }
}

/** The request without the slots and the room that these runs take. */
export function lessTaken(
  request: ClaimRequest,
  taken: readonly Pick<Lease, 'queue' | 'model' | 'modelVersion'>[],
): ClaimRequest {
  if (taken.length === 0) return request
  const slots = request.slots - taken.length
  if ([...request.queues, ...request.models].every(({ room }) => room === null)) return { ...request, slots }
  const counts = new Map<string, number>()
  const count = (name: string) => counts.set(name, (counts.get(name) ?? 0) + 1)
  for (const run of taken) {
    count(`queue ${run.queue}`)
    count(`model ${run.model}\u0000${run.modelVersion}`)
  }
  const less = (room: number | null, name: string) => (room === null ? null : room - (counts.get(name) ?? 0))
  return {
    ...request,
    slots,
    queues: request.queues.map((q) => ({ ...q, room: less(q.room, `queue ${q.queue}`) })),
    models: request.models.map((m) => ({ ...m, room: less(m.room, `model ${m.model}\u0000${m.version}`) })),
  }
}
