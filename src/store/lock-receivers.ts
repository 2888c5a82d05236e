/**
 * Locks receivers until the transaction ends, in the order of their ids, so that two who want several wait in line. Inserting
 * deliveries does not wait for it. Whoever changes what decides when a receiver is due (its deliveries, their leases, its
 * slots) takes this lock before it locks a delivery, so nobody waits in a circle, and statements after it see what the holder
 * before has committed.
 */

import type pg from 'pg'
import type { Channel } from './ports/receivers.ts'

const LOCK = `SELECT id FROM receivers WHERE id = ANY($1::uuid[]) ORDER BY id FOR NO KEY UPDATE`

/** `owner` null for everyone's. */
const LOCK_ONE = `
SELECT id, owner, kinds, is_enabled FROM receivers
WHERE id = $1 AND ($2::text IS NULL OR owner = $2) AND ($3::text IS NULL OR channel = $3) FOR NO KEY UPDATE`

export type LockedReceiver = { id: string; owner: string; kinds: string[]; is_enabled: boolean }

export async function lockReceivers(client: pg.ClientBase, ids: readonly string[]): Promise<void> {
  await client.query({ name: 'lock_receivers', text: LOCK, values: [ids] })
}

export async function lockReceiver(
  client: pg.ClientBase,
  id: string,
  owner: string | null,
  channel: Channel | null,
): Promise<LockedReceiver | null> {
  return (await client.query<LockedReceiver>(LOCK_ONE, [id, owner, channel])).rows[0] ?? null
}
