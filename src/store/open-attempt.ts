/** The open attempt that a token belongs to, found by it or by the ticket that is traded for it. Only hashes are compared. */

import type pg from 'pg'
import { LEASE_COLUMNS, type LeaseRow, leaseOfRow } from './lease-row.ts'
import type { ExternalRef, OpenAttempt } from './ports/attempts.ts'

const OPEN_COLUMNS = `${LEASE_COLUMNS}, a.executor AS attempt_executor, a.external_ref, r.lease_owner, r.lease_expires_at, r.deadline_at,
  r.cancel_requested_at IS NOT NULL AS cancel_requested`

const FIND_BY_TOKEN = `
SELECT ${OPEN_COLUMNS}
FROM run_attempts a JOIN model_runs r ON r.id = a.run_id
WHERE a.run_id = $1 AND a.token_hash = $2 AND a.finished_at IS NULL`

const REDEEM = `
UPDATE run_attempts SET token_hash = $3
WHERE run_id = $1 AND ticket_hash = $2 AND finished_at IS NULL AND (token_hash IS NULL OR token_hash = $3)`

type OpenRow = LeaseRow & {
  attempt_executor: string
  external_ref: ExternalRef | null
  lease_owner: string
  lease_expires_at: Date
  deadline_at: Date
  cancel_requested: boolean
}

export async function findByToken(pool: pg.Pool, runId: string, tokenHash: Buffer): Promise<OpenAttempt | null> {
  const { rows } = await pool.query<OpenRow>({ name: 'find_by_token', text: FIND_BY_TOKEN, values: [runId, tokenHash] })
  const row = rows[0]
  if (!row) return null
  return {
    ...leaseOfRow(row),
    executor: row.attempt_executor,
    holder: row.lease_owner,
    externalRef: row.external_ref,
    cancelRequested: row.cancel_requested,
    leaseExpiresAt: row.lease_expires_at,
    deadlineAt: row.deadline_at,
  }
}

export async function redeemTicket(
  pool: pg.Pool,
  runId: string,
  ticketHash: Buffer,
  tokenHash: Buffer,
): Promise<OpenAttempt | null> {
  const { rowCount } = await pool.query(REDEEM, [runId, ticketHash, tokenHash])
  return rowCount === 1 ? findByToken(pool, runId, tokenHash) : null
}
