/** Receivers in few words, documents by the thousand, and what was made for a receiver. */

import { randomUUID } from 'node:crypto'
import type { FactKind, MailKind } from '../../src/run/fact-kinds.ts'
import type { Store } from '../../src/store/store.ts'
import type { TestDatabase } from './database.ts'
import { newRun } from './new-run.ts'

/** A webhook of this owner; its id. */
export async function hearOf(store: Pick<Store, 'receivers'>, owner: string, ...kinds: FactKind[]): Promise<string> {
  const url = 'https://example.org/hook'
  const more = { url, description: null, secret: 'whsec_c2VjcmV0', slots: 8, createdBy: 'test' }
  return (await store.receivers.addWebhook({ id: randomUUID(), owner, kinds, ...more })).id
}

/** A mail address of this owner; its id. */
export async function mailTo(store: Pick<Store, 'receivers'>, owner: string, ...kinds: MailKind[]): Promise<string> {
  const id = randomUUID()
  return (await store.receivers.putAddress({ id, owner, address: `${id}@example.org`, kinds, createdBy: 'test' })).id
}

export type MadeDelivery = {
  id: string
  kind: string
  message_id: string
  data: Record<string, unknown>
  group_key: string | null
  state: string
  delay_seconds: number
}

/** In the order in which they are due. */
export function deliveriesTo({ query }: Pick<TestDatabase, 'query'>, receiverId: string): Promise<MadeDelivery[]> {
  return query<MadeDelivery>(
    `SELECT id, kind, message_id, data, group_key, state,
       round(extract(epoch FROM available_at - created_at))::int AS delay_seconds
     FROM deliveries WHERE receiver_id = $1 ORDER BY available_at, id`,
    [receiverId],
  )
}

/** Spreads until nothing is left. */
export async function spreadAll({ outbox }: Pick<Store, 'outbox'>, limit = 500): Promise<void> {
  while ((await outbox.spread(limit)).isMore);
}

/** As if they had been uploaded, without the bytes; their runs wait. Ids of runs. */
export async function addDocuments(
  store: Pick<Store, 'submitMany'>,
  { query }: Pick<TestDatabase, 'query'>,
  count: number,
  { owner, model = 'forecast', batchId = null }: { owner: string; model?: string; batchId?: string | null },
): Promise<string[]> {
  const runs = Array.from({ length: count }, () => newRun({ owner, model, batchId }))
  for (let first = 0; first < count; first += 500) {
    const answers = await store.submitMany(runs.slice(first, first + 500))
    for (const answer of answers) if (answer instanceof Error) throw answer
  }
  const ids = runs.map(({ id }) => id)
  const file = randomUUID().replaceAll('-', '').repeat(2)
  await query(`INSERT INTO files (id, bytes, type, ref, created_at) VALUES ($1, 1, 'text/plain', $1, clock())`, [file])
  await query(
    `INSERT INTO documents (owner, payload_hash, file_id, run_id, created_at)
     SELECT owner, payload_hash, $2, id, clock() FROM model_runs WHERE id = ANY($1)`,
    [ids, file],
  )
  return ids
}
