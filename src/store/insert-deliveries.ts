/**
 * Deliveries as rows, each once: a message that its receiver has already is left as it is, and a mail that waits for
 * more of its kind is joined as long as nobody has begun to send it. Receivers are locked first: from then on no claim
 * looks at their deliveries until all of them are there.
 */

import type pg from 'pg'
import { MAIL_DOCUMENTS_MAX } from '../run/fact.ts'
import type { NewDelivery } from '../run/spread.ts'
import { createDeliveryIds } from './delivery-ids.ts'

const MOVE_DUE = `
WITH locked AS MATERIALIZED (
  SELECT r.id FROM receivers r WHERE r.id = ANY($1::uuid[]) AND r.is_enabled ORDER BY r.id FOR NO KEY UPDATE
)
UPDATE receivers r SET due_at = LEAST(r.due_at, LEAST(n.at, clock()), clock() + n.delay_seconds * interval '1 second')
FROM unnest($1::uuid[], $2::timestamptz[], $3::float8[]) AS n(id, at, delay_seconds), locked
WHERE r.id = ANY (ARRAY[n.id]) AND locked.id = n.id
RETURNING r.id, r.kinds`

const COLUMNS = 'id, receiver_id, channel, owner, kind, message_id, data, created_at, available_at'

const INSERT = `
INSERT INTO deliveries (${COLUMNS})
SELECT id, receiver_id, channel, owner, kind, message_id, data::jsonb, clock(), LEAST(at, clock())
FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::timestamptz[])
  AS n(id, receiver_id, channel, owner, kind, message_id, data, at)
ON CONFLICT (receiver_id, message_id) DO NOTHING`

const JOIN = `
INSERT INTO deliveries AS d (${COLUMNS}, group_key)
SELECT id, receiver_id, channel, owner, kind, message_id, data::jsonb, clock(),
  clock() + window_seconds * interval '1 second', group_key
FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::float8[])
  AS n(id, receiver_id, channel, owner, kind, message_id, data, group_key, window_seconds)
ORDER BY receiver_id, group_key
ON CONFLICT (receiver_id, group_key) WHERE group_key IS NOT NULL AND state = 'PENDING' AND attempts = 0
DO UPDATE SET data = d.data || jsonb_build_object(
  'documents', (SELECT jsonb_agg(document ORDER BY no)
    FROM jsonb_array_elements((d.data->'documents') || (excluded.data->'documents')) WITH ORDINALITY AS a(document, no)
    WHERE no <= ${MAIL_DOCUMENTS_MAX}),
  'more', (d.data->>'more')::int + (excluded.data->>'more')::int + GREATEST(0,
    jsonb_array_length(d.data->'documents') + jsonb_array_length(excluded.data->'documents') - ${MAIL_DOCUMENTS_MAX}))`

/** How many rows were made or joined. */
export async function insertDeliveries(client: pg.ClientBase, deliveries: readonly NewDelivery[]): Promise<number> {
  if (deliveries.length === 0) return 0
  const kindsOf = await moveDue(client, deliveries)
  // Who was removed or disabled meanwhile, or does not want this any more, gets nothing.
  const wanted = deliveries.filter(({ receiverId, kind }) => kindsOf.get(receiverId)?.includes(kind))
  const newId = createDeliveryIds()
  const plain = wanted.filter(({ group }) => group === null)
  const grouped = wanted.filter(({ group }) => group !== null)
  let made = 0
  if (plain.length > 0) {
    const values = [...columnsOf(plain, newId), plain.map(({ at }) => at!.toISOString())]
    made += (await client.query({ name: 'insert_deliveries', text: INSERT, values })).rowCount ?? 0
  }
  if (grouped.length > 0) {
    const keys = [grouped.map(({ group }) => group!.key), grouped.map(({ group }) => group!.windowSeconds)]
    const values = [...columnsOf(grouped, newId), ...keys]
    made += (await client.query({ name: 'join_deliveries', text: JOIN, values })).rowCount ?? 0
  }
  return made
}

type Due = { at: Date | null; delaySeconds: number | null }

async function moveDue(client: pg.ClientBase, deliveries: readonly NewDelivery[]): Promise<Map<string, string[]>> {
  const dues = new Map<string, Due>()
  for (const { receiverId, at, group } of deliveries) {
    const due = dues.get(receiverId) ?? { at: null, delaySeconds: null }
    if (group === null && (due.at === null || at! < due.at)) due.at = at
    if (group !== null) due.delaySeconds = Math.min(due.delaySeconds ?? Number.POSITIVE_INFINITY, group.windowSeconds)
    dues.set(receiverId, due)
  }
  const all = [...dues.values()]
  const values = [
    [...dues.keys()],
    all.map(({ at }) => at?.toISOString() ?? null),
    all.map(({ delaySeconds }) => delaySeconds),
  ]
  const { rows } = await client.query<{ id: string; kinds: string[] }>({ name: 'move_due', text: MOVE_DUE, values })
  return new Map(rows.map(({ id, kinds }) => [id, kinds]))
}

function columnsOf(deliveries: readonly NewDelivery[], newId: () => string): unknown[] {
  return [
    deliveries.map(newId),
    deliveries.map(({ receiverId }) => receiverId),
    deliveries.map(({ channel }) => channel),
    deliveries.map(({ owner }) => owner),
    deliveries.map(({ kind }) => kind),
    deliveries.map(({ messageId }) => messageId),
    deliveries.map(({ data }) => JSON.stringify(data)),
  ]
}
