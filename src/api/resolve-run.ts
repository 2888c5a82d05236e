/**
 * From a request to a run that can be stored: parameters checked and completed, payload hashed, settings resolved.
 *
 * Defaults come from the model, its queue and the configuration. A request may ask for less than the model declares
 * (fewer attempts, a shorter timeout), never for more.
 */

import type { SubmitBody } from '../contract/submit.ts'
import { checkParameters } from '../model/parameter-check.ts'
import { allowedExecutors } from '../run/allowed-executors.ts'
import { canonicalText } from '../run/canonical.ts'
import { type CostDefinition, estimateOf, type RunCost, runCostOf } from '../run/cost.ts'
import type { ModelDefinition } from '../run/definition.ts'
import { type ErrorCode, Refusal } from '../run/errors.ts'
import { OVERDUE_PER_EXPECTED } from '../run/overdue.ts'
import { payloadHash } from '../run/payload-hash.ts'
import { findMarker } from '../run/redaction.ts'
import { mergeRetryPolicy, type RetryPolicyInput } from '../run/retry.ts'
import { keyByModel, keyByRequest } from '../run/runs-per-key.ts'
import { seedFromHash } from '../run/seed.ts'
import type { NewRun, QueueState } from '../store/store.ts'
import type { ApiConfig } from './api.ts'

/** What a request says outside its body. `sees`: whose runs may be named to it, null for everyone's. */
export type Sender = { owner: string; key: string | null; traceParent: string | null; sees?: string | null }

export type Surroundings = {
  model: ModelDefinition
  queues: ReadonlyMap<string, QueueState>
  config: ApiConfig
  nowMs: number
}

const AHEAD_YEARS_MAX = 10
const AHEAD_MS_MAX = AHEAD_YEARS_MAX * 366 * 24 * 3600 * 1000
const NO_POLICY: RetryPolicyInput = {}

/** Throws a Refusal for what the model or the service does not allow. */
export function resolveRun(id: string, body: SubmitBody, sender: Sender, around: Surroundings): NewRun {
  const { model, config } = around
  const parameters = acceptedParameters(body.parameters, model)
  const parametersText = canonicalText(parameters)
  const queue = resolveQueue(body, around)
  const hash = payloadHash({
    model: model.name,
    modelVersion: model.version,
    parameters,
    parametersText,
    ignoreInHash: model.ignoreInHash,
  })
  const run: NewRun = {
    id,
    owner: sender.owner,
    model: model.name,
    modelVersion: model.version,
    queue,
    priority: body.priority ?? model.priority,
    executor: resolveExecutor(body, model),
    parameters,
    parametersText,
    payloadHash: hash,
    seed: seedFromHash(hash),
    maxAttempts: resolveMaxAttempts(
      body,
      maxAttemptsOf(config.retry, around.queues.get(queue)?.retry ?? NO_POLICY, model),
    ),
    timeoutSeconds: resolveTimeout(body, model, config),
    expectedSeconds: model.expectedSeconds,
    availableAt: resolveAvailableAt(body, around.nowMs),
    key: resolveKey(body, sender.key, config),
    slot: resolveSlot(body, sender.key, config),
    title: body.title ?? null,
    tags: body.tags ?? [],
    batchId: body.batch_id ?? null,
    retryOf: null,
    traceParent: sender.traceParent,
  }
  const concurrency = resolveConcurrency(body, model, { owner: sender.owner, parameters })
  if (concurrency) run.concurrency = concurrency
  if (model.cost) run.cost = resolveCost(model.cost, model, parameters)
  if (sender.sees === null) run.seesAll = true
  if (body.reservation_id) run.reservationId = body.reservation_id.toLowerCase()
  return run
}

function acceptedParameters(parameters: Record<string, unknown>, model: ModelDefinition): unknown {
  const marker = findMarker(parameters)
  if (marker !== null) {
    throw refused('redaction-marker', `/parameters${marker}`, 'is the marker that stands for a hidden value')
  }
  const check = checkParameters(model.parametersSchema, parameters)
  if (check.ok) return check.value
  const errors = check.errors.map(({ pointer, detail }) => ({ pointer: `/parameters${pointer}`, detail }))
  const detail = errors.map((error) => `${error.pointer} ${error.detail}`).join('; ')
  throw new Refusal('invalid-parameters', `The parameters do not fit ${model.name}@${model.version}: ${detail}.`, {
    errors,
  })
}

function resolveQueue({ queue }: SubmitBody, { model, queues }: Surroundings): string {
  if (!queue || queue === model.queue || queues.has(queue)) return queue ?? model.queue
  const known = [...new Set([model.queue, ...queues.keys()])].slice(0, 20).join(', ')
  throw refused('override-not-allowed', '/queue', `is not a known queue; known are ${known}`)
}

function resolveExecutor({ executor }: SubmitBody, model: ModelDefinition): string {
  if (!executor || executor === model.executor) return model.executor
  const allowed = allowedExecutors(model)
  if (allowed.includes(executor)) return executor
  throw refused('override-not-allowed', '/executor', `must be ${allowed.join(' or ')} for the model ${model.name}`)
}

function resolveMaxAttempts({ max_attempts: asked }: SubmitBody, most: number): number {
  if (!asked || asked <= most) return asked ?? most
  throw refused(
    'override-not-allowed',
    '/max_attempts',
    `must be at most ${most}, as the retry policy of the model says`,
  )
}

function resolveTimeout({ timeout_seconds: asked }: SubmitBody, model: ModelDefinition, config: ApiConfig): number {
  const expected = model.expectedSeconds === null ? null : model.expectedSeconds * OVERDUE_PER_EXPECTED
  const most = model.timeoutSeconds ?? expected ?? config.submit.timeoutSeconds
  if (!asked || asked <= most) return asked ?? most
  throw refused('override-not-allowed', '/timeout_seconds', `must be at most ${most}, the timeout of the model`)
}

function resolveAvailableAt({ available_at: text }: SubmitBody, nowMs: number): string | null {
  if (!text) return null
  const atMs = Date.parse(text)
  // The store takes the later of this time and its own clock; only the bounds are checked here.
  if (atMs >= 0 && atMs <= nowMs + AHEAD_MS_MAX) return new Date(atMs).toISOString()
  throw refused('invalid-body', '/available_at', `must be a time after 1970 and at most ${AHEAD_YEARS_MAX} years ahead`)
}

function resolveCost(cost: CostDefinition, { name, version }: ModelDefinition, parameters: unknown): RunCost {
  const estimated = estimateOf(cost, parameters)
  if (estimated.ok) return runCostOf(cost, estimated.amount)
  const errors = [{ pointer: '/parameters', detail: `the formula of the cost ${estimated.problem}` }]
  const detail = `The cost of ${name}@${version} cannot be computed for these parameters: the formula ${estimated.problem}.`
  throw new Refusal('cost-not-computable', detail, { errors })
}

/** A model that has keys decides alone. */
function resolveConcurrency(
  { concurrency: asked }: SubmitBody,
  { name, runsPerKey }: ModelDefinition,
  run: { owner: string; parameters: unknown },
): NewRun['concurrency'] {
  if (!runsPerKey) return asked ? keyByRequest(asked, run) : undefined
  if (asked)
    throw refused('override-not-allowed', '/concurrency', `must be left out: the model ${name} has keys of its own`)
  return keyByModel({ name, runsPerKey }, run) ?? undefined
}

function resolveKey(body: SubmitBody, key: string | null, { submit }: ApiConfig): NewRun['key'] {
  return key === null ? null : { key, ttlSeconds: body.idempotency_ttl_seconds ?? submit.keyTtlSeconds }
}

/** An explicit key decides alone, unless the request also asks for deduplication by payload. */
function resolveSlot(body: SubmitBody, key: string | null, { submit }: ApiConfig): NewRun['slot'] {
  const dedupe = body.dedupe ?? (key === null ? 'active' : 'off')
  const windowSeconds = (key === null ? body.idempotency_ttl_seconds : null) ?? submit.dedupeWindowSeconds
  return dedupe === 'off' || windowSeconds === 0 ? null : { dedupe, windowSeconds }
}

/** Merging policies is more work than the rest of this file; for the same three it is done once. */
const merged = new WeakMap<
  ModelDefinition,
  WeakMap<RetryPolicyInput, { global: RetryPolicyInput; maxAttempts: number }>
>()

function maxAttemptsOf(global: RetryPolicyInput, queue: RetryPolicyInput, model: ModelDefinition): number {
  const byQueue = merged.get(model) ?? new WeakMap()
  merged.set(model, byQueue)
  const known = byQueue.get(queue)
  if (known?.global === global) return known.maxAttempts
  const { maxAttempts } = mergeRetryPolicy(global, queue, model.retry)
  byQueue.set(queue, { global, maxAttempts })
  return maxAttempts
}

function refused(code: ErrorCode, pointer: string, detail: string): Refusal {
  return new Refusal(code, `${pointer} ${detail}.`, { errors: [{ pointer, detail }] })
}
