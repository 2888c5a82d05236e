/**
 * What a program left as its outcome for when the service cannot be reached from its pod: `{"ok": true, "result": …, "cost"?}` or
 * `{"ok": false, "error": {class, message, stack?, retryable?}, "cost"?}` in its termination message, which only the container itself can write.
 * Null for any other text.
 */

import { z } from 'zod'
import { ownError } from '../model/attempt-error.ts'
import { cleanText } from '../model/clean-text.ts'
import { isAmount, roundAmount } from '../run/amount.ts'
import { canonicalText } from '../run/canonical.ts'
import { parseStrictJson } from '../run/json.ts'
import type { Outcome } from './executor.ts'

const CLASS_BYTES_MAX = 200
const STACK_BYTES_MAX = 16 * 1024

const outcomeSchema = z.discriminatedUnion('ok', [
  z.object({ ok: z.literal(true), result: z.unknown(), cost: z.unknown().optional() }),
  z.object({
    ok: z.literal(false),
    error: z.object({
      class: z.string().min(1),
      message: z.string(),
      stack: z.string().nullish(),
      retryable: z.boolean().nullish(),
    }),
    cost: z.unknown().optional(),
  }),
])

export function outcomeFromMessage(text: string): Outcome | null {
  const value = parsed(text.trim())
  const read = outcomeSchema.safeParse(value)
  if (!read.success) return null
  // What is no amount costs the run nothing of its outcome.
  const cost = isAmount(read.data.cost) ? { cost: roundAmount(read.data.cost) } : {}
  if (read.data.ok) {
    if (!('result' in (value as object))) return null
    return { status: 'succeeded', resultText: canonicalText(read.data.result), ...cost }
  }
  const { class: className, message, stack, retryable } = read.data.error
  const more = {
    stack: stack ? cleanText(stack, STACK_BYTES_MAX) : null,
    ...(typeof retryable === 'boolean' && { retryable }),
  }
  return { status: 'failed', error: ownError(cleanText(className, CLASS_BYTES_MAX), message, more), ...cost }
}

function parsed(text: string): unknown {
  try {
    return text.startsWith('{') ? parseStrictJson(text) : null
  } catch {
    return null
  }
}
