/**
 * Takes a kind of mail away from an address, or all of them. Mails of it that wait are dropped; one that is being sent right
 * now still comes.
 */

import type pg from 'pg'
import type { MailKind } from '../run/fact-kinds.ts'
import { disableReceiver } from './disable-receiver.ts'
import { inTransaction } from './in-transaction.ts'
import { findAddress } from './list-receivers.ts'
import { lockReceiver } from './lock-receivers.ts'
import type { MailAddress } from './ports/receivers.ts'
import { wantEvents } from './want-events.ts'

const KEEP = `UPDATE receivers SET kinds = $2 WHERE id = $1`

const DROP = `
UPDATE deliveries SET state = 'DROPPED', finished_at = clock(), last_error = 'unsubscribed'
WHERE receiver_id = $1 AND state = 'PENDING' AND lease_token IS NULL AND ($2::text IS NULL OR kind = $2)`

export async function unsubscribe(pool: pg.Pool, id: string, kind: MailKind | null): Promise<MailAddress | null> {
  return inTransaction(pool, async (client) => {
    const receiver = await lockReceiver(client, id, null, 'mail')
    if (!receiver) return null
    const kinds = kind === null ? [] : receiver.kinds.filter((one) => one !== kind)
    // What it was is kept: an address always has kinds, and this says what it had.
    if (kinds.length === 0) await disableReceiver(client, id, 'Unsubscribed from everything.')
    else {
      await client.query(KEEP, [id, kinds])
      await wantEvents(client, { id, owner: receiver.owner, kinds, isEnabled: receiver.is_enabled })
    }
    await client.query(DROP, [id, kind])
    return findAddress(client, id, null)
  })
}
