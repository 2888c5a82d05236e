/**
 * Reads one YAML document as JSON values that remember where they were written.
 *
 * Strict: what two readers of YAML may understand differently is refused rather than guessed (`no`, `012`, `1_000`), and so is all that a
 * declaration has no use for: anchors, aliases, merge keys, tags, several documents. Nothing in a file can make it large or slow.
 */

import { isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument, Scalar } from 'yaml'
import { jsonPointer } from '../run/json-pointer.ts'

export type Place = { line: number; column: number }
export type YamlProblem = Place & { pointer: string; detail: string }

export type YamlFile = {
  value: unknown
  problems: YamlProblem[]
  /** Where the value at a pointer is written; the nearest place around it when it is missing. `ofKey`: where its name is. */
  placeOf(pointer: string, ofKey?: boolean): Place
  /** A value that is no text, as it was written: `1.10`. */
  sourceOf(pointer: string): string | undefined
}

const BYTES_MAX = 1_048_576
const DEPTH_MAX = 64

export function readYaml(bytes: Uint8Array): YamlFile {
  const lines = new LineCounter()
  const reading = new Reading(lines)
  const text = reading.decode(bytes)
  if (text !== undefined) reading.parse(text)
  return {
    value: reading.value,
    problems: reading.problems.toSorted((a, b) => a.line - b.line || a.column - b.column),
    placeOf: (pointer, ofKey = false) => reading.placeOf(pointer, ofKey),
    sourceOf: (pointer) => reading.sources.get(pointer),
  }
}

class Reading {
  value: unknown
  readonly problems: YamlProblem[] = []
  readonly sources = new Map<string, string>()
  readonly #values = new Map<string, number>()
  readonly #keys = new Map<string, number>()
  readonly #lines: LineCounter

  constructor(lines: LineCounter) {
    this.#lines = lines
  }

  decode(bytes: Uint8Array): string | undefined {
    if (bytes.length > BYTES_MAX) return this.#refuse('', 0, `the file is larger than ${BYTES_MAX} bytes`)
    try {
      return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    } catch {
      return this.#refuse('', 0, 'the file is not UTF-8')
    }
  }

  parse(text: string): void {
    const document = this.#document(text)
    if (!document) return
    for (const { code, message, pos } of [...document.errors, ...document.warnings]) {
      this.#refuse('', pos[0], WORDS[code] ?? lowerFirst(message))
    }
    const { explicit, version } = document.directives?.yaml ?? {}
    if (explicit && version !== '1.2') this.#refuse('', 0, `YAML ${version} is not read; leave the %YAML line out`)
    if (this.problems.length > 0) return
    if (document.contents === null) this.#refuse('', 0, 'the file is empty')
    else this.value = this.#convert(document.contents as Node, [])
  }

  placeOf(pointer: string, ofKey: boolean): Place {
    const own = (ofKey ? this.#keys.get(pointer) : undefined) ?? this.#values.get(pointer)
    if (own !== undefined) return this.#place(own)
    return pointer === '' ? { line: 1, column: 1 } : this.placeOf(pointer.slice(0, pointer.lastIndexOf('/')), true)
  }

  #document(text: string) {
    try {
      return parseDocument(text, {
        version: '1.2',
        schema: 'core',
        strict: true,
        uniqueKeys: true,
        stringKeys: true,
        merge: false,
        prettyErrors: false,
        lineCounter: this.#lines,
      })
    } catch (error) {
      // The parser calls itself for every level, and a file can have more levels than there is stack.
      const detail = error instanceof RangeError ? 'it is nested too deeply' : (error as Error).message
      return this.#refuse('', 0, detail)
    }
  }

  #convert(node: Node | null, path: (string | number)[]): unknown {
    const pointer = jsonPointer(path)
    if (node === null) return null
    const at = node.range?.[0] ?? 0
    this.#values.set(pointer, at)
    if (path.length > DEPTH_MAX) return this.#refuse(pointer, at, `it is nested more than ${DEPTH_MAX} levels deep`)
    if (isAlias(node)) return this.#refuse(pointer, at, 'aliases are not read; write the value out')
    if ('anchor' in node && node.anchor) return this.#refuse(pointer, at, 'anchors are not read; remove the &name')
    if (node.tag) return this.#refuse(pointer, at, `tags are not read; remove ${node.tag}`)
    if (isSeq(node)) return node.items.map((item, index) => this.#convert(item as Node, [...path, index]))
    if (isMap(node)) return this.#object(node.items as { key: Node; value: Node | null }[], path)
    return isScalar(node) ? this.#scalar(node, pointer, at) : this.#refuse(pointer, at, 'this is not understood')
  }

  #object(pairs: { key: Node; value: Node | null }[], path: (string | number)[]): Record<string, unknown> {
    const object: Record<string, unknown> = {}
    for (const { key, value } of pairs) {
      const name = String((key as Scalar).value)
      const pointer = jsonPointer([...path, name])
      const at = key.range?.[0] ?? 0
      this.#keys.set(pointer, at)
      if (name === '<<') this.#refuse(pointer, at, 'merge keys are not read; write the values out')
      else if (name === '__proto__') this.#refuse(pointer, at, 'this name cannot be used')
      else object[name] = this.#convert(value, [...path, name])
    }
    return object
  }

  #scalar({ value, source = '', type }: Scalar, pointer: string, at: number): unknown {
    if (type === Scalar.PLAIN) {
      const [, why] = AMBIGUOUS.find(([pattern]) => pattern.test(source)) ?? []
      if (why) return this.#refuse(pointer, at, `${source} ${why}`)
    }
    if (typeof value === 'string') {
      const broken = value.includes('\0') || !value.isWellFormed()
      return broken ? this.#refuse(pointer, at, 'the text holds NUL or half a character') : value
    }
    this.sources.set(pointer, source)
    if (typeof value !== 'number') return value
    const isExact = Number.isFinite(value) && (!/^[-+]?\d+$/.test(source) || Number.isSafeInteger(value))
    return isExact ? value : this.#refuse(pointer, at, `${source} is no number that JSON can hold exactly`)
  }

  #refuse(pointer: string, offset: number, detail: string): undefined {
    this.problems.push({ ...this.#place(offset), pointer, detail })
  }

  #place(offset: number): Place {
    // Before the parser has seen a line, every place is the first.
    if (this.#lines.lineStarts.length === 0) return { line: 1, column: 1 }
    const { line, col } = this.#lines.linePos(offset)
    return { line, column: col }
  }
}

const WORDS: Record<string, string> = {
  DUPLICATE_KEY: 'this name is here twice',
  MULTIPLE_DOCS: 'a second document starts here; a file holds one',
  NON_STRING_KEY: 'a name must be text',
}

/** Plain texts that older readers of YAML take for something else. */
const AMBIGUOUS: [pattern: RegExp, why: string][] = [
  [
    /^(?:yes|no|on|off)$/i,
    'means true or false to some readers of YAML and text to others; write true or false, or put it in quotes',
  ],
  [/^[-+]?0[0-9_]+$/, 'is an octal number to some readers of YAML; leave the zero out, or put it in quotes'],
  [
    /^[-+]?[0-9][0-9,_]*_[0-9_]*(?:\.[0-9_]*)?$/,
    'is a number to some readers of YAML; leave the _ out, or put it in quotes',
  ],
  [/^[-+]?[0-9]+(?::[0-5]?[0-9])+(?:\.[0-9]*)?$/, 'is a number of seconds to some readers of YAML; put it in quotes'],
]

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1)
}
