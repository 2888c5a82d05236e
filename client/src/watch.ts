/**
 * The events of one run, each once and in order, until the event that ends it.
 *
 * They come over a stream while there is one. A stream that breaks, ends early or falls silent is opened again behind the last event
 * seen; what the service sends twice is dropped by its number. Where streaming is not possible, because the platform has no
 * readable bodies or something between buffers or refuses them, the pages of the same address are polled instead.
 *
 * Once it has been reached, the service may be away for `patienceMs` (a restart, a deployment) before the watcher gives up.
 */

import { HoldfastError, MaxRetriesExceeded } from './errors.ts'
import { eventPage, type RunEvent } from './events.ts'
import { SILENCE_MS_MAX, within } from './silence.ts'
import { ServerEventReader } from './sse.ts'
import type { CallOptions, Transport } from './transport.ts'
import type { Run } from './wire.ts'

const POLL_MS = 1_000
const RECONNECT_MS_MIN = 250
const RECONNECT_MS_MAX = 10_000
const PATIENCE_MS = 5 * 60_000

export type WatchOptions = CallOptions & {
  /** Only events with a greater number. */
  after?: number
  /** How long the service may be out of reach; 5 minutes when not given. */
  patienceMs?: number
}

export async function* watchRun(
  transport: Transport,
  runId: string,
  options: WatchOptions = {},
): AsyncGenerator<RunEvent, void, void> {
  const watcher = new Watcher(transport, runId, options)
  for (;;) {
    const seen = watcher.last
    for await (const event of watcher.round()) {
      watcher.last = event.seq
      yield event
      if (isEnd(event)) return
    }
    // Nothing new, and perhaps nothing ever: someone may watch behind the last event of a run that has ended.
    if (watcher.last === seen && (await watcher.isOver())) return
    await watcher.pause()
  }
}

class Watcher {
  last: number
  readonly #transport: Transport
  readonly #runId: string
  readonly #options: WatchOptions
  #isStreaming = true
  #heardMs: number | null = null
  #failures = 0

  constructor(transport: Transport, runId: string, options: WatchOptions) {
    this.#transport = transport
    this.#runId = runId
    this.#options = options
    this.last = options.after ?? 0
  }

  /** Until the stream ends, or one page. A fault that may pass ends the round early. */
  async *round(): AsyncGenerator<RunEvent, void, void> {
    try {
      for await (const event of this.#isStreaming ? this.#stream() : this.#poll()) {
        if (event.seq > this.last) yield event
      }
    } catch (fault) {
      this.#bear(fault)
    }
  }

  /** Also true for a run that is gone. */
  async isOver(): Promise<boolean> {
    try {
      const { body } = await this.#transport.send({ ...this.#call(), path: `/runs/${this.#runId}` })
      this.#hear()
      if ((body as Run).finished_at === null) return false
      // The end may have been written after the round that saw nothing.
      const { data } = await eventPage(this.#transport, this.#runId, { ...this.#options, after: this.last })
      return data.length === 0
    } catch (fault) {
      this.#bear(fault)
      return false
    }
  }

  async pause(): Promise<void> {
    const { clock } = this.#transport
    const backoffMs = Math.min(RECONNECT_MS_MAX, RECONNECT_MS_MIN * 2 ** this.#failures)
    await clock.sleep(this.#isStreaming ? backoffMs : Math.max(POLL_MS, backoffMs), this.#options.signal)
  }

  async *#stream(): AsyncGenerator<RunEvent, void, void> {
    const response = await this.#transport.open({
      ...this.#call(),
      headers: { Accept: 'text/event-stream', ...(this.last > 0 && { 'Last-Event-ID': String(this.last) }) },
    })
    const { body, headers } = response
    const isStream = headers.get('content-type')?.startsWith('text/event-stream') === true
    if (response.status === 200 && (!body || !isStream)) {
      this.#isStreaming = false
      await body?.cancel()
      yield* this.#poll()
      return
    }
    this.#hear()
    if (!body) return
    const reader = new ServerEventReader(body)
    try {
      for (;;) {
        const events = await within(reader.next(), SILENCE_MS_MAX, this.#options.signal)
        if (events === null) return
        this.#hear()
        yield* events.map(({ data }) => runEventIn(data)).filter((event) => event !== null)
      }
    } finally {
      reader.cancel()
    }
  }

  async *#poll(): AsyncGenerator<RunEvent, void, void> {
    const page = await eventPage(this.#transport, this.#runId, { ...this.#options, after: this.last })
    this.#hear()
    yield* page.data
  }

  #call() {
    const { signal, timeoutMs } = this.#options
    return { method: 'GET', path: `/runs/${this.#runId}/events`, repeat: 'always', signal, timeoutMs } as const
  }

  #hear(): void {
    this.#heardMs = this.#transport.clock.nowMs()
    this.#failures = 0
  }

  /** Throws what waiting does not help. */
  #bear(fault: unknown): void {
    this.#options.signal?.throwIfAborted()
    const isRefusal = fault instanceof HoldfastError && !(fault instanceof MaxRetriesExceeded)
    if (isRefusal || this.#heardMs === null) throw fault
    this.#failures += 1
    const awayMs = this.#transport.clock.nowMs() - this.#heardMs
    if (awayMs > (this.#options.patienceMs ?? PATIENCE_MS)) throw fault
  }
}

function isEnd({ status }: RunEvent): boolean {
  return status === 'SUCCEEDED' || status === 'FAILED' || status === 'CANCELLED'
}

/** A line that is no event of a run, such as a sign of life, is passed over. */
function runEventIn(data: string): RunEvent | null {
  const parsed = JSON.parse(data) as Partial<RunEvent> | null
  return typeof parsed?.seq === 'number' ? (parsed as RunEvent) : null
}
