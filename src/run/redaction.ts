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
  return redactInside(value, spelledOut(options.words ?? SENSITIVE_WORDS), options.hook, []) as T
}

export function isSensitiveName(name: string, words: readonly string[] = SENSITIVE_WORDS): boolean {
  return holdsWord(name, spelledOut(words))
}

/** A list of words is spelled out once; every value that is shown asks for it. */
const spelled = new WeakMap<readonly string[], string[]>()

function spelledOut(words: readonly string[]): string[] {
  const known = spelled.get(words)
  if (known) return known
  const made = words.map(asWords)
  spelled.set(words, made)
  return made
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

/** Shorter ones would be found in texts that have nothing to do with them. */
const HIDDEN_TEXT_LENGTH_MIN = 4

/** The texts and numbers behind sensitive names, for `hideTexts`; the longest first, so that none is left of another. */
export function hiddenTexts(value: unknown, options: RedactOptions = {}): string[] {
  const found = new Set<string>()
  collectHidden(value, redact(value, options), found)
  return [...found].sort((a, b) => b.length - a.length)
}

function collectHidden(value: unknown, shown: unknown, into: Set<string>): void {
  if (typeof value === 'object' && value !== null) {
    if (value === shown) return
    for (const [name, inner] of Object.entries(value)) {
      collectHidden(inner, shown === REDACTED ? REDACTED : memberOf(shown, name), into)
    }
  } else if (shown === REDACTED && (typeof value === 'string' || typeof value === 'number')) {
    const text = String(value)
    if (text.length >= HIDDEN_TEXT_LENGTH_MIN && text !== REDACTED) into.add(text)
  }
}

/** Free text, such as the message of an error, without what `hiddenTexts` found. */
export function hideTexts(text: string, hidden: readonly string[]): string {
  return hidden.reduce((left, secret) => left.replaceAll(secret, REDACTED), text)
}

/** The pointer to the first marker in a value, or null. */
export function findMarker(value: unknown): string | null {
  const path = pathToMarker(value)
  return path === null ? null : jsonPointer(path)
}

function pathToMarker(value: unknown): string[] | null {
  if (value === REDACTED) return []
  if (typeof value !== 'object' || value === null) return null
  for (const name of Object.keys(value)) {
    const path = pathToMarker((value as Record<string, unknown>)[name])
    if (path !== null) return [name, ...path]
  }
  return null
}

/**
 * Puts what the source hides at the same place in place of each marker; a marker where the source hides nothing stays. The
 * options must be those the source was shown with.
 */
export function restoreRedacted<T>(value: T, source: unknown, options: RedactOptions = {}): T {
  return restoreInside(value, source, redact(source, options)) as T
}

function restoreInside(value: unknown, source: unknown, shown: unknown): unknown {
  if (value === REDACTED) return shown === REDACTED && source !== REDACTED ? source : value
  return mapInside(value, (inner, name) => restoreInside(inner, memberOf(source, name), memberOf(shown, name)))
}

function memberOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
  return (value as Record<string, unknown>)[name]
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
