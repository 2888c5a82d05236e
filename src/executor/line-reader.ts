/** Cuts a stream of bytes into lines of text; of a line that is too long the rest is dropped. Empty lines are left out. */

import { StringDecoder } from 'node:string_decoder'
import { cleanText } from '../model/clean-text.ts'
import { LOG_LINE_BYTES_MAX } from '../model/scope.ts'

export class LineReader {
  readonly #onLine: (line: string) => void
  readonly #decoder = new StringDecoder('utf8')
  readonly #bytesMax: number
  #partial = ''

  constructor(onLine: (line: string) => void, bytesMax = LOG_LINE_BYTES_MAX) {
    this.#onLine = onLine
    this.#bytesMax = bytesMax
  }

  push(chunk: Buffer): void {
    const text = this.#decoder.write(chunk)
    let start = 0
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', start)) {
      this.#keep(text, start, end)
      this.flush()
      start = end + 1
    }
    this.#keep(text, start, text.length)
  }

  /** Gives out a line that has not ended yet. */
  flush(): void {
    const line = this.#partial.endsWith('\r') ? this.#partial.slice(0, -1) : this.#partial
    this.#partial = ''
    if (line !== '') this.#onLine(cleanText(line, this.#bytesMax))
  }

  /** One character more than allowed is kept, for the mark that says that something was cut. */
  #keep(text: string, start: number, end: number): void {
    const room = this.#bytesMax + 1 - this.#partial.length
    if (room > 0) this.#partial += text.slice(start, Math.min(end, start + room))
  }
}
