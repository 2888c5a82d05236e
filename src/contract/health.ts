/** What the health routes answer. */

import { z } from 'zod'

const part = z.strictObject({ ok: z.boolean(), detail: z.string() })

export const LiveAnswer = z.strictObject({ status: z.literal('ok') })

export const HealthAnswer = z.strictObject({
  status: z.enum(['ok', 'unavailable', 'stopping']),
  /** What the service depends on; `redis` only where it is used. */
  parts: z.strictObject({ postgres: part.optional(), redis: part.optional() }),
})

export type LiveAnswer = z.infer<typeof LiveAnswer>
export type HealthAnswer = z.infer<typeof HealthAnswer>
