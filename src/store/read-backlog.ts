/** What waits to be told, for those who watch the service: how much, counted up to a bound, and for how long. */

import type pg from 'pg'
import type { Outbox } from './ports/outbox.ts'
import type { Channel } from './ports/receivers.ts'

const COUNT_MAX = 10_000

const UNSPREAD = `
SELECT (SELECT count(*)::int FROM (SELECT FROM outbox WHERE spread_at IS NULL LIMIT ${COUNT_MAX}) AS f) AS unspread,
  COALESCE((SELECT GREATEST(0, extract(epoch FROM clock() - at)) FROM outbox
    WHERE spread_at IS NULL ORDER BY at, id LIMIT 1), 0)::float8 AS "oldestUnspreadSeconds"`

// Receivers for which nothing waits have no time at which something is due.
const BY_CHANNEL = `
SELECT c.channel,
  (SELECT count(*)::int FROM (
    SELECT FROM receivers r JOIN deliveries d ON d.receiver_id = ANY (ARRAY[r.id]) AND d.state = 'PENDING'
    WHERE r.is_enabled AND r.due_at IS NOT NULL AND r.channel = c.channel LIMIT ${COUNT_MAX}) AS w) AS waiting,
  COALESCE((SELECT GREATEST(0, extract(epoch FROM clock() - min(d.available_at)))
    FROM receivers r CROSS JOIN LATERAL (
      SELECT available_at FROM deliveries WHERE receiver_id = r.id AND state = 'PENDING' ORDER BY available_at, id LIMIT 1) d
    WHERE r.is_enabled AND r.due_at IS NOT NULL AND r.channel = c.channel), 0)::float8 AS "oldestDueSeconds"
FROM unnest(ARRAY['webhook', 'mail', 'stream']) AS c(channel)`

export async function readBacklog(pool: pg.Pool): ReturnType<Outbox['backlog']> {
  const facts = await pool.query<{ unspread: number; oldestUnspreadSeconds: number }>(UNSPREAD)
  const channels = await pool.query<{ channel: Channel; waiting: number; oldestDueSeconds: number }>(BY_CHANNEL)
  return { ...facts.rows[0]!, byChannel: channels.rows }
}
