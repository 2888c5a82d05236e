/**
 * Gathers what attempts print and writes all of it together, about once a second, and at the end of each attempt.
 *
 * One write is under way at a time, so the pieces of an attempt keep their order; ends that come meanwhile share the next one. What could
 * not be written is tried again, so after a lost reply a piece may be there twice. A lost attempt is closed: it keeps nothing more.
 */

import type { AttemptLogs } from '../store/ports/attempt-logs.ts'
import type { AttemptLog } from './attempt-log.ts'

const END_TRIES_MAX = 3

export class LogWriter {
  readonly #store: Pick<AttemptLogs, 'append'>
  readonly #waiting = new Set<AttemptLog>()
  readonly #ending = new Set<AttemptLog>()
  #writing: Promise<void> | null = null

  constructor(store: Pick<AttemptLogs, 'append'>) {
    this.#store = store
  }

  note(log: AttemptLog): void {
    this.#waiting.add(log)
  }

  /** Resolves when everything noted before is written or given up; to be called before the attempt is settled. */
  async end(log: AttemptLog): Promise<void> {
    this.#ending.add(log)
    // What it holds of this attempt must be there before the attempt ends.
    await this.#writing?.catch(() => {})
    for (let tries = 1; this.#waiting.has(log); tries += 1) {
      try {
        await this.write()
      } catch {
        if (tries >= END_TRIES_MAX) break
        await new Promise((resolve) => setTimeout(resolve, 100 * 4 ** tries))
      }
    }
    this.#ending.delete(log)
    this.#waiting.delete(log)
  }

  async write(): Promise<void> {
    // Whatever is under way may have begun before the last note.
    while (this.#writing) await this.#writing.catch(() => {})
    if (this.#waiting.size === 0) return
    this.#writing = this.#writeWaiting()
    try {
      await this.#writing
    } finally {
      this.#writing = null
    }
  }

  async #writeWaiting(): Promise<void> {
    const logs = [...this.#waiting]
    this.#waiting.clear()
    const items = logs.map((log) => ({ log, fence: log.lease, pieces: log.take(this.#ending.has(log)) }))
    try {
      const full = items.filter(({ pieces }) => pieces.length > 0)
      if (full.length === 0) return
      const { lost } = await this.#store.append(full.map(({ fence, pieces }) => ({ fence, pieces })))
      const gone = new Set(lost.map(({ runId, epoch }) => `${runId} ${epoch}`))
      for (const { log, fence } of full) if (gone.has(`${fence.runId} ${fence.epoch}`)) log.close()
    } catch (error) {
      for (const { log, pieces } of items) {
        log.putBack(pieces)
        this.#waiting.add(log)
      }
      throw error
    } finally {
      for (const { log } of items) if (!log.isEmpty) this.#waiting.add(log)
    }
  }
}
