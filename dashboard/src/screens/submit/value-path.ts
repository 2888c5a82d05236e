/** Places inside a JSON value: reading, replacing and removing what is there. Nothing is ever changed in place. */

export type Path = readonly (string | number)[]
export type JsonObject = Record<string, unknown>

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The own member of an object or the item of a list; undefined when there is none. */
export function memberOf(value: unknown, step: string | number): unknown {
  if (Array.isArray(value)) return typeof step === 'number' ? value[step] : undefined
  return isObject(value) && Object.hasOwn(value, step) ? value[step] : undefined
}

export function getAt(value: unknown, path: Path): unknown {
  return path.reduce(memberOf, value)
}

/**
 * A copy with `next` at the path; undefined removes what is there. What is on the way and is neither an object nor a list is replaced by
 * an object, or by a list where the step is a number. Removing what is not there changes nothing.
 */
export function setAt(value: unknown, path: Path, next: unknown): unknown {
  const [step, ...rest] = path
  if (step === undefined) return next
  if (next === undefined && memberOf(value, step) === undefined) return value
  const inner = setAt(memberOf(value, step), rest, next)
  if (typeof step === 'number') return withItem(Array.isArray(value) ? value : [], step, inner)
  return withMember(isObject(value) ? value : {}, step, inner)
}

function withItem(list: unknown[], index: number, item: unknown): unknown[] {
  if (item === undefined) return list.filter((_, at) => at !== index)
  return index >= list.length ? [...list, item] : list.with(index, item)
}

/** A new name comes last, an old one stays where it is. Spread and computed names also keep a member called `__proto__`. */
function withMember(object: JsonObject, name: string, member: unknown): JsonObject {
  if (member !== undefined) return { ...object, [name]: member }
  return Object.fromEntries(Object.entries(object).filter(([each]) => each !== name))
}

/** RFC 6901. */
export function pointerOf(path: Path): string {
  return path.map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}

export function stepsOf(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/** The same JSON, whatever the order of its names. */
export function isSameJson(a: unknown, b: unknown): boolean {
  if (Object.is(a, b) || a === b) return true
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, index) => isSameJson(item, b[index]))
  }
  if (!isObject(a) || !isObject(b)) return false
  const names = Object.keys(a)
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => Object.hasOwn(b, name) && isSameJson(a[name], b[name]))
  )
}
