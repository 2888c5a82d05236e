/**
 * The inline executor: the model's function in the worker itself, for short and trusted work.
 *
 * Nothing can end code that runs here against its will. An attempt that does not answer its abort signal within the grace is given
 * up: its outcome is reported as cancelled or timed out, whatever it still does is dropped, and the code goes on until it returns.
 * Only a cancel is never reported before the code has ended, because it says that the work is gone.
 */

import type { Registry } from '../model/registry.ts'
import { abortedOutcome, runAttempt } from '../model/run-attempt.ts'
import { AttemptScope } from '../model/scope.ts'
import type { AbortReason, AttemptInput, AttemptReports, Executor, Handle, Outcome } from './executor.ts'
import { Timer } from './timer.ts'

export type InlineOptions = {
  registry: Registry
  /** How long an attempt may take to stop once its time is over. */
  timeoutGraceMs?: number
}

const TIMEOUT_GRACE_MS = 5_000

export class InlineExecutor implements Executor {
  readonly name = 'inline'
  readonly #registry: Registry
  readonly #timeoutGraceMs: number

  constructor(options: InlineOptions) {
    this.#registry = options.registry
    this.#timeoutGraceMs = options.timeoutGraceMs ?? TIMEOUT_GRACE_MS
  }

  submit(input: AttemptInput, reports: AttemptReports): Handle {
    return new InlineAttempt(this.#registry, input, reports, this.#timeoutGraceMs)
  }

  async watch(handle: Handle): Promise<Outcome> {
    return handle.ended ?? (handle as InlineAttempt).outcome!
  }

  cancel(handle: Handle, reason: AbortReason, graceMs: number): Promise<void> {
    return (handle as InlineAttempt).cancel(reason, graceMs)
  }

  stop(): Promise<void> {
    return Promise.resolve()
  }
}

class InlineAttempt implements Handle {
  readonly runId: string
  readonly attempt: number
  readonly ended: Outcome | undefined
  readonly outcome: Promise<Outcome> | undefined
  readonly #scope: AttemptScope
  #finish: ((outcome: Outcome) => void) | undefined
  #timer: Timer | undefined

  /** The function starts here, in the caller's turn; an attempt that ends in it needs neither timer nor promise of its own. */
  constructor(registry: Registry, input: AttemptInput, reports: AttemptReports, timeoutGraceMs: number) {
    this.runId = input.runId
    this.attempt = input.attempt
    this.#scope = new AttemptScope(input, reports)
    const outcome = runAttempt(registry, this.#scope)
    if (!(outcome instanceof Promise)) {
      this.ended = outcome
      return
    }
    this.outcome = new Promise((resolve) => {
      this.#finish = resolve
    })
    this.#timer = new Timer(input.timeoutMs, () => this.#abort('timeout', timeoutGraceMs))
    outcome.then((settled) => this.#end(settled))
  }

  async cancel(reason: AbortReason, graceMs: number): Promise<void> {
    if (this.#finish === undefined) return
    this.#abort(reason, graceMs)
    await this.outcome
  }

  #abort(reason: AbortReason, graceMs: number): void {
    this.#scope.abort(reason)
    // A cancel is confirmed only by work that has ended. What ignores its signal is left to its timeout and to the janitor.
    if (reason === 'cancelled') return
    this.#timer?.stop()
    this.#timer = new Timer(graceMs, () => {
      const { abortReason, input } = this.#scope
      this.#scope.end()
      this.#end(abortedOutcome(abortReason ?? reason, input.timeoutMs, ' and did not stop when told'))
    })
  }

  #end(outcome: Outcome): void {
    this.#timer?.stop()
    this.#finish?.(outcome)
    this.#finish = undefined
  }
}
