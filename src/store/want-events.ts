/**
 * What must be written down for a receiver, kept in step with its kinds: none for a disabled one. In the transaction that
 * changes the receiver.
 */

import type pg from 'pg'
import { type FactKind, type MailKind, wantedEvents } from '../run/fact-kinds.ts'

const FORGET = `DELETE FROM wanted_events WHERE receiver_id = $1 AND type <> ALL($2::text[])`

const WANT = `
INSERT INTO wanted_events (owner, type, only_batches, receiver_id)
SELECT $2, w.type, w.only_batches, $1 FROM unnest($3::text[], $4::boolean[]) AS w(type, only_batches)
ON CONFLICT (owner, type, receiver_id) DO UPDATE SET only_batches = excluded.only_batches
WHERE wanted_events.only_batches <> excluded.only_batches`

export async function wantEvents(
  client: pg.ClientBase,
  { id, owner, kinds, isEnabled }: { id: string; owner: string; kinds: readonly string[]; isEnabled: boolean },
): Promise<void> {
  const wanted = isEnabled ? wantedEvents(kinds as (FactKind | MailKind)[]) : []
  const types = wanted.map(({ type }) => type)
  await client.query(FORGET, [id, types])
  if (wanted.length > 0) await client.query(WANT, [id, owner, types, wanted.map(({ onlyBatches }) => onlyBatches)])
}
