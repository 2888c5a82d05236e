/**
 * When a receiver that did not answer answers again, what waits for it because of that is due at once, as of when it was made: so it
 * catches up in order of age and does not wait out delays that were meant for a longer outage. A message that was answered and
 * refused keeps its delay. Mail has one server for all addresses, so whoever is reached speaks for all.
 *
 * A bounded number at a time; each of them that arrives makes the next ones due.
 */

import type pg from 'pg'

const RECEIVERS_MAX = 100
const DELIVERIES_MAX = 200

// Those that somebody holds are left to their own next success: waiting for them here could be waiting in a circle.
const LOCK_OTHERS = `
SELECT id FROM receivers
WHERE channel = 'mail' AND failures > 0 AND is_enabled
  AND EXISTS (SELECT FROM receivers m WHERE m.id = ANY($1::uuid[]) AND m.channel = 'mail')
ORDER BY id LIMIT ${RECEIVERS_MAX} FOR NO KEY UPDATE SKIP LOCKED`

const MAKE_DUE = `
UPDATE deliveries d SET available_at = LEAST(d.available_at, d.created_at)
FROM (
  SELECT w.id FROM unnest($1::uuid[]) AS r(id) CROSS JOIN LATERAL (
    SELECT o.id FROM deliveries o
    WHERE o.receiver_id = r.id AND o.state = 'PENDING' AND o.is_unanswered
    ORDER BY o.created_at LIMIT ${DELIVERIES_MAX} FOR UPDATE SKIP LOCKED
  ) w
) again
WHERE d.id = again.id AND d.lease_token IS NULL`

/** With the receivers that recovered locked. Answers which others it locked and made due. */
export async function makeDueAgain(client: pg.ClientBase, recovered: readonly string[]): Promise<string[]> {
  const { rows } = await client.query<{ id: string }>({
    name: 'lock_failing_mail',
    text: LOCK_OTHERS,
    values: [recovered],
  })
  const others = rows.map(({ id }) => id)
  const ids = [...new Set([...recovered, ...others])]
  await client.query({ name: 'make_due_again', text: MAKE_DUE, values: [ids] })
  return others
}
