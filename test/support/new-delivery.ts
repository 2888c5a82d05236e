/** Webhooks and deliveries for tests of what sends them: made by hand, with as much of their past as a test needs. */

import { randomUUID } from 'node:crypto'
import type { FactKind } from '../../src/run/fact-kinds.ts'
import type { ClaimedDelivery, Sent } from '../../src/store/ports/deliveries.ts'
import type { NewWebhook } from '../../src/store/ports/receivers.ts'
import type { Store } from '../../src/store/store.ts'
import type { TestDatabase } from './database.ts'

export function newWebhook(changes: Partial<NewWebhook> = {}): NewWebhook {
  return {
    id: randomUUID(),
    owner: 'default',
    url: 'https://hooks.example/in',
    kinds: ['run.succeeded'] satisfies FactKind[],
    description: null,
    secret: 'whsec_c2VjcmV0LW9mLXRoaXMtdGVzdC1hbG9uZQ==',
    slots: 8,
    createdBy: 'test',
    ...changes,
  }
}

export async function addWebhook(store: Store, changes: Partial<NewWebhook> = {}): Promise<string> {
  return (await store.receivers.addWebhook(newWebhook(changes))).id
}

type Made = { state?: string; createdAgo?: string; availableIn?: string; kind?: string; owner?: string; count?: number }

/** As whoever spreads facts makes them: the receiver is due with the first. The ids, oldest first. */
export async function addDeliveries(db: TestDatabase, receiverId: string, made: Made = {}): Promise<string[]> {
  const {
    state = 'PENDING',
    createdAgo = '0',
    availableIn = '0',
    kind = 'run.succeeded',
    owner = null,
    count = 1,
  } = made
  const rows = await db.query<{ id: string }>(
    `WITH due AS (
       UPDATE receivers SET due_at = LEAST(due_at, clock() + $4::interval) WHERE id = $1 AND $2 = 'PENDING'
     )
     INSERT INTO deliveries
       (id, receiver_id, channel, owner, kind, message_id, data, state, created_at, available_at, finished_at)
     SELECT gen_random_uuid(), r.id, r.channel, COALESCE($6, r.owner), $5, gen_random_uuid()::text,
       jsonb_build_object('type', $5::text), $2, clock() - $3::interval + i * interval '1 microsecond',
       clock() + $4::interval, CASE WHEN $2 <> 'PENDING' THEN clock() - $3::interval END
     FROM receivers r, generate_series(1, $7::integer) AS i WHERE r.id = $1
     RETURNING id`,
    [receiverId, state, createdAgo, availableIn, kind, owner, count],
  )
  return rows.map(({ id }) => id)
}

export function sentOf({ id, token, attempts }: ClaimedDelivery, changes: Partial<Sent> = {}): Sent {
  return {
    id,
    token,
    attempt: attempts,
    outcome: 'delivered',
    startedAt: new Date(),
    durationMs: 12,
    request: { method: 'POST' },
    response: { status: 200 },
    error: null,
    ...changes,
  }
}

/** A send that did not work and is tried again after a while. */
export const failedOf = (delivery: ClaimedDelivery, changes: Partial<Sent> = {}): Sent =>
  sentOf(delivery, {
    outcome: 'again',
    delayMs: 5_000,
    response: { status: 500 },
    error: 'it answered 500',
    ...changes,
  })

/** When each receiver is due by what its deliveries say, beside what its row says: those that are due too late, or never. */
export async function overlooked(db: TestDatabase): Promise<string[]> {
  const rows = await db.query<{ id: string }>(
    `SELECT r.id FROM receivers r CROSS JOIN LATERAL (
       SELECT count(*) AS count, min(available_at) AS first_end FROM deliveries s
       WHERE s.receiver_id = r.id AND s.lease_token IS NOT NULL AND s.available_at > clock()) sending
     CROSS JOIN LATERAL (
       SELECT CASE WHEN sending.count < CASE WHEN r.failures >= 3 THEN 1 ELSE r.slots END
         THEN (SELECT min(available_at) FROM deliveries d WHERE d.receiver_id = r.id AND d.state = 'PENDING')
         ELSE sending.first_end END AS at) due
     WHERE r.is_enabled AND due.at IS NOT NULL AND (r.due_at IS NULL OR r.due_at > GREATEST(due.at, clock()))`,
  )
  return rows.map(({ id }) => id)
}
