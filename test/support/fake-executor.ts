/** An executor whose attempts do what the test says, when it says so; it notes everything it is asked. */

import type {
  AbortReason,
  AttemptInput,
  AttemptReports,
  Executor,
  Handle,
  Outcome,
} from '../../src/executor/executor.ts'

export type FakeAttempt = {
  input: AttemptInput
  reports: AttemptReports
  cancels: { reason: AbortReason; graceMs: number }[]
  end(outcome: Outcome): void
}

export class FakeExecutor implements Executor {
  readonly name: string
  readonly attempts: FakeAttempt[] = []
  /** Set it to make `submit` wait or fail. */
  beforeSubmit: () => Promise<void> = async () => {}
  /** Set it to have work that is over in the turn it began. */
  atOnce: ((input: AttemptInput, reports: AttemptReports) => Outcome) | null = null
  /** Set it to end attempts at once. */
  onCancel: (attempt: FakeAttempt, reason: AbortReason) => void = () => {}
  stops = 0
  readonly #outcomes = new Map<Handle, { attempt: FakeAttempt; outcome: Promise<Outcome> }>()

  constructor(name = 'inline') {
    this.name = name
  }

  submit(input: AttemptInput, reports: AttemptReports): Handle | Promise<Handle> {
    const ended = this.atOnce?.(input, reports)
    return ended ? { runId: input.runId, attempt: input.attempt, ended } : this.#begin(input, reports)
  }

  async #begin(input: AttemptInput, reports: AttemptReports): Promise<Handle> {
    await this.beforeSubmit()
    const { promise, resolve } = Promise.withResolvers<Outcome>()
    const attempt: FakeAttempt = { input, reports, cancels: [], end: resolve }
    const handle: Handle = { runId: input.runId, attempt: input.attempt }
    this.attempts.push(attempt)
    this.#outcomes.set(handle, { attempt, outcome: promise })
    return handle
  }

  watch(handle: Handle): Promise<Outcome> {
    return this.#outcomes.get(handle)!.outcome
  }

  async cancel(handle: Handle, reason: AbortReason, graceMs: number): Promise<void> {
    const { attempt, outcome } = this.#outcomes.get(handle)!
    attempt.cancels.push({ reason, graceMs })
    this.onCancel(attempt, reason)
    await outcome
  }

  async stop(): Promise<void> {
    this.stops += 1
  }
}
