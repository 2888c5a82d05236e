/**
 * Text that one thread leaves for another in shared memory, to be taken when that one looks: a message would wake it, which costs the sender more
 * than all else about it. One thread adds and one takes; neither ever waits for the other.
 */

/** The number of characters that are there. */
const COUNT_BYTES = 4

export class Mailbox {
  readonly #count: Int32Array
  readonly #text: Buffer

  constructor(memory: SharedArrayBuffer) {
    this.#count = new Int32Array(memory, 0, 1)
    this.#text = Buffer.from(memory, COUNT_BYTES)
  }

  static memory(characters: number): SharedArrayBuffer {
    return new SharedArrayBuffer(COUNT_BYTES + characters)
  }

  /** Takes characters of Latin-1. Answers false when there is no room for all of them, and adds none then. */
  add(text: string): boolean {
    for (;;) {
      const count = Atomics.load(this.#count, 0)
      if (count + text.length > this.#text.length) return false
      this.#text.write(text, count, 'latin1')
      // What was there may have been taken meanwhile: then the text belongs at the beginning.
      if (Atomics.compareExchange(this.#count, 0, count, count + text.length) === count) return true
    }
  }

  take(): string {
    for (;;) {
      const count = Atomics.load(this.#count, 0)
      const text = this.#text.toString('latin1', 0, count)
      // More may have been added meanwhile.
      if (Atomics.compareExchange(this.#count, 0, count, 0) === count) return text
    }
  }
}
