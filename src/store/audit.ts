/** The audit: who did what to the service itself, append-only. */

import type pg from 'pg'
import { decodeCursor, encodeCursor } from './keyset-cursor.ts'
import type { AuditEvent, NewAuditEvent } from './ports/audit.ts'

const RECORD = `
INSERT INTO audit_events (actor_token, actor_owner, action, target, data, request_id) VALUES ($1, $2, $3, $4, $5, $6)`

const LIST = `
SELECT id, at, actor_token, actor_owner, action, target, data, request_id FROM audit_events
WHERE $1::bigint IS NULL OR id < $1 ORDER BY id DESC LIMIT $2`

const ID = /^\d{1,15}$/

type AuditRow = {
  id: number
  at: Date
  actor_token: string | null
  actor_owner: string
  action: string
  target: string | null
  data: unknown
  request_id: string | null
}

export async function recordAudit(pool: pg.Pool, event: NewAuditEvent): Promise<void> {
  const { actor, action, target, data = {} } = event
  await pool.query(RECORD, [actor.tokenId, actor.owner, action, target, JSON.stringify(data), actor.requestId])
}

export async function listAudit(
  pool: pg.Pool,
  page: { limit: number; cursor: string | null },
): Promise<{ events: AuditEvent[]; nextCursor: string | null }> {
  const after = page.cursor === null ? null : decodeCursor(page.cursor, ID)
  const { rows } = await pool.query<AuditRow>(LIST, [after, page.limit + 1])
  const events = rows.slice(0, page.limit).map(eventOfRow)
  return { events, nextCursor: rows.length > page.limit ? encodeCursor(events.at(-1)!.id) : null }
}

function eventOfRow(row: AuditRow): AuditEvent {
  return {
    id: row.id,
    at: row.at,
    actorToken: row.actor_token,
    actorOwner: row.actor_owner,
    action: row.action,
    target: row.target,
    data: row.data,
    requestId: row.request_id,
  }
}
