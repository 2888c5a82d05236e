/**
 * How an attempt ends that runs elsewhere: completed, failed or handed back.
 *
 * A remote worker's attempt is settled here, by the rules that our own workers settle by. What an engine's job says is
 * kept for the worker that holds its lease, which is told at once. Said again, because the answer was lost, it is
 * answered as the first time; said of an attempt that was lost, it changes nothing and is recorded as late.
 */

import type { EndedObject } from '../contract/lease.ts'
import type { AttemptError, Outcome } from '../executor/executor.ts'
import { foundIn } from '../run/facets.ts'
import { resultHash } from '../run/payload-hash.ts'
import { hiddenTexts, hideTexts } from '../run/redaction.ts'
import { mergeRetryPolicy, type RetryPolicy } from '../run/retry.ts'
import { settledCost } from '../run/settled-cost.ts'
import type { AttemptState } from '../run/status.ts'
import type { JobOutcome, OpenAttempt } from '../store/ports/attempts.ts'
import type { EndedAttempt } from '../store/ports/remote.ts'
import type { SettleKind, Settlement } from '../store/store.ts'
import { classify, type Verdict } from '../worker/classify.ts'
import { keepResult } from '../worker/keep-result.ts'
import { announceEnd } from './announce-end.ts'
import type { ApiDeps } from './api.ts'
import { leaseLost } from './attempt-credential.ts'
import { createPlacesSignal } from './freed-places.ts'
import type { Known } from './known.ts'
import { redactOptionsOf } from './redact-options.ts'

export type Ending =
  | { verb: 'complete'; resultText: string; cost?: number }
  | { verb: 'fail'; error: AttemptError | null; cancelled: boolean; cost?: number }
  | { verb: 'release' }

/** What a token led to: an attempt that is open, or one that is over. */
export type TokenHolder = {
  runId: string
  tokenHash: Buffer
  open: OpenAttempt | null
  ended: EndedAttempt | null
}

export type EndAttempt = (holder: TokenHolder, ending: Ending) => Promise<EndedObject>

type Deps = ApiDeps & { known: Known; random?: () => number }

const INLINE_BYTES_MAX = 64 * 1024
const RESULT_BYTES_MAX = 64 * 1024 * 1024

export function createEndAttempt(deps: Deps): EndAttempt {
  const { store, wakeup, config, blob, known, random = Math.random } = deps
  const redaction = redactOptionsOf(config)
  const results = {
    blob,
    inlineBytes: config.result?.inlineBytesMax ?? INLINE_BYTES_MAX,
    maxBytes: config.result?.bytesMax ?? RESULT_BYTES_MAX,
  }

  const givePlaces = createPlacesSignal(deps)

  /** Where runs have concurrency keys others may be waiting for the place. */
  async function freePlace({ runId, model, modelVersion }: OpenAttempt): Promise<void> {
    const isKeyed = (await known.model(model, modelVersion))?.definition.runsPerKey !== undefined
    if (isKeyed || store.blocks.areKeysInUse) givePlaces(runId)
  }

  async function policyOf({ queue, model, modelVersion }: OpenAttempt): Promise<RetryPolicy> {
    const [queues, registered] = await Promise.all([known.queues(), known.model(model, modelVersion)])
    return mergeRetryPolicy(config.retry, queues.get(queue)?.retry ?? {}, registered?.definition.retry ?? {})
  }

  async function settlementOf(open: OpenAttempt, ending: Ending): Promise<Settlement> {
    const { runId, epoch, attempt, holder: workerId } = open
    const registered = await known.model(open.model, open.modelVersion)
    const reported = ('cost' in ending ? ending.cost : null) ?? null
    const base = { runId, epoch, attempt, workerId, ...settledCost(registered?.definition, reported) }
    if (ending.verb === 'release') return { ...base, kind: 'release' }
    const policy = await policyOf(open)
    const classified = (outcome: Outcome): Verdict =>
      classify(outcome, {
        lease: open,
        policy: () => policy,
        asked: open.cancelRequested ? 'cancelled' : null,
        random: random(),
      })
    let verdict = classified(outcomeOf(open, ending))
    if (verdict.kind === 'succeed') {
      const kept = await keepResult(open, verdict.resultText, registered?.definition.volatile ?? [], results)
      const found = registered && foundIn(verdict.resultText, registered.definition)
      if (kept.ok) return { ...base, kind: 'succeed', result: kept.result, ...(found && { found }) }
      verdict = classified({ status: 'failed', error: kept.error })
    }
    const { kind, error, delaySeconds } = verdict as Exclude<Verdict, { kind: 'succeed' | 'nothing' }>
    return {
      ...base,
      kind,
      ...(error && { error: withoutSecrets(open, error) }),
      ...(delaySeconds !== undefined && { delaySeconds }),
    }
  }

  /**
   * Code that fails likes to say with what: the values of sensitive parameters are taken out before anyone can read the
   * error.
   */
  function withoutSecrets({ parameters }: OpenAttempt, error: AttemptError): AttemptError {
    const hidden = hiddenTexts(parameters, redaction)
    const stack = error.stack === null ? null : hideTexts(error.stack, hidden)
    return { ...error, message: hideTexts(error.message, hidden), stack }
  }

  async function settle(open: OpenAttempt, holder: TokenHolder, ending: Ending): Promise<EndedObject> {
    const settlement = await settlementOf(open, ending)
    const settled = await store.remote.settle(settlement)
    // Taken back a moment ago, or a twin of this request came first.
    if (settled.status === 'stale' || settled.repeated) return again(holder, ending)
    announceEnd(deps, open, settlement, settled.status)
    if (settled.status !== 'PENDING') await freePlace(open)
    if (settlement.kind === 'release' && settled.status === 'PENDING') wakeup.hint(`queue:${open.queue}`, open.runId)
    const state = STATE_OF[settlement.kind]
    return { run_id: open.runId, attempt: open.attempt, state, run_status: settled.status }
  }

  async function keep(open: OpenAttempt, holder: TokenHolder, ending: Ending): Promise<EndedObject> {
    const isKept = await store.attempts.keepJobOutcome(
      open.runId,
      holder.tokenHash,
      jobOutcome(open, ending, withoutSecrets),
    )
    if (!isKept) return again(holder, ending)
    wakeup.hint(`worker:${open.holder}`, open.runId)
    return { run_id: open.runId, attempt: open.attempt, state: 'RUNNING', run_status: 'RUNNING' }
  }

  async function again({ runId, tokenHash }: TokenHolder, ending: Ending): Promise<EndedObject> {
    const ended = await store.remote.ended(runId, tokenHash)
    if (!ended) throw leaseLost(runId)
    return repeat(runId, ended, ending)
  }

  async function repeat(runId: string, ended: EndedAttempt, ending: Ending): Promise<EndedObject> {
    const { attempt, epoch, holder: workerId, state, runStatus } = ended
    if (isEndOf(ending, ended)) {
      return { run_id: runId, attempt, state: state as EndedObject['state'], run_status: runStatus }
    }
    // The epoch is an old one: this changes nothing but the record.
    const { status } = await store.remote.settle({ runId, epoch, attempt, workerId, ...lateEnd(ending) })
    if (status === 'stale') deps.metrics.lateResultsDiscarded.inc()
    throw leaseLost(runId)
  }

  return async (holder, ending) => {
    const { open, ended, runId } = holder
    if (open) return open.externalRef === null ? settle(open, holder, ending) : keep(open, holder, ending)
    if (!ended) throw leaseLost(runId)
    return repeat(runId, ended, ending)
  }
}

function outcomeOf(open: OpenAttempt, ending: Exclude<Ending, { verb: 'release' }>): Outcome {
  if (ending.verb === 'complete') return { status: 'succeeded', resultText: ending.resultText }
  const { error, cancelled } = ending
  if (cancelled || error === null || (error.class === 'Cancelled' && open.cancelRequested))
    return { status: 'cancelled' }
  return { status: 'failed', error }
}

function lateEnd(ending: Ending): Pick<Settlement, 'kind' | 'result'> {
  if (ending.verb !== 'complete') return { kind: ending.verb }
  const text = ending.resultText
  return { kind: 'succeed', result: { ref: 'inline', hash: resultHash(text, []), text } }
}

/** An engine's job cannot be handed back: what it was stopped by is its error. */
function jobOutcome(
  open: OpenAttempt,
  ending: Ending,
  withoutSecrets: (open: OpenAttempt, error: AttemptError) => AttemptError,
): JobOutcome {
  const cost = 'cost' in ending && ending.cost !== undefined ? { cost: ending.cost } : {}
  if (ending.verb === 'complete') return { ok: true, result_text: ending.resultText, ...cost }
  const stopped = ending.verb === 'release' ? 'Released' : 'Cancelled'
  const said = ending.verb === 'fail' ? ending.error : null
  const plain = said ?? { class: stopped, message: 'the job was asked to stop', stack: null }
  const { class: errorClass, message, stack, retryable, exitCode } = withoutSecrets(open, plain)
  return {
    ok: false,
    ...cost,
    error: {
      class: errorClass,
      message,
      stack,
      ...(retryable !== undefined && { retryable }),
      ...(exitCode !== undefined && { exit_code: exitCode }),
    },
  }
}

const STATE_OF: Record<SettleKind, EndedObject['state']> = {
  succeed: 'SUCCEEDED',
  fail: 'FAILED',
  retry: 'FAILED',
  lost: 'FAILED',
  cancel: 'CANCELLED',
  release: 'RELEASED',
}

const ENDS_OF: Record<Ending['verb'], readonly AttemptState[]> = {
  complete: ['SUCCEEDED'],
  fail: ['FAILED', 'CANCELLED', 'RELEASED'],
  release: ['RELEASED'],
}

/** Errors that a completion itself can end with. */
const COMPLETION_ERRORS = ['ResultTooLarge', 'ArtifactStoreFull', 'ArtifactStoreFailed']

function isEndOf({ verb }: Ending, { state, errorClass }: EndedAttempt): boolean {
  if (ENDS_OF[verb].includes(state)) return true
  return verb === 'complete' && state === 'FAILED' && COMPLETION_ERRORS.includes(errorClass ?? '')
}
