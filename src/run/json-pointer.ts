/** RFC 6901 pointers: the name of a place inside a JSON value. */

/** Writes the steps to a place as a pointer; no steps is the whole value, the empty pointer. */
export function jsonPointer(path: readonly (string | number)[]): string {
  let pointer = ''
  for (const step of path) pointer += `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`
  return pointer
}
