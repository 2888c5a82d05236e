/** Where in a JSON text the value of a pointer stands, so that what is said about a parameter can be shown there too. */

import { stepsOf } from './value-path.ts'

/** Offsets of the value, and its line from 1. */
export type Place = { start: number; end: number; line: number }

/** Of the nearest place around it when the pointer names something that is not there; null when the text is not JSON. */
export function placeOf(text: string, pointer: string): Place | null {
  const scanner = new Scanner(text)
  try {
    const { start, end } = scanner.find(stepsOf(pointer))
    return { start, end, line: text.slice(0, start).split('\n').length }
  } catch {
    return null
  }
}

class Scanner {
  readonly text: string
  at = 0

  constructor(text: string) {
    this.text = text
  }

  find(steps: string[]): { start: number; end: number } {
    this.#blank()
    const start = this.at
    const [step, ...rest] = steps
    if (step !== undefined && this.#enter(step)) return this.find(rest)
    this.at = start
    this.#skip()
    return { start, end: this.at }
  }

  /** To the value of a member or item of what begins here; false when there is none. */
  #enter(step: string): boolean {
    const open = this.text[this.at]
    if (open !== '{' && open !== '[') return false
    this.at += 1
    for (let index = 0; ; index += 1) {
      this.#blank()
      if (this.text[this.at] === '}' || this.text[this.at] === ']') return false
      const name = open === '{' ? this.#name() : String(index)
      if (name === step) return true
      this.#skip()
      this.#blank()
      if (this.text[this.at] !== ',') return false
      this.at += 1
    }
  }

  #name(): string {
    const start = this.at
    this.#string()
    const name = JSON.parse(this.text.slice(start, this.at)) as string
    this.#blank()
    this.at += 1
    return name
  }

  /** Past the value that begins here. */
  #skip(): void {
    this.#blank()
    const first = this.text[this.at]
    if (first === '"') {
      this.#string()
      return
    }
    if (first !== '{' && first !== '[') {
      const [plain = ''] = /^[^\s,\]}]+/.exec(this.text.slice(this.at, this.at + 400)) ?? []
      if (plain === '') throw new SyntaxError('no value here')
      this.at += plain.length
      return
    }
    let depth = 0
    do {
      const character = this.text[this.at]
      if (character === undefined) throw new SyntaxError('the text ends early')
      if (character === '"') {
        this.#string()
        continue
      }
      if (character === '{' || character === '[') depth += 1
      if (character === '}' || character === ']') depth -= 1
      this.at += 1
    } while (depth > 0)
  }

  #string(): void {
    if (this.text[this.at] !== '"') throw new SyntaxError('no text here')
    this.at += 1
    while (this.text[this.at] !== '"') {
      if (this.at >= this.text.length) throw new SyntaxError('the text ends early')
      this.at += this.text[this.at] === '\\' ? 2 : 1
    }
    this.at += 1
  }

  #blank(): void {
    while (' \t\n\r'.includes(this.text[this.at] ?? 'x')) this.at += 1
  }
}
