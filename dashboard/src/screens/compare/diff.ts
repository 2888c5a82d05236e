/**
 * What differs between two JSON values, place by place: objects by name, lists by index. It is a walk that gives a sign of life now and then, so
 * that values of many megabytes can be compared in slices. What is only on one side is one difference, however large.
 */

export type Path = readonly (string | number)[]

export type Difference = {
  path: Path
  kind: 'added' | 'removed' | 'changed' | 'same'
  /** Undefined where there is none. */
  a: unknown
  b: unknown
}

/** So many comparisons are made between two signs of life. */
const STRIDE = 500

export type DiffOptions = {
  /** Also what is the same on both sides, value by value. */
  withSame?: boolean
}

/** Null is a sign of life. */
export function* differences(a: unknown, b: unknown, options: DiffOptions = {}): Generator<Difference | null> {
  const state = { seen: 0, withSame: options.withSame ?? false }
  yield* walk(a, b, [], state)
}

type State = { seen: number; withSame: boolean }

function* walk(a: unknown, b: unknown, path: Path, state: State): Generator<Difference | null> {
  state.seen += 1
  if (state.seen % STRIDE === 0) yield null
  if (a === undefined && b === undefined) return
  if (a === undefined) yield { path, kind: 'added', a, b }
  else if (b === undefined) yield { path, kind: 'removed', a, b }
  else if (Array.isArray(a) && Array.isArray(b)) yield* walkLists(a, b, path, state)
  else if (isObject(a) && isObject(b)) yield* walkObjects(a, b, path, state)
  else if (a !== b) yield { path, kind: 'changed', a, b }
  else if (state.withSame) yield { path, kind: 'same', a, b }
}

function* walkLists(a: unknown[], b: unknown[], path: Path, state: State): Generator<Difference | null> {
  const length = Math.max(a.length, b.length)
  if (length === 0 && state.withSame) yield { path, kind: 'same', a, b }
  for (let index = 0; index < length; index += 1) yield* walk(a[index], b[index], [...path, index], state)
}

function* walkObjects(a: JsonObject, b: JsonObject, path: Path, state: State): Generator<Difference | null> {
  const names = new Set([...Object.keys(a), ...Object.keys(b)])
  if (names.size === 0 && state.withSame) yield { path, kind: 'same', a, b }
  for (const name of names) yield* walk(own(a, name), own(b, name), [...path, name], state)
}

type JsonObject = Record<string, unknown>

function own(object: JsonObject, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** `limits.floor`, `rows[3].name`, `["a b"]`; a dash for the whole. */
export function pathText(path: Path): string {
  const text = path.map((step) => {
    if (typeof step === 'number') return `[${step}]`
    return /^[\p{L}_$][\p{L}\p{N}_$-]*$/u.test(step) ? `.${step}` : `[${JSON.stringify(step)}]`
  })
  return text.join('').replace(/^\./, '') || '–'
}
