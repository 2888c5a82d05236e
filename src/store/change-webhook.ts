/** Changes a webhook, and what is written down for it, at once. */

import type pg from 'pg'
import { inTransaction } from './in-transaction.ts'
import { findWebhook } from './list-receivers.ts'
import { lockReceiver } from './lock-receivers.ts'
import type { Webhook, WebhookChange } from './ports/receivers.ts'
import { refreshDue } from './refresh-due.ts'
import { wantEvents } from './want-events.ts'

// Another address has not failed yet.
const CHANGE = `
WITH w AS (
  UPDATE webhooks SET url = COALESCE($2, url), description = CASE WHEN $3 THEN $4 ELSE description END WHERE id = $1
)
UPDATE receivers r SET kinds = COALESCE($5::text[], kinds), is_enabled = COALESCE($6, is_enabled),
  disabled_reason = CASE $6
    WHEN false THEN COALESCE(disabled_reason, 'Disabled by request.') WHEN true THEN NULL ELSE disabled_reason END,
  failures = CASE WHEN $6 OR $2 IS NOT NULL THEN 0 ELSE failures END
WHERE id = $1 RETURNING owner, kinds, is_enabled`

// What is being sent is left to whoever sends it.
const HURRY = `
UPDATE deliveries SET available_at = clock()
WHERE receiver_id = $1 AND state = 'PENDING' AND lease_token IS NULL AND available_at > clock()`

type Changed = { owner: string; kinds: string[]; is_enabled: boolean }

export async function changeWebhook(
  pool: pg.Pool,
  id: string,
  owner: string | null,
  { url, kinds, description, isEnabled }: WebhookChange,
): Promise<Webhook | null> {
  return inTransaction(pool, async (client) => {
    if (!(await lockReceiver(client, id, owner, 'webhook'))) return null
    const given = [url ?? null, description !== undefined, description ?? null, kinds ?? null, isEnabled ?? null]
    const { rows } = await client.query<Changed>(CHANGE, [id, ...given])
    const changed = rows[0]!
    await wantEvents(client, { id, owner: changed.owner, kinds: changed.kinds, isEnabled: changed.is_enabled })
    if (isEnabled) await client.query(HURRY, [id])
    if (isEnabled || url !== undefined) await refreshDue(client, [id])
    return findWebhook(client, id, owner)
  })
}
