/** Puts text together piece by piece up to a limit: runs of blanks become one, and there is never more than one empty line. */

export class TextBuilder {
  readonly #pieces: string[] = []
  readonly #charactersMax: number
  #length = 0
  #breaks = 2
  #hasBlank = false

  constructor(charactersMax: number) {
    this.#charactersMax = charactersMax
  }

  /** Nothing more is taken; what came after the limit is left out. */
  get isFull(): boolean {
    return this.#length >= this.#charactersMax
  }

  get length(): number {
    return this.#length
  }

  /** Line ends in `piece` count as blanks. */
  add(piece: string): void {
    if (this.isFull || piece === '') return
    const words = piece.replace(/\s+/gu, ' ')
    const body = words.trim()
    if (words.startsWith(' ')) this.#hasBlank = true
    if (body === '') return
    if (this.#hasBlank && this.#breaks === 0) this.#put(' ')
    this.#put(body)
    this.#breaks = 0
    this.#hasBlank = words.endsWith(' ')
  }

  /** Divides what is next from what was before, as between the cells of a table. */
  addTab(): void {
    if (this.isFull || this.#breaks > 0) return
    this.#put('\t')
    this.#hasBlank = false
  }

  /** Ends the line; with `lines` 2 it leaves an empty one. Said twice it is done once. */
  breakLine(lines: 1 | 2 = 1): void {
    this.#hasBlank = false
    while (this.#breaks < lines) {
      if (this.#length > 0) this.#put('\n')
      this.#breaks++
    }
  }

  toString(): string {
    return this.#pieces.join('').trimEnd().toWellFormed()
  }

  #put(piece: string): void {
    const taken = piece.slice(0, this.#charactersMax - this.#length)
    this.#pieces.push(taken)
    this.#length += taken.length
  }
}
