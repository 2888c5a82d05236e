/**
 * Turns what a program prints into text that can be stored: bytes that are no UTF-8 and NUL become U+FFFD, secrets a marker.
 *
 * Text goes out as it comes, except for an end that may be the beginning of a secret or of a character. After `bytesMax` a line says
 * so and nothing more is decoded: a flood costs no more than reading it. Each of the two troubles is told once.
 */

import { StringDecoder } from 'node:string_decoder'
import { hideTexts } from '../run/redaction.ts'

/** U+FFFD itself: a program may print it, and then nothing was replaced. */
const REPLACEMENT = Buffer.from('\uFFFD')

export type OutputTextOptions = {
  emit: (text: string) => void
  onTrouble?: (message: string) => void
  hidden: readonly string[]
  bytesMax: number
}

export class OutputText {
  readonly #emit: (text: string) => void
  readonly #onTrouble: ((message: string) => void) | undefined
  readonly #hidden: readonly string[]
  readonly #decoder = new StringDecoder('utf8')
  readonly #bytesMax: number
  #left: number
  #kept = ''
  #isUnprintableTold = false

  constructor(options: OutputTextOptions) {
    this.#emit = options.emit
    this.#onTrouble = options.onTrouble
    this.#hidden = options.hidden
    this.#bytesMax = options.bytesMax
    this.#left = options.bytesMax
  }

  push(chunk: Buffer): void {
    if (this.#left < 0) return
    const part = chunk.byteLength > this.#left ? chunk.subarray(0, this.#left) : chunk
    this.#left -= chunk.byteLength
    const decoded = this.#decoder.write(part)
    this.#tellOfUnprintable(decoded, part)
    const text = hideTexts(this.#kept + decoded, this.#hidden)
    const kept = this.#beginningOfSecret(text)
    this.#kept = text.slice(text.length - kept)
    this.#give(text.slice(0, text.length - kept))
    if (this.#left < 0) this.#cut()
  }

  #cut(): void {
    this.end()
    this.#give(`\n[what follows is left out: more than ${this.#bytesMax} bytes were printed]\n`)
    this.#onTrouble?.(`more than ${this.#bytesMax} bytes were printed; the rest is left out of the log`)
  }

  #tellOfUnprintable(decoded: string, bytes: Buffer): void {
    if (this.#isUnprintableTold) return
    const isReplaced = decoded.includes('\uFFFD') && !bytes.includes(REPLACEMENT)
    if (!isReplaced && !decoded.includes('\0')) return
    this.#isUnprintableTold = true
    this.#onTrouble?.('bytes that are no UTF-8, or NUL, were printed; the log shows U+FFFD instead')
  }

  end(): void {
    this.#give(hideTexts(this.#kept + this.#decoder.end(), this.#hidden))
    this.#kept = ''
  }

  #give(text: string): void {
    if (text !== '') this.#emit(text.replaceAll('\0', '\uFFFD'))
  }

  /** How many of the last characters may belong to a secret that goes on in the next piece. */
  #beginningOfSecret(text: string): number {
    let longest = 0
    for (const secret of this.#hidden) {
      for (let length = Math.min(secret.length - 1, text.length); length > longest; length--) {
        if (text.endsWith(secret.slice(0, length))) longest = length
      }
    }
    return longest
  }
}
