/** What a sequence sends: requests for runs and settlements, made from the numbers of its operations. */

import { canonicalText, sha256 } from '../../src/run/canonical.ts'
import { payloadHash } from '../../src/run/payload-hash.ts'
import { decideRetry, mergeRetryPolicy } from '../../src/run/retry.ts'
import type { ClaimRequest, Lease, NewRun, SettleKind, Settlement } from '../../src/store/store.ts'
import { type ClaimShape, LEASE_MS, MODELS, QUEUES, type SubmitShape } from './operations.ts'

const SLOT_WINDOW_SECONDS = 600
const UNLIMITED = 1_000
const ENGINES = ['ray']
/** Any executor may have handed its work over; one of them is never adopted from. */
export const ADOPTED = ['ray', 'inline']
const POLICY = mergeRetryPolicy({ delaysSeconds: [0.5, 30], jitter: 0 }, {}, {})

/** Unique, and in no relation to the order in which runs are made: ties in a queue are broken by id. */
export function uuidOf(owner: string, index: number): string {
  const scrambled = sha256(String(index)).slice(0, 8)
  const unique = sha256(`${owner} ${index}`)
  return `${scrambled}-${unique.slice(0, 4)}-7${unique.slice(4, 7)}-8${unique.slice(7, 10)}-${unique.slice(10, 22)}`
}

export function newRun(shape: SubmitShape, id: string, owner: string, nowMs: number): NewRun {
  // A retry has the input of the run it retries, which its number decides.
  const { model, version: modelVersion } = MODELS[shape.retryOf ?? shape.model]!
  const parameters = { payload: shape.retryOf ?? shape.payload }
  const { dedupe } = shape
  return {
    id,
    owner,
    model,
    modelVersion,
    queue: QUEUES[shape.queue]!,
    priority: shape.priority,
    executor: shape.executor,
    parameters,
    parametersText: canonicalText(parameters),
    payloadHash: payloadHash({ model, modelVersion, parameters, ignoreInHash: [] }),
    seed: 7,
    maxAttempts: shape.maxAttempts,
    timeoutSeconds: shape.timeoutSeconds,
    expectedSeconds: null,
    availableAt: shape.delayMs === 0 ? null : new Date(nowMs + shape.delayMs).toISOString(),
    key: shape.key === null ? null : { key: `key-${shape.key}`, ttlSeconds: shape.keyTtlSeconds },
    slot: dedupe === 'off' ? null : { dedupe, windowSeconds: SLOT_WINDOW_SECONDS },
    title: null,
    tags: [],
    batchId: null,
    retryOf: shape.retryOf === null ? null : uuidOf('retried', shape.retryOf),
    traceParent: null,
  }
}

export function claimRequest(workerId: string, { slots, queues, models, room }: ClaimShape): ClaimRequest {
  const roomOf = (what: 'queue' | 'model') => (room?.of === what ? room.room : UNLIMITED)
  return {
    workerId,
    leaseMs: LEASE_MS,
    slots,
    queues: queues.map((queue) => ({ queue: QUEUES[queue]!, room: roomOf('queue') })),
    models: models.map((model) => ({ ...MODELS[model]!, room: roomOf('model') })),
    engines: ENGINES,
  }
}

/** Whether a retryable error leads to a retry or to the end is the policy's word, as in a worker. */
export function settlementOf(lease: Lease, workerId: string, kind: SettleKind): Settlement {
  const { runId, epoch, attempt } = lease
  const base = { runId, epoch, attempt, workerId, kind }
  if (kind === 'cancel' || kind === 'release') return base
  if (kind === 'succeed') {
    const text = canonicalText({ attempt, epoch, workerId })
    return { ...base, result: { ref: 'inline', hash: sha256(text), text } }
  }
  const error = { class: 'Storm', message: `attempt ${attempt} failed`, stack: null }
  if (kind === 'lost') return { ...base, error }
  const decision = decideRetry({
    policy: POLICY,
    error: { class: error.class, retryable: kind === 'retry' },
    countedAttempts: attempt - lease.releaseCount,
    maxAttempts: lease.maxAttempts,
    random: 0,
  })
  return decision.retry
    ? { ...base, kind: 'retry', error, delaySeconds: decision.delaySeconds }
    : { ...base, kind: 'fail', error }
}
