/**
 * How code that runs elsewhere says which attempt it is: the attempt token in a header, or before it has one the ticket
 * it was started with. No other credential is asked for, so both are looked at before a body is read.
 */

import type { FastifyRequest } from 'fastify'
import { hashAttemptToken, hashTicket, isAttemptToken, isTicket } from '../run/attempt-token.ts'
import { Refusal } from '../run/errors.ts'

export const TOKEN_HEADER = 'holdfast-attempt-token'
export const TICKET_HEADER = 'holdfast-ticket'

/** The SHA-256 of the token. A header that is given twice is no token. */
export function attemptTokenHashOf(request: FastifyRequest): Buffer {
  const text = request.headers[TOKEN_HEADER]
  if (typeof text === 'string' && isAttemptToken(text)) return hashAttemptToken(text)
  throw refused('Holdfast-Attempt-Token', text, 'the token that came with the lease')
}

export function ticketHashOf(request: FastifyRequest): Buffer {
  const text = request.headers[TICKET_HEADER]
  if (typeof text === 'string' && isTicket(text)) return hashTicket(text)
  throw refused('Holdfast-Ticket', text, 'the ticket that the job was started with')
}

function refused(name: string, given: unknown, wanted: string): Refusal {
  const what = given === undefined ? 'is missing' : 'is malformed'
  return new Refusal('invalid-header', `The ${name} header ${what}; it must hold ${wanted}.`)
}

/** The same for a token that was never good: whether a run exists is nobody's business. */
export function leaseLost(runId: string): Refusal {
  return new Refusal('lease-lost', `This token is not, or no longer, that of an open attempt of the run ${runId}.`)
}
