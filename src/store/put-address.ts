/** Adds a mail address of an owner, or sets what it gets mail about. */

import type pg from 'pg'
import { inTransaction } from './in-transaction.ts'
import { findAddress } from './list-receivers.ts'
import { lockReceiver } from './lock-receivers.ts'
import { isUniqueViolation } from './pg-errors.ts'
import type { MailAddress, NewMailAddress } from './ports/receivers.ts'
import { refreshDue } from './refresh-due.ts'
import { wantEvents } from './want-events.ts'

/** One mail after the other: they come in order of age. */
const SLOTS = 1

const FIND = `SELECT id FROM mail_addresses WHERE owner = $1 AND address = $2`

const ADD = `
WITH r AS (
  INSERT INTO receivers (id, channel, owner, kinds, slots, created_at, created_by)
  VALUES ($1, 'mail', $2, $3, ${SLOTS}, clock(), $4) RETURNING id, owner
)
INSERT INTO mail_addresses (id, owner, address) SELECT id, owner, $5 FROM r`

const SET = `UPDATE receivers SET kinds = $2, is_enabled = true, disabled_reason = NULL, failures = 0 WHERE id = $1`

export async function putAddress(pool: pg.Pool, address: NewMailAddress): Promise<MailAddress> {
  for (;;) {
    try {
      const put = await inTransaction(pool, (client) => putOnce(client, address))
      if (put) return put
    } catch (error) {
      if (!isUniqueViolation(error, 'mail_addresses_once')) throw error
    }
    // Somebody else has added or removed it at this moment.
  }
}

async function putOnce(client: pg.ClientBase, address: NewMailAddress): Promise<MailAddress | null> {
  const { owner, kinds, createdBy } = address
  const { rows } = await client.query<{ id: string }>(FIND, [owner, address.address])
  const id = rows[0]?.id ?? address.id
  if (rows[0]) {
    if (!(await lockReceiver(client, id, owner, 'mail'))) return null
    await client.query(SET, [id, kinds])
    await refreshDue(client, [id])
  } else await client.query(ADD, [id, owner, kinds, createdBy, address.address])
  await wantEvents(client, { id, owner, kinds, isEnabled: true })
  return findAddress(client, id, owner)
}
