/**
 * Follows the log of one Ray job. Ray hands out the whole file each time, so it is asked seldom, more seldom the longer the log, and not
 * at all once as much has been read as an attempt may keep; the end of the file is read separately, for the outcome line.
 */

import type { AttemptReports } from './executor.ts'
import { findOutcome, OUTCOME_LINE_BYTES_MAX, withoutOutcomeLines } from './outcome-line.ts'
import type { RayClient } from './ray-client.ts'

const HEAD_BYTES_MAX = 8 * 1_048_576
const EVERY_MS_MIN = 1_000
/** Reading logs takes at most about a twentieth of the time. */
const PAUSE_PER_MS = 20

export class RayLogReader {
  readonly #client: RayClient
  readonly #id: string
  readonly #reports: AttemptReports
  #emitted = 0
  #full = false
  #nextAtMs = 0

  /** `from`: how much of it an earlier holder of the lease has handed on. */
  constructor(client: RayClient, id: string, reports: AttemptReports, from = 0) {
    this.#client = client
    this.#id = id
    this.#reports = reports
    this.#emitted = from
  }

  get emitted(): number {
    return this.#emitted
  }

  /** Reads on if it is time. Failures do not matter: the next time catches up. */
  async follow(): Promise<void> {
    const startMs = performance.now()
    if (this.#full || startMs < this.#nextAtMs) return
    await this.#read().catch(() => {})
    const tookMs = performance.now() - startMs
    this.#nextAtMs = performance.now() + Math.max(EVERY_MS_MIN, tookMs * PAUSE_PER_MS)
  }

  /** What is left, when the job is over. */
  async finish(): Promise<void> {
    if (!this.#full) await this.#read(true).catch(() => {})
  }

  /** The outcome the job printed because it could not say it; rejects when Ray cannot be asked. */
  async outcome(ticket: string) {
    const log = await this.#client.log(this.#id, { headBytesMax: HEAD_BYTES_MAX, tailBytesMax: OUTCOME_LINE_BYTES_MAX })
    return log && (findOutcome(log.tail, ticket) ?? findOutcome(log.head.slice(-OUTCOME_LINE_BYTES_MAX), ticket))
  }

  async #read(last = false): Promise<void> {
    const log = await this.#client.log(this.#id, { headBytesMax: HEAD_BYTES_MAX })
    if (log === null) return
    this.#full = log.cut
    // Whole lines, so that a line of the outcome is never shown in part.
    const end = last || log.cut ? log.head.length : log.head.lastIndexOf('\n') + 1
    if (end <= this.#emitted) return
    const text = withoutOutcomeLines(log.head.slice(this.#emitted, end))
    this.#emitted = end
    if (text !== '') this.#reports.output?.('stdout', text)
  }
}
