/** A wait that can be ended early. An end that comes between two waits ends the next one at once, so that no news is slept over. */

export class Pause {
  #ended = false
  #wake: (() => void) | null = null

  end(): void {
    this.#ended = true
    this.#wake?.()
  }

  async wait(ms: number): Promise<void> {
    if (!this.#ended) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms)
        this.#wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
    this.#wake = null
    this.#ended = false
  }
}
