/**
 * Keeps sensitive values out of log lines, whoever logs them: names with a sensitive word in them, credentials of HTTP
 * requests, and parameters of runs, which are never logged at all. Only plain objects are looked into.
 */

import { isSensitiveName, REDACTED } from '../run/redaction.ts'

const NEVER_LOGGED = new Set(['parameters', 'authorization', 'proxy-authorization', 'cookie', 'set-cookie'])
const DEPTH_MAX = 5
/** Names come from code, but user code may invent them without end. */
const KNOWN_NAMES_MAX = 2_000

/** Returns the object itself when nothing in it has to be hidden, which is nearly always. */
export function createFieldHider(
  words: readonly string[],
): (fields: Record<string, unknown>) => Record<string, unknown> {
  const known = new Map<string, boolean>()

  function isHidden(name: string): boolean {
    const answer = known.get(name)
    if (answer !== undefined) return answer
    const hidden = NEVER_LOGGED.has(name.toLowerCase()) || isSensitiveName(name, words)
    if (known.size < KNOWN_NAMES_MAX) known.set(name, hidden)
    return hidden
  }

  function hideIn(value: Record<string, unknown>, depth: number): Record<string, unknown> {
    let copy: Record<string, unknown> | null = null
    for (const name in value) {
      const inner = value[name]
      const shown = isHidden(name) ? REDACTED : isPlain(inner) && depth < DEPTH_MAX ? hideIn(inner, depth + 1) : inner
      if (shown === inner || inner === undefined) continue
      copy ??= Array.isArray(value) ? (value.slice() as unknown as Record<string, unknown>) : { ...value }
      copy[name] = shown
    }
    return copy ?? value
  }

  return (fields) => hideIn(fields, 0)
}

function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false
  const prototype = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null || Array.isArray(value)
}
