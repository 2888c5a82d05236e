/** Values and changes in few words. However large a value is, only a little of it is looked at. */

import { formatNumber } from '../../parts/format.ts'

const LENGTH_MAX = 160
const MEMBERS_MAX = 12

/** As JSON, cut where it gets long. */
export function valueText(value: unknown): string {
  const text = shortJson(value, LENGTH_MAX)
  return text.length > LENGTH_MAX ? `${text.slice(0, LENGTH_MAX)}…` : text
}

/** How much there is of what is cut; null for what is shown whole. */
export function sizeWords(value: unknown): string | null {
  if (typeof value === 'string') return value.length > LENGTH_MAX ? `${formatNumber(value.length)} characters` : null
  if (Array.isArray(value)) return value.length > MEMBERS_MAX ? `${formatNumber(value.length)} items` : null
  if (typeof value !== 'object' || value === null) return null
  const count = Object.keys(value).length
  return count > MEMBERS_MAX ? `${formatNumber(count)} names` : null
}

function shortJson(value: unknown, room: number): string {
  if (typeof value === 'string') return JSON.stringify(value.length > room ? value.slice(0, room) : value)
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? ''
  const isList = Array.isArray(value)
  const parts: string[] = []
  let left = room
  const entries = isList ? value.slice(0, MEMBERS_MAX) : firstNames(value)
  for (const [index, entry] of entries.entries()) {
    if (left <= 0) break
    const inner = isList ? shortJson(entry, left) : memberText(value as Record<string, unknown>, entry as string, left)
    parts.push(inner)
    left -= inner.length + 2
    if (index === MEMBERS_MAX - 1) break
  }
  const count = isList ? value.length : Object.keys(value).length
  const rest = parts.length < count ? ', …' : ''
  return isList ? `[${parts.join(', ')}${rest}]` : `{${parts.join(', ')}${rest}}`
}

function firstNames(value: object): string[] {
  const names: string[] = []
  for (const name in value) {
    if (names.length >= MEMBERS_MAX) break
    if (Object.hasOwn(value, name)) names.push(name)
  }
  return names
}

function memberText(object: Record<string, unknown>, name: string, room: number): string {
  return `${JSON.stringify(name.slice(0, room))}: ${shortJson(object[name], room - name.length)}`
}

/** `+12 %`, `×3.5` when it has more than doubled, `from 0`; null when it cannot be said. */
export function changeWords(a: unknown, b: unknown): string | null {
  if (typeof a !== 'number' || typeof b !== 'number' || a === b) return null
  const difference = `${b > a ? '+' : '−'}${amountText(Math.abs(b - a))}`
  if (a === 0 || Math.sign(a) !== Math.sign(b)) return difference
  return `${difference} (${percentWords(a, b)})`
}

/** How much more or less b is than a; both above or both below zero. */
export function percentWords(a: number, b: number): string {
  const ratio = b / a
  if (ratio >= 10) return `×${formatNumber(Math.round(ratio))}`
  const percent = (ratio - 1) * 100
  const size = Math.abs(percent)
  const digits = size >= 10 ? Math.round(size) : Math.round(size * 10) / 10
  if (digits === 0) return size === 0 ? '±0 %' : 'less than 0.1 %'
  return `${percent > 0 ? '+' : '−'}${formatNumber(digits)} %`
}

/** Small amounts with their first three digits, so that a difference is never shown as nothing. */
function amountText(value: number): string {
  return value >= 1 ? formatNumber(value) : String(Number(value.toPrecision(3)))
}
