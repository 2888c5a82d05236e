/**
 * One attempt in a pool child, from the worker's side: it waits for a child, runs in it, may be told to stop, and ends once.
 *
 * It ends with the outcome the child reports or with the end of the child, whichever is first. Told to stop, user code has the grace
 * to end by itself; then programs it started get SIGTERM, and at the end of the grace the whole process group is killed.
 */

import { abortedOutcome } from '../model/run-attempt.ts'
import { LOG_BYTES_MAX, LOG_CUT_MESSAGE } from '../model/scope.ts'
import { answerStep, type StepRequest, withDate } from './answer-step.ts'
import type { ChildHandle, ChildListener } from './child-handle.ts'
import type { AbortReason, AttemptError, AttemptInput, AttemptReports, Handle, Outcome } from './executor.ts'
import { type ExitReport, exitError } from './exit-error.ts'
import type { FromChild } from './messages.ts'
import type { Pool, Waiter } from './pool.ts'
import { Timer } from './timer.ts'

/** A child can die of what an earlier attempt left in it, before it has taken this one; another child then gets it. */
const HANDOVERS_MAX = 3

export class ProcessAttempt implements Handle, Waiter, ChildListener {
  readonly runId: string
  readonly attempt: number
  readonly alone: boolean
  readonly outcome: Promise<Outcome>
  readonly #id: number
  readonly #input: AttemptInput
  readonly #reports: AttemptReports
  readonly #pool: Pool
  readonly #deadline: Timer
  #resolve!: (outcome: Outcome) => void
  #child: ChildHandle | null = null
  #started = false
  #over = false
  #handovers = 0
  #abortReason: AbortReason | null = null
  #terminate: Timer | undefined
  #kill: Timer | undefined
  #killAtMs = Number.POSITIVE_INFINITY
  #outputBytes = 0
  #received: Outcome | null = null

  constructor(id: number, input: AttemptInput, reports: AttemptReports, pool: Pool, timeoutGraceMs: number) {
    this.runId = input.runId
    this.attempt = input.attempt
    this.alone = input.alone === true
    this.#id = id
    this.#input = input
    this.#reports = reports
    this.#pool = pool
    this.outcome = new Promise((resolve) => {
      this.#resolve = resolve
    })
    this.#deadline = new Timer(input.timeoutMs, () => this.abort('timeout', timeoutGraceMs))
    pool.acquire(this)
  }

  abort(reason: AbortReason, graceMs: number): void {
    if (this.#over) return
    this.#abortReason ??= reason
    if (this.#child === null) {
      this.#pool.withdraw(this)
      this.#end(this.#abortedOutcome(' while it waited for a child process'))
      return
    }
    this.#child.send({ type: 'abort', id: this.#id, reason })
    const killAtMs = performance.now() + graceMs
    if (killAtMs >= this.#killAtMs) return
    this.#killAtMs = killAtMs
    this.#stopTimers()
    this.#terminate = new Timer(graceMs / 2, () => this.#child?.signalGroup('SIGTERM'))
    this.#kill = new Timer(graceMs, () => this.#child?.kill())
  }

  onChild(child: ChildHandle): void {
    this.#child = child
    child.fresh = false
    child.listener = this
    child.send({ type: 'run', id: this.#id, input: this.#input })
  }

  onNoChild(error: AttemptError): void {
    this.#end({ status: 'failed', error })
  }

  onMessage(message: FromChild): void {
    if (this.#over || !('id' in message) || message.id !== this.#id) return
    if (message.type === 'started') this.#started = true
    else if (message.type === 'progress') this.#reports.progress(message.value)
    else if (message.type === 'cost') this.#reports.cost?.(message.amount)
    else if (message.type === 'log') this.#reports.log(message.level, message.message, message.fields)
    else if (message.type === 'steps-asked' || message.type === 'step') void this.#answer(message)
    else if (message.type === 'step-states') this.#reports.steps?.states(message.states.map(withDate))
    else if (message.type === 'outcome') this.#receiveOutcome(message.outcome, message.retire)
  }

  async #answer(message: StepRequest): Promise<void> {
    const answer = await answerStep(message, this.#reports.steps)
    if (!this.#over) this.#child?.send(answer)
  }

  onLine(stream: 'stdout' | 'stderr', line: string): void {
    if (this.#over || this.#outputBytes > LOG_BYTES_MAX) return
    this.#outputBytes += line.length
    if (this.#outputBytes > LOG_BYTES_MAX) this.#reports.log('warn', LOG_CUT_MESSAGE, { stream })
    else this.#reports.log(stream === 'stdout' ? 'info' : 'warn', line, { stream })
  }

  onExit(report: ExitReport): void {
    if (this.#over) return
    this.#child = null
    if (this.#received !== null) this.#end(this.#received)
    else if (this.#abortReason !== null) this.#end(this.#abortedOutcome(' and was killed'))
    else if (!this.#started && ++this.#handovers < HANDOVERS_MAX) this.#pool.acquire(this)
    else this.#end({ status: 'failed', error: exitError(report) })
  }

  /**
   * Output and messages come on different pipes. What the child wrote before its outcome is readable by now, but may be read only in
   * the loop's next turn, so the end waits for that turn.
   */
  #receiveOutcome(outcome: Outcome, retire: boolean): void {
    this.#received = outcome
    setImmediate(() => setImmediate(() => this.#leaveChild(outcome, retire)))
  }

  #leaveChild(outcome: Outcome, retire: boolean): void {
    const child = this.#child
    if (this.#over || child === null) return
    child.flushOutput()
    this.#end(outcome)
    if (retire) child.kill()
    else if (this.alone) child.end()
    else this.#pool.release(child)
  }

  #end(outcome: Outcome): void {
    this.#over = true
    this.#deadline.stop()
    this.#stopTimers()
    this.#resolve(outcome)
  }

  #abortedOutcome(detail: string): Outcome {
    return abortedOutcome(this.#abortReason ?? 'cancelled', this.#input.timeoutMs, detail)
  }

  #stopTimers(): void {
    this.#terminate?.stop()
    this.#kill?.stop()
  }
}
