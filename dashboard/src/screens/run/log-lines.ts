/**
 * The lines of a log out of its pieces, which end anywhere. Codes for colours and cursors are taken out. Only the newest lines are kept:
 * a page that is left open for days must not grow without end.
 */

import type { LogPiece } from '@holdfast/client'

export const LINES_MAX = 100_000
/** Longer lines are cut: one of megabytes would freeze what shows it. */
export const LINE_LENGTH_MAX = 4_000

export type LogLine = {
  /** 1, 2, 3 … of what was read. */
  no: number
  attempt: number
  at: string
  stream: LogPiece['stream']
  text: string
}

// The ways in which programs colour their output and move the cursor: CSI, OSC and the other escapes, and what is left of control characters.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const ESCAPES = /[\u001b\u009b](?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[ -/]*[0-~])?/g
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f]/g

/** A line as a terminal would leave it: without codes, and of what was written over itself only the last. */
export function plainText(text: string): string {
  const isPlain = !/[^\t\u0020-\u007e\u00a0-\uffff]/.test(text)
  if (isPlain) return text
  const bare = text.replace(ESCAPES, '').replace(/\r+$/, '')
  return bare.slice(bare.lastIndexOf('\r') + 1).replace(CONTROLS, '')
}

export class LogLines {
  readonly #linesMax: number
  /** The first of them may be older than what is kept; they go in one cut now and then. */
  #lines: LogLine[] = []
  #dropped = 0
  #unfinished = new Map<string, LogLine>()

  constructor(linesMax = LINES_MAX) {
    this.#linesMax = linesMax
  }

  /** How many there are to be shown. */
  get count(): number {
    return Math.min(this.#lines.length, this.#linesMax)
  }

  /** How many older ones are no longer here. */
  get leftOut(): number {
    return this.#dropped + this.#lines.length - this.count
  }

  at(index: number): LogLine | undefined {
    return this.#lines[this.#lines.length - this.count + index]
  }

  add({ attempt, at, stream, text }: LogPiece): void {
    const key = `${attempt} ${stream}`
    const parts = text.split('\n')
    for (const [index, part] of parts.entries()) {
      const isEnded = index < parts.length - 1
      const begun = this.#unfinished.get(key)
      if (begun) begun.text = cut(overwritten(begun.text + part))
      else if (part !== '' || isEnded) this.#begin(key, { no: 0, attempt, at, stream, text: cut(part) })
      if (isEnded) this.#end(key)
    }
    if (this.#lines.length > this.#linesMax * 1.2) this.#trim()
  }

  /** Shown from its beginning on, and longer when the rest of it comes. */
  #begin(key: string, line: LogLine): void {
    line.no = this.#dropped + this.#lines.length + 1
    this.#lines.push(line)
    this.#unfinished.set(key, line)
  }

  #end(key: string): void {
    const line = this.#unfinished.get(key)
    if (line) line.text = plainText(line.text)
    this.#unfinished.delete(key)
  }

  #trim(): void {
    const extra = this.#lines.length - this.#linesMax
    this.#lines = this.#lines.slice(extra)
    this.#dropped += extra
  }
}

/** Of a line that writes over itself only what is there now; else a progress bar would fill it with its past. */
function overwritten(text: string): string {
  return text.slice(text.lastIndexOf('\r', text.length - 2) + 1)
}

function cut(text: string): string {
  return text.length > LINE_LENGTH_MAX ? `${text.slice(0, LINE_LENGTH_MAX)}…` : text
}
