/** Adds a webhook with what it wants to hear of. */

import type pg from 'pg'
import { inTransaction } from './in-transaction.ts'
import { findWebhook } from './list-receivers.ts'
import { isUniqueViolation } from './pg-errors.ts'
import type { NewWebhook, Webhook } from './ports/receivers.ts'
import { WEBHOOK_COLUMNS, type WebhookRow, webhookOfRow } from './receiver-row.ts'
import { wantEvents } from './want-events.ts'

const ADD = `
WITH r AS (
  INSERT INTO receivers (id, channel, owner, kinds, slots, created_at, created_by)
  VALUES ($1, 'webhook', $2, $3, $4, clock(), $5) RETURNING *
), w AS (
  INSERT INTO webhooks (id, url, description, secret) SELECT r.id, $6, $7, $8 FROM r RETURNING *
)
SELECT ${WEBHOOK_COLUMNS} FROM r JOIN w ON w.id = r.id`

/** One that is there under this id was added by an earlier sending, whose reply was lost. */
export async function addWebhook(pool: pg.Pool, webhook: NewWebhook): Promise<Webhook> {
  const { id, owner, kinds, slots, createdBy, url, description, secret } = webhook
  try {
    const added = await inTransaction(pool, async (client) => {
      const values = [id, owner, kinds, slots, createdBy, url, description, secret]
      const { rows } = await client.query<WebhookRow>(ADD, values)
      await wantEvents(client, { id, owner, kinds, isEnabled: true })
      return webhookOfRow(rows[0]!)
    })
    return added!
  } catch (error) {
    const known = isUniqueViolation(error, 'receivers_pkey') ? await findWebhook(pool, id, owner) : null
    if (known) return known
    throw error
  }
}
