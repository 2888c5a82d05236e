/**
 * Settles what was sent, many at a time, each under the token of its claim: one whose lease was lost changes nothing but the
 * log of attempts. The receivers are locked first, for a slot that becomes free must not be overlooked by a claim at the same
 * moment. Sent again after a lost reply, nothing is counted twice.
 */

import type pg from 'pg'
import { disableReceiver } from './disable-receiver.ts'
import { inTransaction } from './in-transaction.ts'
import { lockReceivers } from './lock-receivers.ts'
import { makeDueAgain } from './make-due-again.ts'
import type { Sent } from './ports/deliveries.ts'
import { refreshDue } from './refresh-due.ts'

const RECEIVERS = `SELECT DISTINCT receiver_id FROM deliveries WHERE id = ANY($1::uuid[])`

// An attempt that a later claim has logged as unheard of is told in full when it is heard of after all.
const SETTLE = `
WITH sent AS MATERIALIZED (
  SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::double precision[], $5::text[], $6::integer[],
    $7::timestamptz[], $8::double precision[], $9::jsonb[], $10::jsonb[])
    AS s(id, token, outcome, delay_ms, error, attempt, started_at, duration_ms, request, response)
), logged AS (
  INSERT INTO delivery_attempts (delivery_id, attempt, started_at, duration_ms, request, response, error)
  SELECT s.id, s.attempt, s.started_at, s.duration_ms, s.request, s.response, s.error FROM sent s JOIN deliveries d ON d.id = s.id
  ON CONFLICT (delivery_id, attempt) DO UPDATE SET started_at = excluded.started_at, duration_ms = excluded.duration_ms,
    request = excluded.request, response = excluded.response, error = excluded.error
    WHERE delivery_attempts.duration_ms IS NULL
), settled AS (
  UPDATE deliveries d SET lease_token = NULL, last_error = s.error,
    state = CASE s.outcome
      WHEN 'delivered' THEN 'DELIVERED' WHEN 'dead' THEN 'DEAD' WHEN 'dropped' THEN 'DROPPED' ELSE 'PENDING' END,
    finished_at = CASE WHEN s.outcome <> 'again' THEN clock() END,
    available_at = CASE WHEN s.outcome = 'again' THEN clock() + s.delay_ms * interval '1 millisecond' ELSE clock() END,
    is_unanswered = s.outcome = 'again' AND s.error IS NOT NULL AND s.response IS NULL
  FROM sent s WHERE d.id = s.id AND d.lease_token = s.token RETURNING d.id, d.receiver_id, s.outcome, s.error
), counted AS (
  UPDATE receivers r SET failures = CASE WHEN c.worked THEN 0 ELSE r.failures + c.failed END
  FROM (
    SELECT receiver_id, bool_or(outcome = 'delivered') AS worked,
      count(*) FILTER (WHERE outcome IN ('again', 'dead') AND error IS NOT NULL)::integer AS failed
    FROM settled GROUP BY receiver_id) c
  WHERE r.id = c.receiver_id AND (c.failed > 0 OR r.failures > 0)
    AND r.failures <> CASE WHEN c.worked THEN 0 ELSE r.failures + c.failed END
)
SELECT s.id, s.receiver_id, s.outcome = 'delivered' AND r.failures > 0 AS recovers
FROM settled s JOIN receivers r ON r.id = s.receiver_id`

/** `recovers`: it was delivered to a receiver that had failed before. */
type SettledRow = { id: string; receiver_id: string; recovers: boolean }

export async function settleDeliveries(pool: pg.Pool, sent: readonly Sent[]): Promise<Set<string>> {
  if (sent.length === 0) return new Set()
  const settled = await inTransaction(pool, (client) => settleOf(client, sent))
  return settled!
}

export async function settleOf(client: pg.ClientBase, sent: readonly Sent[]): Promise<Set<string>> {
  const ids = sent.map(({ id }) => id)
  const found = await client.query<{ receiver_id: string }>({ name: 'sent_to', text: RECEIVERS, values: [ids] })
  const receivers = found.rows.map((row) => row.receiver_id)
  await lockReceivers(client, receivers)
  const values = columnsOf(sent)
  const { rows } = await client.query<SettledRow>({ name: 'settle_deliveries', text: SETTLE, values })
  const receiverOf = new Map(rows.map((row) => [row.id, row.receiver_id]))
  for (const { id, disable } of sent) {
    const receiver = disable === undefined ? undefined : receiverOf.get(id)
    if (receiver !== undefined) await disableReceiver(client, receiver, disable!)
  }
  const recovered = rows.filter(({ recovers }) => recovers).map((row) => row.receiver_id)
  const others = recovered.length === 0 ? [] : await makeDueAgain(client, recovered)
  await refreshDue(client, [...receivers, ...others])
  return new Set(receiverOf.keys())
}

function columnsOf(sent: readonly Sent[]): unknown[][] {
  return [
    sent.map(({ id }) => id),
    sent.map(({ token }) => token),
    sent.map(({ outcome }) => outcome),
    sent.map(({ delayMs }) => delayMs ?? 0),
    sent.map(({ error }) => textOf(error)),
    sent.map(({ attempt }) => attempt),
    sent.map(({ startedAt }) => startedAt.toISOString()),
    sent.map(({ durationMs }) => durationMs),
    sent.map(({ request }) => jsonOf(request)),
    sent.map(({ response }) => jsonOf(response)),
  ]
}

/** What a receiver answers may hold a NUL or half a character, which Postgres keeps in no text. */
function textOf(text: string | null): string | null {
  return text === null ? null : text.replaceAll('\0', '\ufffd').toWellFormed()
}

function jsonOf(value: unknown): string | null {
  if (value === null || value === undefined) return null
  return JSON.stringify(value, (_name, inner) => (typeof inner === 'string' ? textOf(inner) : inner))
}
