/** Times of the filter: what a field of the browser shows in the zone of its user, and what the address and the service take. Pure. */

import type { Condition } from './filter.ts'

export const PRESETS = [
  { label: 'Last hour', hours: 1 },
  { label: 'Last 24 hours', hours: 24 },
  { label: 'Last 7 days', hours: 168 },
] as const

export function since(hours: number, nowMs: number): string {
  return new Date(nowMs - hours * 3_600_000).toISOString().replace(/\.\d+Z$/, 'Z')
}

/** `2026-05-04T14:00` of a field, which means the zone of the browser. Null for half a time. */
export function fromField(text: string): string | null {
  const time = new Date(text)
  return !/^\d{4}-\d{2}-\d{2}T/.test(text) || Number.isNaN(time.getTime())
    ? null
    : time.toISOString().replace(/\.000Z$/, 'Z')
}

/** For a field. */
export function toField(iso: string | undefined): string {
  const time = new Date(iso ?? '')
  if (Number.isNaN(time.getTime())) return ''
  const two = (value: number) => String(value).padStart(2, '0')
  const date = `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`
  return `${date}T${two(time.getHours())}:${two(time.getMinutes())}`
}

/** The conditions with another stretch of time; null for no bound. */
export function withRange(conditions: readonly Condition[], after: string | null, before: string | null): Condition[] {
  const others = conditions.filter(({ name }) => name !== 'created_after' && name !== 'created_before')
  return [
    ...others,
    ...(after === null ? [] : [{ name: 'created_after' as const, isNot: false, value: after }]),
    ...(before === null ? [] : [{ name: 'created_before' as const, isNot: false, value: before }]),
  ]
}
