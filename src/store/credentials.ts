/**
 * From a hash to what it is worth now: the token, or the token behind a session. Sessions end by time, by signing out, and with their
 * token; those that ended by time are swept away when new ones begin.
 */

import type pg from 'pg'
import type { Credential } from './ports/tokens.ts'
import { TOKEN_COLUMNS, type TokenRow, tokenOfRow } from './tokens.ts'

const STATE = `CASE WHEN t.revoked_at IS NOT NULL THEN 'revoked' WHEN t.expires_at <= clock() THEN 'expired' ELSE 'live' END`

const FIND = `
WITH asked AS MATERIALIZED (SELECT hash, decode(hash, 'hex') AS bytes FROM unnest($1::text[]) AS given(hash))
SELECT asked.hash, ${STATE} AS state, NULL::timestamptz AS session_expires_at, ${TOKEN_COLUMNS}
FROM asked JOIN api_tokens t ON t.token_hash = asked.bytes
UNION ALL
SELECT asked.hash, CASE WHEN s.expires_at <= clock() THEN 'expired' ELSE ${STATE} END, s.expires_at, ${TOKEN_COLUMNS}
FROM asked JOIN api_sessions s ON s.session_hash = asked.bytes JOIN api_tokens t ON t.id = s.token_id`

const START = `
WITH swept AS (
  DELETE FROM api_sessions WHERE session_hash IN (
    SELECT session_hash FROM api_sessions WHERE expires_at < clock() ORDER BY expires_at LIMIT 100 FOR UPDATE SKIP LOCKED)
)
INSERT INTO api_sessions (session_hash, token_id, expires_at)
SELECT decode($1, 'hex'), t.id, LEAST(clock() + make_interval(secs => $3::double precision), t.expires_at)
FROM api_tokens t WHERE t.id = $2 AND ${STATE} = 'live'
RETURNING expires_at`

const END = `DELETE FROM api_sessions WHERE session_hash = decode($1, 'hex')`

type CredentialRow = TokenRow & { hash: string; state: Credential['state']; session_expires_at: Date | null }

export async function findByHash(pool: pg.Pool, hashes: string[]): Promise<Credential[]> {
  const { rows } = await pool.query<CredentialRow>(FIND, [hashes])
  return rows.map((row) => ({
    hash: row.hash,
    token: tokenOfRow(row),
    state: row.state,
    sessionExpiresAt: row.session_expires_at,
  }))
}

export async function startSession(
  pool: pg.Pool,
  { hash, tokenId, ttlSeconds }: { hash: string; tokenId: string; ttlSeconds: number },
): Promise<{ expiresAt: Date } | null> {
  const { rows } = await pool.query<{ expires_at: Date }>(START, [hash, tokenId, ttlSeconds])
  return rows[0] ? { expiresAt: rows[0].expires_at } : null
}

export async function endSession(pool: pg.Pool, hash: string): Promise<void> {
  await pool.query(END, [hash])
}
