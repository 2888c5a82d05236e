/** Submitting runs: one call, one key, one run, however often it is sent. */

import { checkedKey, newKey } from './idempotency-key.ts'
import type { AnyModel, ModelLike, ParametersOf } from './model-type.ts'
import type { CallOptions, Transport } from './transport.ts'
import type { SubmitBody, SubmittedRun, Warned } from './wire.ts'

export type RunOptions = {
  /** Made for the call when not given. Calls with the same key make one run, whoever sends them, while the key lives. */
  idempotencyKey?: string
  idempotencyTtlSeconds?: number
  /** Also look for a run with the same payload: an active one, or one that has succeeded. A key alone does not. */
  dedupe?: 'active' | 'succeeded' | 'off'
  modelVersion?: string
  /** A run of the same model whose hidden values the redaction markers in the parameters stand for. */
  derivedFrom?: string
  queue?: string
  /** -100 to 100, higher first. */
  priority?: number
  /** Not to start before. */
  availableAt?: Date | string
  tags?: string[]
  title?: string
  batchId?: string
  reservationId?: string
  /** At most `limit` (1) active runs have this key; without a place the run waits, is refused, or takes that of an older one. */
  concurrency?: { key: string; limit?: number; mode?: 'queue' | 'refuse' | 'cancel_older' }
  executor?: string
  maxAttempts?: number
  timeoutSeconds?: number
}

export type SubmitOptions = RunOptions & CallOptions

/** The phantom names the model, so that what is done with the run later keeps its types. */
export type Submitted<M extends ModelLike = AnyModel> = {
  run: SubmittedRun
  runId: string
  /** An earlier request had made the run: the same key or payload, also when this very call was sent twice. */
  wasDuplicate: boolean
  /** The key the run was submitted with. */
  key: string
  /** What the service wants its user to know, such as a limit that is near. */
  warnings: string[]
  readonly model?: M
}

export type BatchItem<M extends ModelLike = AnyModel> = RunOptions & { model: string; parameters: ParametersOf<M> }

export type KeyedBody = SubmitBody & { idempotency_key: string }

export function submitBody(model: string, parameters: unknown, options: RunOptions): KeyedBody {
  const { availableAt, idempotencyKey } = options
  return {
    model,
    parameters: parameters as Record<string, unknown>,
    idempotency_key: idempotencyKey === undefined ? newKey() : checkedKey(idempotencyKey),
    idempotency_ttl_seconds: options.idempotencyTtlSeconds,
    dedupe: options.dedupe,
    model_version: options.modelVersion,
    derived_from: options.derivedFrom,
    queue: options.queue,
    priority: options.priority,
    available_at: availableAt instanceof Date ? availableAt.toISOString() : availableAt,
    tags: options.tags,
    title: options.title,
    batch_id: options.batchId,
    reservation_id: options.reservationId,
    concurrency: options.concurrency,
    executor: options.executor,
    max_attempts: options.maxAttempts,
    timeout_seconds: options.timeoutSeconds,
  }
}

export async function submitRun<M extends ModelLike>(
  transport: Transport,
  body: KeyedBody,
  { headers, signal, timeoutMs }: CallOptions & { headers?: Record<string, string> },
): Promise<Submitted<M>> {
  const key = body.idempotency_key
  const call = { method: 'POST', path: '/runs', repeat: 'always', key, signal, timeoutMs } as const
  const answer = await transport.send({ ...call, body, ...(headers && { headers }) })
  return submitted(answer.body as SubmittedRun, key)
}

export function submitted<M extends ModelLike>(run: SubmittedRun, key: string): Submitted<M> {
  const { run_id: runId, idempotent_hit: wasDuplicate } = run
  return { run, runId, wasDuplicate, key, warnings: warningsOf(run) }
}

/** A limit may be described by more than a sentence; the sentence is what people read. */
function warningsOf({ quota_warnings: quota, cost_limit_warning: cost }: Warned): string[] {
  const given: unknown[] = [...(quota ?? []), ...(cost === null || cost === undefined ? [] : [cost])]
  return given.map((warning) => (typeof warning === 'string' ? warning : JSON.stringify(warning)))
}
