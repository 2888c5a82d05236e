/** Webhooks and mail addresses, one or pages of them, newest first. */

import type pg from 'pg'
import { cursorOfMoment, momentOfCursor } from './moment-cursor.ts'
import type { MailAddress, Page, ReceiverFilter, Webhook } from './ports/receivers.ts'
import {
  ADDRESS_COLUMNS,
  type AddressRow,
  addressOfRow,
  type ReceiverRow,
  WEBHOOK_COLUMNS,
  type WebhookRow,
  webhookOfRow,
} from './receiver-row.ts'

const WEBHOOKS = `SELECT ${WEBHOOK_COLUMNS} FROM receivers r JOIN webhooks w ON w.id = r.id`
const ADDRESSES = `SELECT ${ADDRESS_COLUMNS} FROM receivers r JOIN mail_addresses a ON a.id = r.id`

const ONE = `WHERE r.id = $1 AND ($2::text IS NULL OR r.owner = $2)`
const PAGE = `
WHERE ($1::text IS NULL OR r.owner = $1) AND (r.created_at, r.id) < ($2::timestamptz, $3::uuid)
ORDER BY r.created_at DESC, r.id DESC LIMIT $4`

const FIND_WEBHOOK = `${WEBHOOKS} ${ONE}`
const FIND_ADDRESS = `${ADDRESSES} ${ONE}`
const LIST_WEBHOOKS = `${WEBHOOKS} ${PAGE}`
const LIST_ADDRESSES = `${ADDRESSES} ${PAGE}`

type Queries = Pick<pg.ClientBase, 'query'> | pg.Pool

export async function findWebhook(db: Queries, id: string, owner: string | null): Promise<Webhook | null> {
  const { rows } = await db.query<WebhookRow>(FIND_WEBHOOK, [id, owner])
  return rows[0] ? webhookOfRow(rows[0]) : null
}

export async function findAddress(db: Queries, id: string, owner: string | null): Promise<MailAddress | null> {
  const { rows } = await db.query<AddressRow>(FIND_ADDRESS, [id, owner])
  return rows[0] ? addressOfRow(rows[0]) : null
}

export function listWebhooks(pool: pg.Pool, filter: ReceiverFilter): Promise<Page<Webhook>> {
  return page(pool, LIST_WEBHOOKS, filter, webhookOfRow)
}

export function listAddresses(pool: pg.Pool, filter: ReceiverFilter): Promise<Page<MailAddress>> {
  return page(pool, LIST_ADDRESSES, filter, addressOfRow)
}

async function page<Row extends ReceiverRow, T>(
  pool: pg.Pool,
  statement: string,
  { owner, limit, cursor }: ReceiverFilter,
  ofRow: (row: Row) => T,
): Promise<Page<T>> {
  const { rows } = await pool.query<Row>(statement, [owner, ...momentOfCursor(cursor), limit + 1])
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  return { data: shown.map(ofRow), nextCursor: rows.length > limit && last ? cursorOfMoment(last) : null }
}
