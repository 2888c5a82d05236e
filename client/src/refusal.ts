/** Turns an answer that is no success into the error to throw. The code decides before the status does. */

import {
  Conflict,
  CostLimitExceeded,
  type ErrorDetails,
  HoldfastError,
  QuotaExceeded,
  RunCancelled,
  RunFailed,
  Transient,
} from './errors.ts'
import type { Problem } from './wire.ts'

const PASSING = new Set([429, 502, 503, 504])
const EXCERPT_LENGTH_MAX = 200

export type Refused = { status: number; text: string; retryAfter: string | null; path: string; nowMs: number }

export function refusalOf({ status, text, retryAfter, path, nowMs }: Refused): HoldfastError {
  const problem = problemIn(text)
  const details: ErrorDetails = { status, code: problem?.code ?? null, problem }
  const message = problem ? messageOf(problem) : `The answer was ${status}: ${text.trim().slice(0, EXCERPT_LENGTH_MAX)}`
  const runId = /^\/runs\/([^/]+)/.exec(path)?.[1] ?? ''
  if (details.code === 'quota-exceeded') return new QuotaExceeded(message, details)
  if (details.code === 'cost-limit-exceeded') return new CostLimitExceeded(message, details)
  if (details.code === 'run-failed') return new RunFailed(message, { ...details, runId })
  if (details.code === 'run-cancelled') return new RunCancelled(message, { ...details, runId })
  if (status === 409) return new Conflict(message, details)
  if (PASSING.has(status)) return new Transient(message, { ...details, retryAfterMs: waitAsked(retryAfter, nowMs) })
  return new HoldfastError(message, details)
}

function problemIn(text: string): Problem | null {
  try {
    const parsed = JSON.parse(text) as Partial<Problem> | null
    return typeof parsed?.code === 'string' && typeof parsed.detail === 'string' ? (parsed as Problem) : null
  } catch {
    return null
  }
}

function messageOf({ code, detail, errors = [] }: Problem): string {
  const places = errors.map((error) => `${error.pointer}: ${error.detail}`)
  return [`${detail} (${code})`, ...places].join('; ')
}

/** `Retry-After` is a number of seconds or a date. */
function waitAsked(header: string | null, nowMs: number): number | null {
  if (header === null) return null
  if (/^\d+$/.test(header.trim())) return Number(header) * 1000
  const atMs = Date.parse(header)
  return Number.isNaN(atMs) ? null : Math.max(0, atMs - nowMs)
}
