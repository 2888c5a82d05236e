/**
 * What one attempt prints, between two writes: kept up to the limit, with the values of sensitive parameters taken out.
 *
 * A value may be cut in two by how the work prints it. So the end of a text that could be the beginning of such a value stays here until
 * more comes, or the end of the attempt.
 */

import { hideTexts } from '../run/redaction.ts'
import type { LogPiece, LogStream } from '../store/ports/attempt-logs.ts'
import type { Lease } from '../store/store.ts'

export class AttemptLog {
  readonly lease: Lease
  readonly #hidden: () => readonly string[]
  #roomBytes: number
  #pieces: LogPiece[] = []

  /** `hidden`: the texts to take out, the longest first; asked for when there is something to write. */
  constructor(lease: Lease, hidden: () => readonly string[], bytesMax: number) {
    this.lease = lease
    this.#hidden = hidden
    this.#roomBytes = bytesMax
  }

  get isEmpty(): boolean {
    return this.#pieces.length === 0
  }

  /** The piece that crosses the limit is taken, so that the store sees that there was more, and nothing after it. */
  add(stream: LogStream, text: string): void {
    if (this.#roomBytes < 0 || text === '') return
    const taken = text.length > this.#roomBytes ? text.slice(0, this.#roomBytes + 1) : text
    this.#roomBytes -= Buffer.byteLength(taken)
    const last = this.#pieces.at(-1)
    if (last?.stream === stream) last.text += taken
    else this.#pieces.push({ stream, text: taken })
  }

  /** Nothing that is printed from now on is kept. */
  close(): void {
    this.#roomBytes = -1
    this.#pieces = []
  }

  take(isLast: boolean): LogPiece[] {
    const hidden = this.#hidden()
    const pieces = this.#pieces
    this.#pieces = []
    if (hidden.length === 0) return pieces
    const taken: LogPiece[] = []
    const begun = new Map<LogStream, string>()
    for (const { stream, text } of pieces) {
      const shown = hideTexts((begun.get(stream) ?? '') + text, hidden)
      const at = beginningAt(shown, hidden)
      begun.set(stream, shown.slice(at))
      if (at > 0) taken.push({ stream, text: shown.slice(0, at) })
    }
    const rest = [...begun].map(([stream, text]) => ({ stream, text })).filter(({ text }) => text !== '')
    if (isLast) return [...taken, ...rest]
    this.#pieces = rest
    return taken
  }

  /** What could not be written is tried again, before what came meanwhile. */
  putBack(pieces: LogPiece[]): void {
    this.#pieces.unshift(...pieces)
  }
}

/** Where the longest end of the text begins that is a beginning of one of the hidden texts; its length when there is none. */
function beginningAt(text: string, hidden: readonly string[]): number {
  let at = text.length
  for (const secret of hidden) {
    for (let length = Math.min(secret.length - 1, text.length); length > text.length - at; length -= 1) {
      if (!text.endsWith(secret.slice(0, length))) continue
      at = text.length - length
      break
    }
  }
  return at
}
