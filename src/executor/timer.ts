/** A timer for any number of milliseconds. The platform's own fires at once when asked for more than 2^31 - 1 (25 days). */

const PART_MS_MAX = 2 ** 31 - 1

export class Timer {
  #handle: NodeJS.Timeout

  constructor(ms: number, action: () => void) {
    this.#handle = this.#arm(ms, action)
  }

  stop(): void {
    clearTimeout(this.#handle)
  }

  #arm(ms: number, action: () => void): NodeJS.Timeout {
    if (ms <= PART_MS_MAX) return setTimeout(action, ms)
    return setTimeout(() => {
      this.#handle = this.#arm(ms - PART_MS_MAX, action)
    }, PART_MS_MAX)
  }
}
