/**
 * The strict JSON reader: what it accepts means the same to every reader and can be hashed and stored.
 *
 * Beyond what `JSON.parse` refuses it refuses invalid UTF-8, a byte order mark, duplicate keys, numbers that do not
 * survive a double (see `json-number.ts`), NUL and lone surrogates in strings and keys, nesting deeper than 64
 * containers, and the keys `__proto__`, `constructor` and `prototype`. What it accepts it reads exactly as
 * `JSON.parse` does. One pass, no backtracking.
 */

import {
  BRACE_CLOSE,
  BRACE_OPEN,
  BRACKET_CLOSE,
  BRACKET_OPEN,
  COLON,
  COMMA,
  END,
  isDigit,
  JsonRefused,
  JsonScanner,
  MINUS,
  QUOTE,
  quoted,
} from './json-scanner.ts'
import { decodeUtf8 } from './utf8.ts'

export { JsonRefused } from './json-scanner.ts'

/** Containers inside containers, counting the outermost as one. The canonical writer has the same limit. */
export const JSON_DEPTH_MAX = 64

/** Throws `JsonRefused`. Bytes are read as UTF-8. */
export function parseStrictJson(input: Uint8Array | string, options: { depthMax?: number } = {}): unknown {
  const depthMax = options.depthMax ?? JSON_DEPTH_MAX
  if (typeof input === 'string') return new Reader(input, depthMax).document()
  const { valid, text } = decodeUtf8(input)
  if (!valid) throw notUtf8(text, depthMax)
  return new Reader(text, depthMax).document()
}

/** Reads the text before the bad byte to learn where in the value it breaks off, or that it is refused even before. */
function notUtf8(text: string, depthMax: number): JsonRefused {
  let pointer = ''
  try {
    new Reader(text, depthMax).document()
  } catch (error) {
    if (!(error instanceof JsonRefused)) throw error
    if (error.offset < text.length) return error
    pointer = error.pointer
  }
  return new JsonRefused(pointer, 'the bytes are not valid UTF-8; encode the text as UTF-8', text.length)
}

const FORBIDDEN_KEYS = new Set(['__proto__', 'constructor', 'prototype'])

class Reader extends JsonScanner {
  document(): unknown {
    if (this.text.charCodeAt(0) === 0xfeff) {
      this.refuse('the text starts with a byte order mark; send plain UTF-8 without it', 0)
    }
    if (this.next() === END) this.refuse('the text is empty; send a JSON value')
    const value = this.value()
    if (this.next() !== END) this.refuse('there is more text after the JSON value; send one value only')
    return value
  }

  value(): unknown {
    const code = this.next()
    if (code === QUOTE) return this.string()
    if (code === BRACE_OPEN) return this.object()
    if (code === BRACKET_OPEN) return this.array()
    if (code === MINUS || isDigit(code)) return this.number(code)
    if (this.word('true')) return true
    if (this.word('false')) return false
    if (this.word('null')) return null
    return this.unexpected('a JSON value')
  }

  object(): Record<string, unknown> {
    const depth = this.open()
    const object: Record<string, unknown> = {}
    let code = this.next()
    if (code === BRACE_CLOSE) {
      this.close()
      return object
    }
    for (;;) {
      this.path[depth] = null
      if (code !== QUOTE) this.unexpected('a key in double quotes')
      const keyAt = this.pos
      const key = this.string()
      if (this.next() !== COLON) this.unexpected('a colon after the key')
      this.pos++
      this.path[depth] = key
      if (object[key] !== undefined || key === 'prototype') this.checkKey(object, key, keyAt)
      object[key] = this.value()
      code = this.next()
      if (code === BRACE_CLOSE) break
      if (code !== COMMA) this.unexpected('a comma or a closing brace')
      this.pos++
      code = this.next()
    }
    this.close()
    return object
  }

  /**
   * Called for every key that a plain object already answers to, having it or inheriting it, so the common key costs
   * one look.
   */
  checkKey(object: object, key: string, keyAt: number): void {
    if (FORBIDDEN_KEYS.has(key)) this.refuse(`the key "${key}" is not allowed; rename it`, keyAt)
    if (Object.hasOwn(object, key)) this.refuse(`the key ${quoted(key)} is given twice; keep one of them`, keyAt)
  }

  array(): unknown[] {
    const depth = this.open()
    const array: unknown[] = []
    if (this.next() === BRACKET_CLOSE) {
      this.close()
      return array
    }
    for (;;) {
      this.path[depth] = array.length
      array.push(this.value())
      const code = this.next()
      if (code === BRACKET_CLOSE) break
      if (code !== COMMA) this.unexpected('a comma or a closing bracket')
      this.pos++
    }
    this.close()
    return array
  }

  open(): number {
    if (this.depth >= this.depthMax) {
      this.refuse(`the value is nested deeper than ${this.depthMax} levels; flatten it`)
    }
    this.pos++
    this.path[this.depth] = null
    return this.depth++
  }

  close(): void {
    this.pos++
    this.depth--
  }
}
