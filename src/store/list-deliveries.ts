/**
 * Pages of deliveries, newest first. A page looks at a bounded number of deliveries, so that a filter which nothing fits reads
 * no whole history: it may be short or empty, and goes on behind the last one it looked at as long as there is a cursor
 * (docs/adr/0005-bounded-pages.md).
 */

import type pg from 'pg'
import { DELIVERY_COLUMNS, type DeliveryRow, deliveryOfRow } from './delivery-row.ts'
import { inTransaction } from './in-transaction.ts'
import { cursorOfMoment, momentOfCursor } from './moment-cursor.ts'
import type { Delivery, DeliveryFilter } from './ports/deliveries.ts'
import type { Page } from './ports/receivers.ts'

const LOOKED_AT_MAX = 5_000

/** The rarest way first: what a receiver was sent, what did not go as it should, what an owner was told, everything. */
const WALKS = { receiver: 'receiver_id', state: 'state', owner: 'owner', all: null }
type Walk = keyof typeof WALKS

// An owner sees what its own receivers were sent; what others were told of its runs is theirs.
const FITS = `($4::text IS NULL OR w.owner = $4 AND EXISTS (SELECT FROM receivers r WHERE r.id = w.receiver_id AND r.owner = $4))
  AND ($5::text IS NULL OR w.state = $5) AND ($6::text IS NULL OR w.channel = $6)
  AND ($7::uuid IS NULL OR w.receiver_id = $7) AND ($8::text IS NULL OR w.kind = $8)`

// The column of the way stands in the order and in no equality, so that only its own index can serve it without sorting.
export const WALK_SETTINGS = ['enable_seqscan = off', 'enable_sort = off', 'enable_incremental_sort = off'] as const
const BEGIN_WALK = WALK_SETTINGS.map((setting) => `SET LOCAL ${setting}`).join('; ')

function walkStatement(walk: Walk, lookedAtMax: number): string {
  const columns = 'd.id, d.receiver_id, d.owner, d.state, d.channel, d.kind, d.created_at'
  const is = WALKS[walk]
  const [before, order] =
    is === null
      ? ['$3::text IS NULL AND (d.created_at, d.id) < ($1::timestamptz, $2::uuid)', 'd.created_at DESC, d.id DESC']
      : [
          `d.${is} >= $3 AND (d.${is}, d.created_at, d.id) < ($3, $1::timestamptz, $2::uuid)`,
          `d.${is} DESC, d.created_at DESC, d.id DESC`,
        ]
  return `SELECT ${columns} FROM deliveries d WHERE ${before} ORDER BY ${order} LIMIT ${lookedAtMax}`
}

const listStatement = (walk: Walk, lookedAtMax: number) => `
WITH walked AS MATERIALIZED (
  ${walkStatement(walk, lookedAtMax)}
), fitting AS MATERIALIZED (
  SELECT w.id, w.created_at FROM walked w WHERE ${FITS} ORDER BY w.created_at DESC, w.id DESC LIMIT $9
)
SELECT ${DELIVERY_COLUMNS}, true AS fits FROM fitting f JOIN deliveries d ON d.id = f.id
UNION ALL
SELECT ${DELIVERY_COLUMNS}, false FROM (
  SELECT id FROM walked ORDER BY created_at, id LIMIT 1) last JOIN deliveries d ON d.id = last.id
WHERE (SELECT count(*) FROM walked) = ${lookedAtMax}
ORDER BY fits DESC, created_at DESC, id DESC`

export async function listDeliveries(pool: pg.Pool, filter: DeliveryFilter): Promise<Page<Delivery>> {
  const page = await inTransaction(pool, async (client) => {
    await client.query(BEGIN_WALK)
    return walkDeliveries(client, filter, LOOKED_AT_MAX)
  })
  return page!
}

/** On a connection with `WALK_SETTINGS`. */
export async function walkDeliveries(
  client: Pick<pg.ClientBase, 'query'>,
  filter: DeliveryFilter,
  lookedAtMax: number,
): Promise<Page<Delivery>> {
  const { owner, state, channel, receiverId, kind, limit, cursor } = filter
  const [walk, is] = walkOf(filter)
  const fits = [owner, state ?? null, channel ?? null, receiverId ?? null, kind ?? null]
  const { rows } = await client.query<DeliveryRow & { fits: boolean }>(listStatement(walk, lookedAtMax), [
    ...momentOfCursor(cursor),
    is,
    ...fits,
    limit + 1,
  ])
  const found = rows.filter((row) => row.fits)
  const shown = found.slice(0, limit)
  const last = found.length > limit ? shown.at(-1) : rows.find((row) => !row.fits)
  return { data: shown.map(deliveryOfRow), nextCursor: last ? cursorOfMoment(last) : null }
}

/** Most are DELIVERED, so that state leads nowhere. */
function walkOf({ owner, state, receiverId }: DeliveryFilter): [Walk, string | null] {
  if (receiverId !== undefined) return ['receiver', receiverId]
  if (state !== undefined && (state !== 'DELIVERED' || owner === null)) return ['state', state]
  return owner === null ? ['all', null] : ['owner', owner]
}
