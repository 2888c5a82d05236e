/** An array literal of values that need no quoting: ids, hashes, numbers. The driver would look at each character of each. */
export function plainArray(values: readonly unknown[]): string {
  return `{${(values.some(isMissing) ? values.map((value) => value ?? 'NULL') : values).join(',')}}`
}

function isMissing(value: unknown): boolean {
  return value === null || value === undefined
}
