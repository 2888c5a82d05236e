/**
 * The line a job prints when it cannot reach the service to say how it ended: `HOLDFAST-OUTCOME v1 <base64url of JSON> <HMAC-SHA-256>`.
 *
 * The HMAC is keyed by the job's ticket, which the job takes out of its environment before it runs anything of the user's, so that
 * what a model happens to print is never taken for its outcome.
 */

import { createHmac, timingSafeEqual } from 'node:crypto'
import { z } from 'zod'
import { cleanText } from '../model/clean-text.ts'
import { AMOUNT_MAX, roundAmount } from '../run/amount.ts'
import { canonicalText } from '../run/canonical.ts'
import { parseStrictJson } from '../run/json.ts'
import type { AttemptError, Outcome } from './executor.ts'

/** Larger ones are not printed by the job. In base64, with room for the rest of the line. */
export const OUTCOME_LINE_BYTES_MAX = 1_500_000

const LINE = /HOLDFAST-OUTCOME v1 ([A-Za-z0-9_-]+) ([0-9a-f]{64})(?![0-9a-f])/g

const ERROR = z.object({
  class: z.string(),
  message: z.string(),
  stack: z.string().nullish(),
  retryable: z.boolean().nullish(),
  exit_code: z.number().nullish(),
})
const COST = z.number().min(0).max(AMOUNT_MAX).nullish()
const SAID = z.discriminatedUnion('ok', [
  z.object({ ok: z.literal(true), result: z.unknown(), cost: COST }),
  z.object({ ok: z.literal(false), error: ERROR, cost: COST }),
])

/** The last line in the text that the ticket proves; null without one. */
export function findOutcome(text: string, ticket: string): Outcome | null {
  for (const [, body = '', mac = ''] of [...text.matchAll(LINE)].reverse()) {
    const wanted = createHmac('sha256', ticket).update(body).digest()
    if (timingSafeEqual(wanted, Buffer.from(mac, 'hex'))) return read(Buffer.from(body, 'base64url'))
  }
  return null
}

/** The text without such lines, which are not for people. */
export function withoutOutcomeLines(text: string): string {
  return text.replaceAll(new RegExp(`${LINE.source}\\n?`, 'g'), '')
}

function read(json: Buffer): Outcome {
  try {
    const said = SAID.parse(parseStrictJson(json))
    const cost = typeof said.cost === 'number' ? { cost: roundAmount(said.cost) } : {}
    if (said.ok) return { status: 'succeeded', resultText: canonicalText(said.result), ...cost }
    return { status: 'failed', error: toError(said.error), ...cost }
  } catch (error) {
    const message = cleanText(`the job's outcome cannot be read: ${(error as Error).message}`, 8_192)
    return { status: 'failed', error: { class: 'ResultNotJson', message, stack: null, retryable: false } }
  }
}

function toError(said: z.infer<typeof ERROR>): AttemptError {
  return {
    class: cleanText(said.class, 200),
    message: cleanText(said.message, 8_192),
    stack: said.stack ? cleanText(said.stack, 16_384) : null,
    ...(said.retryable != null && { retryable: said.retryable }),
    ...(said.exit_code !== undefined && { exitCode: said.exit_code }),
  }
}
