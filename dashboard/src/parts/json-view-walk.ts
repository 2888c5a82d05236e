/** Walks through JSON a little at a time: to search it, and to write it in lines. Whoever walks decides how much at once. */

import { type JsonPath, namesOf } from './json-view-tree.ts'

/** A path like `rows[3].name`, as programs write it. */
export function pathText(path: JsonPath): string {
  const text = path.map((name) =>
    typeof name === 'number' ? `[${name}]` : /^[\w$]+$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`,
  )
  return text.join('').replace(/^\./, '') || '(whole)'
}

type Frame = { value: object; names: string[] | null; size: number; next: number; path: JsonPath }

/** The paths of names and single values that hold the text, whatever its case. Gives null now and then, to be paused at. */
export function* foundIn(value: unknown, text: string): Generator<JsonPath | null, void, void> {
  const asked = text.toLowerCase()
  const frames: Frame[] = []
  let steps = 0
  // Frames, and not a list of all that is to come: that would be as large as the value, at once.
  const enter = (inside: unknown, path: JsonPath) => {
    if (typeof inside !== 'object' || inside === null) return
    const names = Array.isArray(inside) ? null : namesOf(inside)
    frames.push({ value: inside, names, size: names ? names.length : (inside as unknown[]).length, next: 0, path })
  }
  if (isFound(value, asked)) yield []
  enter(value, [])
  for (let frame = frames.at(-1); frame; frame = frames.at(-1)) {
    if (frame.next === frame.size) {
      frames.pop()
      continue
    }
    steps += 1
    if (steps % 500 === 0) yield null
    const name = frame.names ? frame.names[frame.next]! : frame.next
    const inside = (frame.value as Record<string | number, unknown>)[name]
    frame.next += 1
    const isNamed = typeof name === 'string' && name.toLowerCase().includes(asked)
    if (isNamed || isFound(inside, asked)) yield [...frame.path, name]
    if (typeof inside === 'object' && inside !== null) enter(inside, [...frame.path, name])
  }
}

function isFound(value: unknown, asked: string): boolean {
  if (typeof value === 'object' && value !== null) return false
  return String(value).toLowerCase().includes(asked)
}

/** The lines of `JSON.stringify(value, null, 2)`, one by one. */
export function* linesOf(value: unknown, indent = '', before = '', after = ''): Generator<string, void, void> {
  if (typeof value !== 'object' || value === null) {
    yield `${indent}${before}${JSON.stringify(value) ?? 'null'}${after}`
    return
  }
  const isList = Array.isArray(value)
  const [begin, end] = isList ? ['[', ']'] : ['{', '}']
  const names = isList ? null : namesOf(value)
  const size = names ? names.length : (value as unknown[]).length
  if (size === 0) {
    yield `${indent}${before}${begin}${end}${after}`
    return
  }
  yield `${indent}${before}${begin}`
  for (let index = 0; index < size; index += 1) {
    const name = names?.[index]
    const inner = name === undefined ? (value as unknown[])[index] : (value as Record<string, unknown>)[name]
    const label = name === undefined ? '' : `${JSON.stringify(name)}: `
    yield* linesOf(inner, `${indent}  `, label, index < size - 1 ? ',' : '')
  }
  yield `${indent}${end}${after}`
}
