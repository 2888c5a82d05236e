/** Access tokens: made, listed, revoked, and noted as used. Making and revoking are audited by the statement that does it. */

import type pg from 'pg'
import { decodeCursor, encodeCursor } from './keyset-cursor.ts'
import type { Actor } from './ports/audit.ts'
import type { NewToken, Token, TokenRole } from './ports/tokens.ts'

export const TOKEN_COLUMNS =
  't.id, t.name, t.role, t.owner, t.queues, t.created_at, t.created_by, t.expires_at, t.last_used_at, t.revoked_at'

const CREATE = `
WITH t AS (
  INSERT INTO api_tokens (id, name, token_hash, role, owner, queues, created_by, expires_at)
  VALUES ($1, $2, decode($3, 'hex'), $4, $5, $6, $8, clock() + make_interval(secs => $10::double precision))
  RETURNING *
), audited AS (
  INSERT INTO audit_events (actor_token, actor_owner, action, target, data, request_id)
  SELECT $7::uuid, $8, 'token.create', t.id::text,
    jsonb_build_object('name', t.name, 'role', t.role, 'owner', t.owner, 'queues', t.queues, 'expires_at', t.expires_at), $9::text
  FROM t
)
SELECT ${TOKEN_COLUMNS} FROM t`

const REVOKE = `
WITH t AS (
  UPDATE api_tokens SET revoked_at = clock() WHERE id = $1 AND revoked_at IS NULL RETURNING *
), audited AS (
  INSERT INTO audit_events (actor_token, actor_owner, action, target, data, request_id)
  SELECT $2::uuid, $3::text, 'token.revoke', t.id::text,
    jsonb_build_object('name', t.name, 'role', t.role, 'owner', t.owner), $4::text
  FROM t
)
SELECT ${TOKEN_COLUMNS} FROM t`

const READ = `SELECT ${TOKEN_COLUMNS} FROM api_tokens t WHERE t.id = $1`

// Ids are UUIDv7, so their order is the order of creation.
const LIST = `
SELECT ${TOKEN_COLUMNS} FROM api_tokens t WHERE $1::uuid IS NULL OR t.id < $1 ORDER BY t.id DESC LIMIT $2`

// Another process may note the same tokens at this moment; whoever comes second has nothing to add.
const TOUCH = `
UPDATE api_tokens SET last_used_at = clock()
WHERE id IN (
  SELECT id FROM api_tokens
  WHERE id = ANY($1::uuid[]) AND (last_used_at IS NULL OR last_used_at < clock() - interval '1 minute')
  ORDER BY id FOR UPDATE SKIP LOCKED)`

export type TokenRow = {
  id: string
  name: string
  role: TokenRole
  owner: string
  queues: string[] | null
  created_at: Date
  created_by: string
  expires_at: Date | null
  last_used_at: Date | null
  revoked_at: Date | null
}

export async function createToken(pool: pg.Pool, token: NewToken, actor: Actor): Promise<Token> {
  const { id, name, hash, role, owner, queues, expiresInSeconds } = token
  const who = [actor.tokenId, actor.owner, actor.requestId]
  const { rows } = await pool.query<TokenRow>(CREATE, [id, name, hash, role, owner, queues, ...who, expiresInSeconds])
  return tokenOfRow(rows[0]!)
}

export async function revokeToken(pool: pg.Pool, id: string, actor: Actor): Promise<Token | null> {
  const revoked = await pool.query<TokenRow>(REVOKE, [id, actor.tokenId, actor.owner, actor.requestId])
  const row = revoked.rows[0] ?? (await pool.query<TokenRow>(READ, [id])).rows[0]
  return row ? tokenOfRow(row) : null
}

export async function listTokens(
  pool: pg.Pool,
  page: { limit: number; cursor: string | null },
): Promise<{ tokens: Token[]; nextCursor: string | null }> {
  const after = page.cursor === null ? null : decodeCursor(page.cursor, UUID)
  const { rows } = await pool.query<TokenRow>(LIST, [after, page.limit + 1])
  const tokens = rows.slice(0, page.limit).map(tokenOfRow)
  return { tokens, nextCursor: rows.length > page.limit ? encodeCursor(tokens.at(-1)!.id) : null }
}

export async function touchTokens(pool: pg.Pool, ids: string[]): Promise<void> {
  await pool.query(TOUCH, [ids])
}

export async function anyTokenExists(pool: pg.Pool): Promise<boolean> {
  const { rows } = await pool.query<{ exist: boolean }>('SELECT EXISTS (SELECT FROM api_tokens) AS exist')
  return rows[0]!.exist
}

export function tokenOfRow(row: TokenRow): Token {
  return {
    id: row.id,
    name: row.name,
    role: row.role,
    owner: row.owner,
    queues: row.queues,
    createdAt: row.created_at,
    createdBy: row.created_by,
    expiresAt: row.expires_at,
    lastUsedAt: row.last_used_at,
    revokedAt: row.revoked_at,
  }
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
