/**
 * The only loop: poller, janitor and progress are ticks of it.
 *
 * A tick runs alone; after it the loop waits its interval, spread by jitter so that many workers do not ask the database in step.
 * `wake` only shortens a wait: it never runs a tick itself, and wakes that come during a tick are one more tick. A tick that
 * throws is reported, and the loop goes on after a pause that grows while the failures last. Stopping twice, or before
 * the start, is harmless.
 */

export type LoopOptions = {
  everyMs: number
  /** Answers `again` to be called at once: there may be more to do. */
  tick: () => Promise<'again' | 'wait'>
  onError: (error: unknown, failures: number) => void
  /** Waits its interval before the first tick as well. */
  waitFirst?: boolean
  random?: () => number
}

const FAILURE_PAUSE_MS_MAX = 5_000

export class Loop {
  readonly #options: LoopOptions
  #stopping = false
  #woken = false
  #timer: NodeJS.Timeout | undefined
  /** Of the last wait, which may be over. */
  #endWait: (() => void) | null = null
  #done: Promise<void> | null = null

  constructor(options: LoopOptions) {
    this.#options = options
  }

  start(): void {
    this.#done ??= this.#run()
  }

  wake(): void {
    this.#woken = true
    this.#endWait?.()
  }

  async stop(): Promise<void> {
    this.#stopping = true
    this.#endWait?.()
    await this.#done
  }

  async #run(): Promise<void> {
    let failures = 0
    if (this.#options.waitFirst) await this.#wait(this.#options.everyMs)
    while (!this.#stopping) {
      this.#woken = false
      let next: 'again' | 'wait' = 'wait'
      try {
        next = await this.#options.tick()
        failures = 0
      } catch (error) {
        failures += 1
        this.#options.onError(error, failures)
      }
      if (failures > 0) await this.#wait(Math.min(FAILURE_PAUSE_MS_MAX, 50 * 2 ** Math.min(failures, 10)))
      else if (next === 'wait' && !this.#woken) await this.#wait(this.#options.everyMs)
    }
    clearTimeout(this.#timer)
  }

  #wait(ms: number): Promise<void> {
    // Not when the wait before was cut short: whoever wakes the loop wants its tick first.
    clearTimeout(this.#timer)
    if (this.#stopping) return Promise.resolve()
    const random = this.#options.random ?? Math.random
    const spread = ms * (0.75 + 0.5 * random())
    return new Promise((resolve) => {
      this.#timer = setTimeout(resolve, spread)
      this.#endWait = resolve
    })
  }
}
