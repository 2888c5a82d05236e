/**
 * Follows what a pod prints and passes it on, each line once.
 *
 * The connection may break at any time. It is taken up again from the time of the last line, which Kubernetes takes in whole seconds only, so what
 * was passed on already is told by the times in front of the lines and left out. Output and errors are one stream in Kubernetes.
 * A line with the outcome is not for people: it is kept for `outcomeText`.
 */

import { cleanText } from '../model/clean-text.ts'
import { LOG_LINE_BYTES_MAX } from '../model/scope.ts'
import type { KubernetesClient } from './kubernetes-client.ts'
import { CONTAINER } from './kubernetes-job.ts'
import { LineReader } from './line-reader.ts'
import { OUTCOME_LINE_BYTES_MAX } from './outcome-line.ts'
import { Pause } from './pause.ts'

export type LogTimings = { retryMs: number; finishMs: number }

const LINE = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d) ?(.*)$/s
const OUTCOME = 'HOLDFAST-OUTCOME '
/** Times and outcome lines come on top of what the attempt's log may hold. */
const TRANSFER_FACTOR = 4

export class KubernetesLogs {
  readonly #client: KubernetesClient
  readonly #namespace: string
  readonly #pod: string
  readonly #onText: (text: string) => void
  readonly #timings: LogTimings
  readonly #bytesMax: number
  readonly #stop = new AbortController()
  readonly #pause = new Pause()
  readonly #following: Promise<void>
  #bytes = 0
  #isOver = false
  #isWhole = false
  /** The time of the last line as Kubernetes wrote it, and how many lines had it. */
  #last = { second: '', fraction: '', lines: 0 }
  #skip = 0
  #outcomeText = ''

  /** `since`: a time at which an earlier follower had passed on everything. `bytesMax`: more than this is not asked for. */
  constructor(options: {
    client: KubernetesClient
    namespace: string
    pod: string
    since: string | null
    bytesMax: number
    timings: LogTimings
    onText: (text: string) => void
  }) {
    this.#client = options.client
    this.#namespace = options.namespace
    this.#pod = options.pod
    this.#onText = options.onText
    this.#timings = options.timings
    this.#bytesMax = options.bytesMax
    if (options.since) this.#last.second = options.since
    this.#following = this.#follow()
  }

  get pod(): string {
    return this.#pod
  }

  /** The time, in whole seconds, up to which everything was passed on; null before the first line. */
  get until(): string | null {
    return this.#last.second || null
  }

  /** The lines in which the program may have said how it ended. */
  get outcomeText(): string {
    return this.#outcomeText
  }

  /** The container has ended: what is left of its output is passed on, as far as it comes within the time for it. */
  async finish(): Promise<void> {
    this.#isOver = true
    this.#pause.end()
    const timer = setTimeout(() => this.close(), this.#timings.finishMs)
    await this.#following
    clearTimeout(timer)
  }

  close(): void {
    this.#stop.abort()
    this.#pause.end()
  }

  async #follow(): Promise<void> {
    while (!this.#stop.signal.aborted && this.#bytes < this.#bytesMax) {
      const wasOver = this.#isOver
      const ended = await this.#readOnce(!wasOver)
      // A follow that ended by itself has everything, as has a plain read after the end.
      if (ended && this.#isOver) this.#isWhole = true
      if (this.#isWhole) return
      await this.#pause.wait(this.#timings.retryMs)
    }
  }

  async #readOnce(follow: boolean): Promise<boolean> {
    const { second, lines, fraction } = this.#last
    this.#skip = lines
    const resumed = { second, fraction }
    const reader = new LineReader((line) => this.#pass(line, resumed), OUTCOME_LINE_BYTES_MAX * 2)
    const options = {
      container: CONTAINER,
      follow,
      sinceTime: second ? `${second}Z` : undefined,
      limitBytes: (this.#bytesMax - this.#bytes) * TRANSFER_FACTOR + OUTCOME_LINE_BYTES_MAX * 2,
      signal: this.#stop.signal,
    }
    try {
      await this.#client.podLog(this.#namespace, this.#pod, options, (chunk) => reader.push(chunk))
      reader.flush()
      return true
    } catch {
      return false
    }
  }

  #pass(line: string, resumed: { second: string; fraction: string }): void {
    const [, local = '', fraction = '', zone, text] = LINE.exec(line) ?? []
    if (text === undefined) return
    const second = zone === 'Z' ? local : new Date(`${local}${zone}`).toISOString().slice(0, 19)
    const padded = fraction.padEnd(9, '0')
    if (second < resumed.second || (second === resumed.second && padded < resumed.fraction)) return
    if (second === resumed.second && padded === resumed.fraction && this.#skip > 0) {
      this.#skip -= 1
      return
    }
    const same = second === this.#last.second && padded === this.#last.fraction
    this.#last = { second, fraction: padded, lines: same ? this.#last.lines + 1 : 1 }
    if (text.startsWith(OUTCOME)) {
      this.#outcomeText = text
      return
    }
    this.#bytes += text.length + 1
    this.#onText(`${cleanText(text, LOG_LINE_BYTES_MAX)}\n`)
  }
}
