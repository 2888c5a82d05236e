/**
 * The reports of an attempt in a child, sent to the worker as messages.
 *
 * Progress, and what the attempt has cost so far, are thinned here: a loop that reports each of a million steps without a pause would
 * otherwise fill this process's memory with messages that wait to be sent. The latest value always arrives, at the latest with the outcome.
 */

import { ChildSteps } from './child-steps.ts'
import type { AttemptReports } from './executor.ts'
import type { FromChild, LogLevel } from './messages.ts'

const PROGRESS_INTERVAL_MS = 100

export class ChildReports implements AttemptReports {
  readonly steps: ChildSteps
  readonly #id: number
  readonly #send: (message: FromChild) => void
  #sentAtMs = Number.NEGATIVE_INFINITY
  #waiting: { value: unknown } | null = null
  #amount: number | null = null
  #timer: NodeJS.Timeout | undefined

  constructor(id: number, send: (message: FromChild) => void) {
    this.#id = id
    this.#send = send
    this.steps = new ChildSteps(id, send)
  }

  progress(value: unknown): void {
    this.#waiting = { value }
    this.#flushSoon()
  }

  cost(amount: number): void {
    this.#amount = amount
    this.#flushSoon()
  }

  log(level: LogLevel, message: string, fields?: Record<string, unknown>): void {
    this.#send({ type: 'log', id: this.#id, level, message, ...(fields && { fields }) })
  }

  /** What is still to be told when the attempt ends. */
  end(): void {
    this.steps.flush()
    this.flush()
  }

  flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#waiting === null && this.#amount === null) return
    if (this.#waiting) this.#send({ type: 'progress', id: this.#id, value: this.#waiting.value })
    if (this.#amount !== null) this.#send({ type: 'cost', id: this.#id, amount: this.#amount })
    this.#waiting = null
    this.#amount = null
    this.#sentAtMs = performance.now()
  }

  #flushSoon(): void {
    const dueMs = this.#sentAtMs + PROGRESS_INTERVAL_MS - performance.now()
    if (dueMs <= 0) this.flush()
    else this.#timer ??= setTimeout(() => this.flush(), dueMs)
  }
}
