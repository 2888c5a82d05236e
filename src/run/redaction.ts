/**
 * Hides the values of sensitive names in what people see: logs, events, API and dashboard. Stored values are never
 * changed.
 *
 * A name is sensitive when one of the words is a whole word of it in snake, kebab or camel case: `apiKey`, `API_KEY`
 * and `x-auth-token` are, `author`, `keyboard` and `max_tokens` are not. For JSON values.
 */

import { jsonPointer } from './json-pointer.ts'

/** Stands in place of a hidden value. Sent back by a client it means "the value you have". */
export const REDACTED = '[redacted]'

export const SENSITIVE_WORDS: readonly string[] = ['password', 'token', 'secret', 'key', 'auth']

export type RedactOptions = {
  /** In place of the usual words; `credit_card` matches the two words one after the other. */
  words?: readonly string[]
  /** Asked first about each value with its path: true hides it, false shows it, undefined leaves it to the words. */
  hook?: (path: string[], value: unknown) => boolean | undefined
}

/** Returns the value itself when nothing in it is hidden, otherwise a copy of the parts that changed. */
export function redact<T>(value: T, options: RedactOptions = {}): T {
  return redactInside(value, (options.words ?? SENSITIVE_WORDS).map(asWords), options.hook, []) as T
}

export function isSensitiveName(name: string, words: readonly string[] = SENSITIVE_WORDS): boolean {
  return holdsWord(name, words.map(asWords))
}

function redactInside(value: unknown, words: string[], hook: RedactOptions['hook'], path: string[]): unknown {
  return mapInside(value, (inner, name) => {
    path.push(name)
    const asked = hook?.(path.slice(), inner)
    const hidden = asked ?? (!Array.isArray(value) && holdsWord(name, words))
    const shown = hidden ? REDACTED : redactInside(inner, words, hook, path)
    path.pop()
    return shown
  })
}

/** The pointer to the first marker in a value, or null. */
export function findMarker(value: unknown): string | null {
  const path = pathToMarker(value)
  return path === null ? null : jsonPointer(path)
}

function pathToMarker(value: unknown): string[] | null {
  if (value === REDACTED) return []
  if (typeof value !== 'object' || value === null) return null
  for (const [name, inner] of Object.entries(value)) {
    const path = pathToMarker(inner)
    if (path !== null) return [name, ...path]
  }
  return null
}

/** Puts what stands at the same place of the source in place of each marker; a marker without a counterpart stays. */
export function restoreRedacted<T>(value: T, source: unknown): T {
  return restoreInside(value, source) as T
}

function restoreInside(value: unknown, source: unknown): unknown {
  if (value === REDACTED) return source === undefined ? value : source
  if (typeof source !== 'object' || source === null) return value
  return mapInside(value, (inner, name) =>
    restoreInside(inner, Object.hasOwn(source, name) ? (source as Record<string, unknown>)[name] : undefined),
  )
}

/** Maps the members of an object or array, and returns the very same object when no member changed. */
function mapInside(value: unknown, map: (inner: unknown, name: string) => unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  const changes: [string, unknown][] = []
  for (const name of Object.keys(value)) {
    const inner = (value as Record<string, unknown>)[name]
    const mapped = map(inner, name)
    if (mapped !== inner) changes.push([name, mapped])
  }
  if (changes.length === 0) return value
  if (Array.isArray(value)) return Object.assign(value.slice(), Object.fromEntries(changes))
  // Entries, not assignments: an own key named __proto__ must stay a key.
  return Object.fromEntries([...Object.entries(value), ...changes])
}

function holdsWord(name: string, words: readonly string[]): boolean {
  const lower = name.toLowerCase()
  let spelled: string | null = null
  for (const word of words) {
    // Most names do not even hold the letters, so they need not be taken apart.
    if (word.length - 2 > lower.length || !lower.includes(word.slice(1, word.indexOf('_', 1)))) continue
    spelled ??= asWords(name)
    if (spelled.includes(word)) return true
  }
  return false
}

/** `accessTokenId` becomes `_access_token_id_`, so that a whole word can be looked for as text. */
function asWords(name: string): string {
  const parts = name
    .replace(/(\p{Ll})(\p{Lu})/gu, '$1_$2')
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1_$2')
    .toLowerCase()
    .split(/[^\p{L}]+/u)
  return `_${parts.filter((part) => part !== '').join('_')}_`
}
