/**
 * What one attempt shares with the world while it runs: its abort signal on the way in, progress and log on the way out.
 *
 * A scope ends with its attempt. What leftover activity of user code reports after that is dropped, so that it can never be taken
 * for a report of the attempt that runs next.
 */

import type { AbortReason, AttemptInput, AttemptReports, StepReports } from '../executor/executor.ts'
import { AMOUNT_WANTED, isAmount, roundAmount } from '../run/amount.ts'
import { canonicalText, NotJson } from '../run/canonical.ts'
import { cleanText } from './clean-text.ts'
import type { Meter } from './step-usage.ts'

export type LogLevel = Parameters<AttemptReports['log']>[0]

export const LOG_LINE_BYTES_MAX = 8 * 1024
export const LOG_BYTES_MAX = 1024 * 1024
export const LOG_CUT_MESSAGE = `further log lines of this attempt are left out: it wrote more than ${LOG_BYTES_MAX} bytes`
const PROGRESS_CHARS_MAX = 16 * 1024

/** The reason of the abort signal. It is named as the platform names its own, so that libraries treat it as an abort. */
export class Aborted extends Error {
  override readonly name: string = 'AbortError'
  readonly reason: AbortReason

  constructor(reason: AbortReason) {
    super(`the attempt is to stop: ${reason}`)
    this.reason = reason
  }
}

export class AttemptScope {
  readonly input: AttemptInput
  /** The first reason given stays. */
  abortReason: AbortReason | null = null
  readonly meter: Meter | undefined
  readonly #reports: AttemptReports
  #controller: AbortController | undefined
  #over = false
  #logBytes = 0

  /** `meter`: where what the process uses is what the attempt uses. */
  constructor(input: AttemptInput, reports: AttemptReports, meter?: Meter) {
    this.input = input
    this.#reports = reports
    this.meter = meter
  }

  get steps(): StepReports | undefined {
    return this.#reports.steps
  }

  get isOver(): boolean {
    return this.#over
  }

  /** Made at first use: most short attempts never look at it, and it costs more than all the rest of a scope. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.abortReason !== null) this.#controller.abort(new Aborted(this.abortReason))
    }
    return this.#controller.signal
  }

  abort(reason: AbortReason): void {
    if (this.#over || this.abortReason !== null) return
    this.abortReason = reason
    this.#controller?.abort(new Aborted(reason))
  }

  end(): void {
    this.#over = true
  }

  progress(value: unknown): void {
    if (this.#over) return
    try {
      const text = canonicalText(value)
      if (text.length <= PROGRESS_CHARS_MAX) this.#reports.progress(JSON.parse(text))
      else this.log('warn', `progress left out: it is longer than ${PROGRESS_CHARS_MAX} characters of JSON`)
    } catch (error) {
      this.log('warn', `progress left out: ${error instanceof NotJson ? error.message : 'it is no JSON value'}`)
    }
  }

  /** An amount that is none is a mistake of the model, and told to it. */
  cost(amount: number): void {
    if (!isAmount(amount)) throw new TypeError(`ctx.cost: ${String(amount)} ${AMOUNT_WANTED}`)
    if (!this.#over) this.#reports.cost?.(roundAmount(amount))
  }

  log(level: LogLevel, message: unknown, fields?: Record<string, unknown>): void {
    if (this.#over || this.#logBytes > LOG_BYTES_MAX) return
    const text = cleanText(typeof message === 'string' ? message : String(message), LOG_LINE_BYTES_MAX)
    const kept = fields === undefined ? undefined : jsonFields(fields)
    this.#logBytes += text.length + (kept?.chars ?? 0)
    if (this.#logBytes > LOG_BYTES_MAX) this.#reports.log('warn', LOG_CUT_MESSAGE)
    else this.#reports.log(level, text, kept?.fields)
  }
}

/** Fields are reduced to JSON where they are made: later they may have changed, or be unable to cross a process border. */
function jsonFields(fields: Record<string, unknown>): { fields: Record<string, unknown>; chars: number } {
  try {
    const text = canonicalText(fields)
    if (text.length <= LOG_LINE_BYTES_MAX) return { fields: JSON.parse(text), chars: text.length }
    return { fields: { fields_left_out: `longer than ${LOG_LINE_BYTES_MAX} characters of JSON` }, chars: 0 }
  } catch (error) {
    return { fields: { fields_left_out: error instanceof NotJson ? error.message : 'no JSON' }, chars: 0 }
  }
}
