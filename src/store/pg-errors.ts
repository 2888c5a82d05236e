/** The only place that knows SQLSTATEs: which database errors are passing, which mean a lost connection, which are a wait that took too long. */

import { Refusal } from '../run/errors.ts'

type Coded = { code?: unknown; constraint?: unknown }

function codeOf(error: unknown): string {
  const code = (error as Coded | null)?.code
  return typeof code === 'string' ? code : ''
}

/** The connection broke, so a statement that was sent may or may not have been committed. */
export function isConnectionLost(error: unknown): boolean {
  const code = codeOf(error)
  if (/^(08|57P0)/.test(code) || code === '25006' || code === '53300') return true
  if (['ECONNRESET', 'ECONNREFUSED', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EHOSTUNREACH', 'EAI_AGAIN'].includes(code))
    return true
  const message = error instanceof Error ? error.message : ''
  return /connection terminated|timeout exceeded when trying to connect|client was closed|not queryable|query read timeout/i.test(
    message,
  )
}

/** Nothing was committed and the same statement may be sent again. */
export function isSerializationFailure(error: unknown): boolean {
  return codeOf(error) === '40001' || codeOf(error) === '40P01'
}

export function isLockTimeout(error: unknown): boolean {
  return codeOf(error) === '55P03'
}

/** Ended by the server because it took too long; nothing was committed. */
export function isStatementTimeout(error: unknown): boolean {
  return codeOf(error) === '57014'
}

export function isForeignKeyViolation(error: unknown, constraint: string): boolean {
  return codeOf(error) === '23503' && (error as Coded).constraint === constraint
}

export function isAnyForeignKeyViolation(error: unknown): boolean {
  return codeOf(error) === '23503'
}

/** Of an error: the values at fault, in the server's words. */
export function detailOf(error: unknown): string {
  const detail = (error as { detail?: unknown } | null)?.detail
  return typeof detail === 'string' ? detail : ''
}

export function isUniqueViolation(error: unknown, constraint: string): boolean {
  return codeOf(error) === '23505' && (error as Coded).constraint === constraint
}

/** A row that a rule of the schema or the type of a column refuses: the same statement without it may succeed. */
export function isBadRow(error: unknown): boolean {
  return /^2[23]/.test(codeOf(error))
}

export function isInsufficientPrivilege(error: unknown): boolean {
  return codeOf(error) === '42501'
}

/** The server does not have the function, does not support it, or does not let us call it. */
export function isNotOffered(error: unknown): boolean {
  return isInsufficientPrivilege(error) || codeOf(error) === '0A000' || codeOf(error) === '42883'
}

/** What a caller is told when the database could not be asked. */
export function unavailable(cause: unknown): Refusal {
  return new Refusal('database-unavailable', 'The database cannot be reached right now.', { cause })
}
