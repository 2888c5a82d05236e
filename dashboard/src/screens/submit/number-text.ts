/** Numbers as they are typed. What is not a number yet is kept as the text it is: the service says what it thinks of it. */

const NUMBER = /^-?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/

/** Undefined for an empty field, a number, or the text itself. */
export function readNumber(text: string): number | string | undefined {
  const typed = text.trim()
  if (typed === '') return undefined
  const value = Number(typed)
  // More digits than a number keeps: rounding silently would send something else.
  return NUMBER.test(typed) && isNumberKept(typed, value) ? value : text
}

/** Whether an integer is still the same after it was read; fractions are rounded by everyone alike. */
export function isNumberKept(source: string, read: number): boolean {
  if (!Number.isFinite(read)) return false
  return !/^-?\d+$/.test(source) || String(read) === source || BigInt(source) === BigInt(read)
}

/** What a field shows: what was typed as long as it means the value, else the value. */
export function numberText(value: unknown, typed: string): string {
  if (readNumber(typed) === value) return typed
  if (value === undefined || value === null) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}
