/**
 * One attempt, from lease to settled: resolve → execute → classify → keep the result → settle → announce.
 *
 * The attempt is the only licence to write about its run, and only through settle, which the lease epoch guards. When the lease is lost
 * the work is aborted and nothing is written. A settle that cannot reach the database is repeated until it is answered: the
 * epoch makes a repeat harmless, and an expired lease alone takes nothing from its holder.
 */

import type { AbortReason, AttemptError, AttemptReports, Executor, Handle, Outcome } from '../executor/executor.ts'
import type { ModelDefinition } from '../run/definition.ts'
import { hiddenTexts, hideTexts } from '../run/redaction.ts'
import type { RetryPolicy } from '../run/retry.ts'
import type { Lease, Settled, Settlement, Store } from '../store/store.ts'
import type { Log } from '../telemetry/log.ts'
import { runFields } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { classify, type Verdict } from './classify.ts'
import { type KeepResultOptions, type Kept, keepResult } from './keep-result.ts'

export type AttemptDeps = {
  workerId: string
  store: Pick<Store, 'settle'>
  executorOf: (name: string) => Executor | undefined
  definitionOf: (model: string, version: string) => ModelDefinition | undefined
  policyOf: (queue: string, definition: ModelDefinition | undefined) => RetryPolicy
  results: KeepResultOptions
  cancelGraceMs: number
  saveProgress: (lease: Lease, value: unknown) => void
  /** Words that make the name of a parameter sensitive; the usual ones when not given. */
  redactWords?: readonly string[]
  log: Log
  metrics: Metrics
  random?: () => number
}

const SETTLE_RETRY_MS_MAX = 2_000

export class Attempt {
  readonly lease: Lease
  readonly #deps: AttemptDeps
  #asked: AbortReason | null = null
  #executor: Executor | undefined
  #handle: Handle | undefined
  #givenUp = false
  #hidden: string[] | null = null
  readonly #takenAt = performance.now()

  constructor(lease: Lease, deps: AttemptDeps) {
    this.lease = lease
    this.#deps = deps
  }

  /** Resolves when the attempt is over and its slot free; never rejects. */
  async run(): Promise<void> {
    try {
      const begun = this.#submit()
      const handle = begun instanceof Promise ? await begun : begun
      const outcome = handle.ended ?? (await this.#watch(handle))
      const kept = this.#settlementOf(this.#classify(outcome))
      const settlement = kept instanceof Promise ? await kept : kept
      if (settlement) this.#announce(settlement, await this.#settle(settlement))
    } catch (error) {
      this.#deps.log.error(
        { err: error, ...this.#fields('RUNNING') },
        'attempt ended unexpectedly; its lease will lapse',
      )
    }
  }

  /** Asks the work to stop. The first reason stays, except that a lost lease overrules all others. */
  abort(reason: AbortReason): void {
    if (this.#asked === 'lease-lost' || (this.#asked !== null && reason !== 'lease-lost')) return
    this.#asked = reason
    if (reason === 'lease-lost') {
      this.#deps.metrics.leasesLost.inc()
      this.#log('warn', 'lease lost; the work is stopped and nothing more is written', 'RUNNING')
    }
    if (this.#executor && this.#handle) void this.#executor.cancel(this.#handle, reason, this.#graceMs(reason))
  }

  /** No more settle retries: the process is ending and the lease will lapse. */
  giveUp(): void {
    this.#givenUp = true
  }

  #graceMs(reason: AbortReason): number {
    // The next holder may start as soon as the lease ends, so lost work gets no time to tidy up.
    return reason === 'lease-lost' ? 0 : this.#deps.cancelGraceMs
  }

  #submit(): Handle | Promise<Handle> {
    const { lease } = this
    const notStarted = (errorClass: string, message: string): Handle => {
      const ended: Outcome = { status: 'failed', error: { class: errorClass, message, stack: null } }
      return { runId: lease.runId, attempt: lease.attempt, ended }
    }
    const executor = this.#deps.executorOf(lease.executor)
    if (!executor) return notStarted('ExecutorNotFound', `this worker has no executor named ${lease.executor}`)
    const couldNot = (error: Error) => notStarted('ExecutorFailed', error.message)
    this.#executor = executor
    try {
      const begun = executor.submit(
        {
          runId: lease.runId,
          attempt: lease.attempt,
          model: lease.model,
          modelVersion: lease.modelVersion,
          parameters: lease.parameters,
          seed: lease.seed,
          timeoutMs: lease.timeoutSeconds * 1_000,
          alone: lease.reclaimCount > 0,
        },
        this.#reports(),
      )
      return begun instanceof Promise ? begun.catch(couldNot) : begun
    } catch (error) {
      return couldNot(error as Error)
    }
  }

  /** Work that was over before it could be watched is told of by its end alone. */
  #watch(handle: Handle): Promise<Outcome> {
    const executor = this.#executor!
    this.#handle = handle
    this.#log('info', 'run started', 'RUNNING')
    const asked = this.#asked
    if (asked) void executor.cancel(handle, asked, this.#graceMs(asked))
    return executor.watch(handle)
  }

  #reports(): AttemptReports {
    return {
      progress: (value) => this.#deps.saveProgress(this.lease, value),
      log: (level, message, fields) =>
        this.#deps.log[level]({ ...fields, ...this.#fields('RUNNING') }, this.#hide(message)),
    }
  }

  #classify(outcome: Outcome): Verdict {
    const { lease } = this
    const policy = () => this.#deps.policyOf(lease.queue, this.#deps.definitionOf(lease.model, lease.modelVersion))
    return classify(outcome, { lease, policy, asked: this.#asked, random: (this.#deps.random ?? Math.random)() })
  }

  #settlementOf(verdict: Verdict): Settlement | null | Promise<Settlement | null> {
    const { runId, epoch, attempt } = this.lease
    const base = { runId, epoch, attempt, workerId: this.#deps.workerId }
    if (verdict.kind === 'nothing') {
      this.#log('warn', `attempt left to its lease: ${verdict.why}`, 'RUNNING')
      return null
    }
    if (verdict.kind === 'succeed') {
      const definition = this.#deps.definitionOf(this.lease.model, this.lease.modelVersion)
      const settlementOfKept = (kept: Kept) => {
        if (kept.ok) return { ...base, kind: 'succeed' as const, result: kept.result }
        return this.#settlementOf(this.#classify({ status: 'failed', error: kept.error }))
      }
      const kept = keepResult(this.lease, verdict.resultText, definition?.volatile ?? [], this.#deps.results)
      return kept instanceof Promise ? kept.then(settlementOfKept) : settlementOfKept(kept)
    }
    const { error } = verdict
    return error ? { ...base, ...verdict, error: this.#withoutSecrets(error) } : { ...base, ...verdict }
  }

  /** Code that fails likes to say with what: the values of sensitive parameters are taken out before anyone can read the error. */
  #withoutSecrets(error: AttemptError): AttemptError {
    const stack = error.stack === null ? null : this.#hide(error.stack)
    return { ...error, message: this.#hide(error.message), stack }
  }

  #hide(text: string): string {
    this.#hidden ??= hiddenTexts(this.lease.parameters, { words: this.#deps.redactWords })
    return hideTexts(text, this.#hidden)
  }

  async #settle(settlement: Settlement): Promise<Settled> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.#deps.store.settle(settlement)
      } catch (error) {
        if (tries === 1)
          this.#deps.log.warn({ err: error, ...this.#fields('RUNNING') }, 'could not settle; trying again')
        if (this.#givenUp) throw error
        await new Promise((resolve) => setTimeout(resolve, Math.min(SETTLE_RETRY_MS_MAX, 25 * 2 ** Math.min(tries, 8))))
      }
    }
  }

  #announce(settlement: Settlement, settled: Settled): void {
    const { metrics, log } = this.#deps
    if (settled.status === 'stale') {
      metrics.lateResultsDiscarded.inc()
      this.#log('warn', 'late result discarded: the lease had been lost', 'RUNNING')
      return
    }
    metrics.attempts.inc(ATTEMPT_STATE_OF[settlement.kind])
    if (settled.status === 'SUCCEEDED') metrics.runsSucceeded.inc()
    else if (settled.status === 'FAILED') metrics.runsFailed.inc()
    else if (settled.status === 'CANCELLED') metrics.runsCancelled.inc()
    const durationSeconds = this.#durationSeconds()
    metrics.runDuration.observe(this.lease.model, durationSeconds)
    if (settlement.kind === 'succeed') {
      log.info({ ...this.#fields(settled.status), duration_seconds: durationSeconds }, 'run succeeded')
    } else {
      const { error, delaySeconds } = settlement
      log.warn(
        {
          error_class: error?.class,
          error: error?.message,
          delay_seconds: delaySeconds,
          ...this.#fields(settled.status),
        },
        ENDED[settlement.kind],
      )
    }
  }

  /** Since the first start: earlier attempts by the database's clock, this one by a clock that never jumps. */
  #durationSeconds(): number {
    return Math.round(this.lease.startedSeconds * 1_000 + performance.now() - this.#takenAt) / 1_000
  }

  #fields(status: string) {
    const { runId, payloadHash, attempt, queue, executor } = this.lease
    return runFields({
      runId,
      payloadHash,
      workerId: this.#deps.workerId,
      status,
      attemptCount: attempt,
      queue,
      executor,
    })
  }

  #log(level: 'info' | 'warn', message: string, status: string): void {
    this.#deps.log[level](this.#fields(status), message)
  }
}

const ATTEMPT_STATE_OF = {
  succeed: 'SUCCEEDED',
  fail: 'FAILED',
  retry: 'FAILED',
  cancel: 'CANCELLED',
  release: 'RELEASED',
} as const

const ENDED = {
  fail: 'run failed',
  retry: 'attempt failed; a retry is scheduled',
  cancel: 'run cancelled',
  release: 'run released for another worker',
} as const
