/**
 * The lexical half of the strict JSON reader: white space, strings and numbers, and the refusal with its place.
 * `json.ts` is the grammar.
 */

import { numberSurvives } from './json-number.ts'
import { jsonPointer } from './json-pointer.ts'

export class JsonRefused extends Error {
  /** RFC 6901 pointer to the value at fault, or to the object or array that holds the place. */
  readonly pointer: string
  /** For a person, with the cure. */
  readonly reason: string
  /** Where in the text, in UTF-16 code units. */
  readonly offset: number

  constructor(pointer: string, reason: string, offset: number) {
    super(`${reason} (at ${pointer === '' ? 'the top' : pointer}, offset ${offset})`)
    this.name = 'JsonRefused'
    this.pointer = pointer
    this.reason = reason
    this.offset = offset
  }
}

export const QUOTE = 0x22
export const COMMA = 0x2c
export const MINUS = 0x2d
const DOT = 0x2e
const ZERO = 0x30
export const COLON = 0x3a
export const BRACKET_OPEN = 0x5b
const BACKSLASH = 0x5c
export const BRACKET_CLOSE = 0x5d
const LETTER_E = 0x65
export const BRACE_OPEN = 0x7b
export const BRACE_CLOSE = 0x7d
/** No code unit is negative, so this stands for the end of the text. */
export const END = -1

const ESCAPES: Record<string, string> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
}
const POWERS_OF_TEN = Array.from({ length: 16 }, (_, power) => 10 ** power)
/**
 * Up to this many digits every decimal survives a double, and it and its power of ten are exact, so one division reads
 * it.
 */
const EASY_DIGITS = 15

export class JsonScanner {
  readonly text: string
  readonly depthMax: number
  /** Decoded bytes are always well formed; a string given by a caller may not be, and then each value is looked at. */
  readonly wellFormed: boolean
  /** The step taken at each open container, null while a key is being read. */
  readonly path: (string | number | null)[] = []
  pos = 0
  depth = 0

  constructor(text: string, depthMax: number) {
    this.text = text
    this.depthMax = depthMax
    this.wellFormed = text.isWellFormed()
  }

  /** Skips white space and returns the code unit at `pos`. */
  next(): number {
    const text = this.text
    let pos = this.pos
    while (pos < text.length) {
      const code = text.charCodeAt(pos)
      if (code > 0x20 || (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09)) {
        this.pos = pos
        return code
      }
      pos++
    }
    this.pos = pos
    return END
  }

  word(word: string): boolean {
    if (!this.text.startsWith(word, this.pos)) return false
    this.pos += word.length
    return true
  }

  string(): string {
    const text = this.text
    const start = this.pos + 1
    let pos = start
    while (pos < text.length) {
      const code = text.charCodeAt(pos)
      if (code === QUOTE) {
        this.pos = pos + 1
        const value = text.slice(start, pos)
        if (!this.wellFormed) this.checkSurrogates(value, start)
        return value
      }
      if (code === BACKSLASH) return this.escapedString(start, pos)
      if (code < 0x20) return this.controlCharacter(pos)
      pos++
    }
    return this.refuse('the text ends inside a string; close it with a double quote', text.length)
  }

  /** A string with at least one escape, the first of which is at `escapeAt`. */
  escapedString(start: number, escapeAt: number): string {
    const text = this.text
    let value = ''
    let copied = start
    let pos = escapeAt
    while (pos < text.length) {
      const code = text.charCodeAt(pos)
      if (code === BACKSLASH) {
        value += text.slice(copied, pos) + this.escape(pos)
        pos = this.pos
        copied = pos
      } else if (code === QUOTE) {
        this.pos = pos + 1
        value += text.slice(copied, pos)
        this.checkSurrogates(value, start)
        return value
      } else if (code < 0x20) {
        return this.controlCharacter(pos)
      } else {
        pos++
      }
    }
    return this.refuse('the text ends inside a string; close it with a double quote', text.length)
  }

  /** Reads the escape whose backslash is at `pos` and moves behind it. */
  escape(pos: number): string {
    const letter = this.text.charAt(pos + 1)
    const simple = ESCAPES[letter]
    if (simple !== undefined) {
      this.pos = pos + 2
      return simple
    }
    const hex = this.text.slice(pos + 2, pos + 6)
    if (letter !== 'u' || !/^[0-9a-fA-F]{4}$/.test(hex)) {
      const atEnd = pos + (letter === 'u' ? 6 : 2) > this.text.length
      this.refuse('a backslash starts no known escape; write a backslash as \\\\', atEnd ? this.text.length : pos)
    }
    const code = Number.parseInt(hex, 16)
    if (code === 0) this.refuse('NUL (\\u0000) is not allowed in text; remove it, or send bytes as base64', pos)
    this.pos = pos + 6
    return String.fromCharCode(code)
  }

  checkSurrogates(value: string, start: number): void {
    if (value.isWellFormed()) return
    this.refuse('the text holds half of a surrogate pair, which is no character; send the pair or remove it', start)
  }

  controlCharacter(pos: number): never {
    const code = this.text.charCodeAt(pos)
    if (code === 0) this.refuse('NUL is not allowed in text; remove it, or send bytes as base64', pos)
    const written = `\\u${code.toString(16).padStart(4, '0')}`
    this.refuse(`a control character stands in a string as it is; write it as ${written}`, pos)
  }

  /** The short way for numbers of few digits without exponent, which are nearly all; the rest goes to `longNumber`. */
  number(first: number): number {
    const text = this.text
    const start = this.pos
    const digitsAt = first === MINUS ? start + 1 : start
    let pos = digitsAt
    let mantissa = 0
    let code = pos < text.length ? text.charCodeAt(pos) : END
    while (isDigit(code)) {
      mantissa = mantissa * 10 + (code - ZERO)
      code = ++pos < text.length ? text.charCodeAt(pos) : END
    }
    const whole = pos - digitsAt
    if (whole === 0 || (whole > 1 && text.charCodeAt(digitsAt) === ZERO)) return this.malformedNumber(pos)
    let decimals = 0
    if (code === DOT) {
      code = ++pos < text.length ? text.charCodeAt(pos) : END
      while (isDigit(code)) {
        mantissa = mantissa * 10 + (code - ZERO)
        decimals++
        code = ++pos < text.length ? text.charCodeAt(pos) : END
      }
      if (decimals === 0) return this.malformedNumber(pos)
    }
    if ((code | 0x20) === LETTER_E || whole + decimals > EASY_DIGITS) return this.longNumber(start, pos)
    this.pos = pos
    const value = decimals === 0 ? mantissa : mantissa / (POWERS_OF_TEN[decimals] as number)
    return first === MINUS ? -value : value
  }

  longNumber(start: number, mantissaEnd: number): number {
    const exponent = /[eE][+-]?[0-9]*/y
    exponent.lastIndex = mantissaEnd
    const found = exponent.exec(this.text)?.[0] ?? ''
    const end = mantissaEnd + found.length
    if (found !== '' && !isDigit(found.charCodeAt(found.length - 1))) return this.malformedNumber(end)
    const literal = this.text.slice(start, end)
    const value = Number(literal)
    if (!numberSurvives(literal, value)) {
      this.refuse(`the number ${clipped(literal)} would become ${value} in a double; send it as a string`, start)
    }
    this.pos = end
    return value
  }

  malformedNumber(pos: number): never {
    this.refuse('a number is malformed; write it like 0, -1, 0.5 or 1e9', pos)
  }

  unexpected(wanted: string): never {
    const found = this.text.codePointAt(this.pos)
    if (found === undefined) this.refuse(`the text ends where ${wanted} is expected; send the whole text`)
    this.refuse(`found ${quoted(String.fromCodePoint(found))} where ${wanted} is expected; correct the JSON`)
  }

  refuse(reason: string, offset = this.pos): never {
    const steps: (string | number)[] = []
    for (const step of this.path.slice(0, this.depth)) if (step !== null) steps.push(step)
    throw new JsonRefused(jsonPointer(steps), reason, offset)
  }
}

export function isDigit(code: number): boolean {
  return code >= ZERO && code <= 0x39
}

export function quoted(text: string): string {
  return JSON.stringify(clipped(text))
}

function clipped(text: string): string {
  return text.length <= 40 ? text : `${text.slice(0, 40)}…`
}
