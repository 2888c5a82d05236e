/**
 * The body of `POST /runs`. Unknown names are refused, so that a mistyped setting never passes for its default. A
 * name given as null counts as not given.
 */

import { z } from 'zod'
import { isKey, KEY_LENGTH_MAX, KEY_MODES, RUNS_PER_KEY_MAX } from '../run/runs-per-key.ts'

export const TITLE_LENGTH_MAX = 255
export const TAG_LENGTH_MAX = 128
export const TAGS_MAX = 32
/** 30 days. */
export const KEY_TTL_SECONDS_MAX = 30 * 24 * 3600
export const PRIORITY_MAX = 100

/** At most `limit` (1) active runs of the owner have this key; `mode` (`queue`) says what a run does when there is no place left. */
export const ConcurrencyBody = z.strictObject({
  key: z
    .string()
    .min(1)
    .max(KEY_LENGTH_MAX)
    .refine((key) => !key.startsWith('/') && isKey(key), 'must not begin with a slash nor contain half a character'),
  limit: z.int().min(1).max(RUNS_PER_KEY_MAX).nullish(),
  mode: z.enum(KEY_MODES).nullish(),
})

export const SubmitBody = z.strictObject({
  model: z
    .string()
    .min(1)
    .max(128)
    .meta({ examples: ['baseline_forecast_v1'] }),
  /** The newest registered version when not given. */
  model_version: z.string().min(1).max(64).nullish(),
  parameters: z
    .custom<Record<string, unknown>>(isObject, 'must be an object')
    .meta({ type: 'object', examples: [{ scenario: 'high_inflation', region: 'eu' }] }),
  /** A run of the same model whose hidden values the redaction markers in `parameters` stand for, each at its own place. */
  derived_from: z.guid().nullish(),
  /** As the `Idempotency-Key` header; given in both places they must be equal. */
  idempotency_key: z.string().nullish(),
  /** How long the key is kept; without a key, how long an equal payload counts as the same request. */
  idempotency_ttl_seconds: z.int().min(1).max(KEY_TTL_SECONDS_MAX).nullish(),
  dedupe: z.enum(['active', 'succeeded', 'off']).nullish(),
  queue: z.string().min(1).max(128).nullish(),
  priority: z.int().min(-PRIORITY_MAX).max(PRIORITY_MAX).nullish(),
  /** ISO 8601 with a zone; the run does not start before. */
  available_at: z.iso
    .datetime({ offset: true, error: 'must be an ISO 8601 time with a zone, such as 2030-01-31T08:00:00Z' })
    .nullish(),
  tags: z.array(z.string().min(1).max(TAG_LENGTH_MAX)).max(TAGS_MAX).nullish(),
  title: z.string().min(1).max(TITLE_LENGTH_MAX).nullish(),
  batch_id: z.guid().nullish(),
  reservation_id: z.guid().nullish(),
  executor: z.string().min(1).max(64).nullish(),
  max_attempts: z.int().min(1).nullish(),
  timeout_seconds: z.number().positive().nullish(),
  /** Not of a model that has keys of its own. */
  concurrency: ConcurrencyBody.nullish(),
})

export type SubmitBody = z.infer<typeof SubmitBody>

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
