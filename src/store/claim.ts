/**
 * Claim: a worker takes runs of its queues and models, by priority and then in order of availability. Two workers at once skip each other's
 * rows and take the next ones.
 *
 * The lanes a worker may serve are remembered and read again when a claim finds nothing, which it does whenever a new lane has appeared.
 *
 * While some transaction elsewhere keeps old row versions alive, the dead entries of finished runs stay at the head of each lane. The
 * cursor therefore lets a claim start where the last one ended. Runs can appear behind it (a slow commit, a release), so
 * every `lookBackMs` a claim starts at the beginning; when that turns out slow it is done less often, so that it never
 * takes more than a twentieth of the time.
 *
 * A run whose rows are damaged makes the whole statement fail. Then the runs are claimed one by one and the cursor passes by the
 * damaged one, so that it holds up nobody else.
 *
 * Lanes of owners, which only queues with fair share have, are claimed from by `claim-fair.ts`, in turns with these.
 */

import type pg from 'pg'
import { createFairClaim } from './claim-fair.ts'
import { claimInTurns } from './claim-in-turns.ts'
import { claimOneByOne, claimOrName, type Place } from './claim-one-by-one.ts'
import { ONE_LANE, SEVERAL_LANES } from './claim-statements.ts'
import { type ClaimedLease, claimedOfRow } from './claimed-lease.ts'
import { type Connections, connectionsOf } from './kept-connection.ts'
import type { ClaimRequest, Lease } from './store.ts'

type Lane = { lane: number; queue: string; model: string; version: string; priority: number }

const READ_LANES = `
SELECT lane, queue, model, model_version AS version, priority, (SELECT max(lane) FROM lanes) AS youngest
FROM lanes WHERE queue = ANY ($1::text[]) AND (model, model_version) IN (SELECT * FROM unnest($2::text[], $3::text[])) AND owner = ''`

/** The place in each lane up to which this worker has claimed. */
type Cursor = Map<number, { atUs: number; id: string }>

/** `connections`: for the claims alone. */
export type ClaimOptions = { pool: pg.Pool; connections?: Connections; lookBackMs?: number }

export function createClaim(options: ClaimOptions): (request: ClaimRequest) => Promise<Lease[]> {
  const { pool, lookBackMs = 1_000, connections = connectionsOf(pool) } = options
  const plain = createPlainClaim({ pool, connections, lookBackMs })
  return claimInTurns({ pool, lookBackMs, plain, fair: createFairClaim(pool, connections) })
}

/** Of the lanes that belong to no owner. */
function createPlainClaim(options: Required<ClaimOptions>): (request: ClaimRequest) => Promise<Lease[]> {
  const { pool, connections, lookBackMs } = options
  const cursor: Cursor = new Map()
  let lookBackAt = 0
  let known: KnownLanes | null = null

  return async function claim(request: ClaimRequest): Promise<Lease[]> {
    if (request.slots <= 0 || request.queues.length === 0 || request.models.length === 0) return []
    const startedAt = performance.now()
    const lookBack = startedAt >= lookBackAt
    if (lookBack) cursor.clear()
    if (!known?.covers(request)) known = await readLanes(pool, request)
    try {
      const leases = await takeOrLookAgain(request, known)
      for (const { lane, availableAtUs, runId } of leases) advance(cursor, lane, availableAtUs, runId)
      return leases
    } finally {
      if (lookBack) lookBackAt = nextLookBack(startedAt)
      // Numbers are not given in the order of commits: a lane may have become visible after a younger one. Nobody waits for this look.
      if (lookBack) void readLanes(pool, request).then(remember, () => {})
    }
  }

  async function takeOrLookAgain(request: ClaimRequest, { youngest }: KnownLanes): Promise<ClaimedLease[]> {
    const leases = await take(request, known!)
    if (leases.length > 0) return leases
    known = await readLanes(pool, request)
    return known.youngest > youngest ? take(request, known) : leases
  }

  function remember(lanes: KnownLanes): void {
    known = lanes
  }

  function nextLookBack(startedAt: number): number {
    const nowMs = performance.now()
    return nowMs + Math.max(lookBackMs, 20 * (nowMs - startedAt))
  }

  async function take(request: ClaimRequest, { lanes, youngest }: KnownLanes): Promise<ClaimedLease[]> {
    const lines = linesOf(lanes, request)
    if (lines.length === 0) return []
    const { claim, pick } = lines.length === 1 ? ONE_LANE : SEVERAL_LANES
    const picking = pickValues(lines, request.slots, youngest, cursor)
    const how = [request.workerId, request.leaseMs, request.engines ?? []]
    const { rows, places } = await claimOrName(connections, { claim, pick, picking, how })
    if (rows) return rows.map(claimedOfRow)
    const passBy = ({ lane, available_at_us, id }: Place) => advance(cursor, lane, available_at_us, id)
    return claimOneByOne(pool, places, how, passBy)
  }
}

/** Of the queues and models asked for; whoever asks for others has to read again. */
type KnownLanes = { lanes: Lane[]; youngest: number; covers(request: ClaimRequest): boolean }

async function readLanes(pool: pg.Pool, { queues, models }: ClaimRequest): Promise<KnownLanes> {
  const { rows } = await pool.query<Lane & { youngest: number }>({
    name: 'read_lanes',
    text: READ_LANES,
    values: [queues.map((q) => q.queue), models.map((m) => m.model), models.map((m) => m.version)],
  })
  const queueNames = new Set(queues.map((q) => q.queue))
  const modelNames = new Set(models.map(modelName))
  return {
    lanes: rows,
    youngest: rows[0]?.youngest ?? 0,
    covers: (request) =>
      request.queues.every((q) => queueNames.has(q.queue)) && request.models.every((m) => modelNames.has(modelName(m))),
  }
}

function modelName({ model, version }: { model: string; version: string }): string {
  return `${model}\u0000${version}`
}

type Line = Lane & { queueRoom: number | null; modelRoom: number | null; modelNo: number }

/** The lanes with the room that is left for them, without those that have none. */
function linesOf(lanes: Lane[], { queues, models }: ClaimRequest): Line[] {
  const queueRooms = new Map(queues.map((q) => [q.queue, q.room]))
  const modelRooms = new Map(models.map((m, modelNo) => [modelName(m), { modelRoom: m.room, modelNo }]))
  return lanes.flatMap((lane) => {
    const queueRoom = queueRooms.get(lane.queue)
    const ofModel = modelRooms.get(modelName(lane))
    return queueRoom === undefined || !ofModel ? [] : [{ ...lane, ...ofModel, queueRoom }]
  })
}

function pickValues(lines: Line[], slots: number, youngest: number, cursor: Cursor): unknown[] {
  const places = lines.map(({ lane }) => cursor.get(lane))
  if (lines.length === 1) {
    const { lane, queue, queueRoom, modelRoom } = lines[0]!
    const room = Math.min(slots, queueRoom ?? slots, modelRoom ?? slots)
    return [room, youngest, lane, queue, places[0]?.atUs ?? null, places[0]?.id ?? null]
  }
  return [
    slots,
    youngest,
    lines.map(({ lane }) => lane),
    lines.map(({ queue }) => queue),
    places.map((place) => place?.atUs ?? null),
    places.map((place) => place?.id ?? null),
    lines.map(({ priority }) => priority),
    lines.map(({ modelNo }) => modelNo),
    lines.map(({ queueRoom }) => queueRoom),
    lines.map(({ modelRoom }) => modelRoom),
  ]
}

function advance(cursor: Cursor, lane: number, atUs: number, id: string): void {
  const place = cursor.get(lane)
  if (!place) cursor.set(lane, { atUs, id })
  else if (atUs > place.atUs || (atUs === place.atUs && id > place.id)) Object.assign(place, { atUs, id })
}
