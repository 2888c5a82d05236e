/** An array literal of values that need no quoting: ids, hashes, numbers. The driver would look at each character of each. */
export function plainArray(values: readonly unknown[]): string {
  return `{${values.map((value) => value ?? 'NULL').join(',')}}`
}
