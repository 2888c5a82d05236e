/**
 * Values that are not for everyone's eyes. By the same words as the service: a name is sensitive when one of them is a whole word of it
 * (`api_key` and `apiKey` are, `keyboard` and `max_tokens` are not).
 *
 * `[redacted]` stands for a value that the service does not show; sent back with `derived_from` it means "the value that run has". `•••••••• 1`
 * stands for one that was typed here and is not being shown; it is never sent.
 */

import { isObject, type JsonObject } from './value-path.ts'

export const REDACTED = '[redacted]'
export const HIDDEN = '••••••••'

const WORDS = new Set(['password', 'token', 'secret', 'key', 'auth'])

export function isSensitiveName(name: string): boolean {
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .split(/[^\p{L}\p{N}]+/u)
  return words.some((word) => WORDS.has(word.toLowerCase()))
}

/** A copy with texts and numbers behind sensitive names hidden, each under a number of its own; markers stay, they tell nothing. */
export function hideSecrets(value: unknown): unknown {
  let count = 0
  const hide = (inside: unknown): unknown =>
    mapMembers(inside, (member, name) => {
      if (!isHideable(member, name)) return hide(member)
      count += 1
      return `${HIDDEN} ${count}`
    })
  return hide(value)
}

/** The other way, wherever the hidden values have been moved to: `before` is what they were hidden in. */
export function showSecrets(value: unknown, before: unknown): unknown {
  const secrets = secretsIn(before)
  const show = (inside: unknown): unknown =>
    mapMembers(inside, (member) => {
      const secret = secrets[hiddenNumber(member) - 1]
      return secret === undefined ? show(member) : secret
    })
  return show(value)
}

/** Whether something is hidden that nobody can show any more. */
export function hasHidden(value: unknown): boolean {
  return hiddenNumber(value) > 0 || membersOf(value).some(([, member]) => hasHidden(member))
}

/** 0 for what is not hidden. */
function hiddenNumber(value: unknown): number {
  if (typeof value !== 'string' || !value.startsWith(`${HIDDEN} `)) return 0
  return Number(value.slice(HIDDEN.length + 1)) || 0
}

function secretsIn(value: unknown): unknown[] {
  return membersOf(value).flatMap(([name, member]) => (isHideable(member, name) ? [member] : secretsIn(member)))
}

/** Whether there is anything that `hideSecrets` would hide. */
export function hasSecrets(value: unknown): boolean {
  return membersOf(value).some(([name, member]) => isHideable(member, name) || hasSecrets(member))
}

/** Whether a marker of the service is among the values. */
export function hasMarker(value: unknown): boolean {
  return value === REDACTED || membersOf(value).some(([, member]) => hasMarker(member))
}

function isHideable(member: unknown, name: string | number): boolean {
  const isText = (typeof member === 'string' && member !== '') || typeof member === 'number'
  return isText && member !== REDACTED && typeof name === 'string' && isSensitiveName(name)
}

function membersOf(value: unknown): [string | number, unknown][] {
  if (Array.isArray(value)) return value.map((item, index) => [index, item])
  return isObject(value) ? Object.entries(value) : []
}

function mapMembers(value: unknown, map: (member: unknown, name: string | number) => unknown): unknown {
  if (Array.isArray(value)) return value.map(map)
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, map(member, name)])) as JsonObject
}
