/** Gives a webhook a new secret; the old one signs too for a while. Sent again with the same secret it changes nothing. */

import type pg from 'pg'
import { findWebhook } from './list-receivers.ts'
import type { Webhook } from './ports/receivers.ts'

const ROTATE = `
UPDATE webhooks w SET secret = $3, old_secret = CASE WHEN $4::double precision > 0 THEN w.secret END,
  old_secret_until = CASE WHEN $4::double precision > 0 THEN clock() + $4 * interval '1 second' END
FROM receivers r WHERE r.id = w.id AND w.id = $1 AND ($2::text IS NULL OR r.owner = $2) AND w.secret <> $3`

export async function rotateSecret(
  pool: pg.Pool,
  id: string,
  owner: string | null,
  secret: string,
  oldForSeconds: number,
): Promise<Webhook | null> {
  await pool.query(ROTATE, [id, owner, secret, oldForSeconds])
  return findWebhook(pool, id, owner)
}
