/**
 * What the address says behind its question mark: names with one or several texts, as `?status=FAILED&status=CANCELLED`. Screens read
 * their whole state from here, so that every view has a link.
 */

export type Search = Record<string, string | string[] | undefined>

export function parseSearch(text: string): Search {
  const found: Record<string, string | string[]> = {}
  for (const [name, value] of new URLSearchParams(text)) {
    const before = found[name]
    found[name] = before === undefined ? value : [before, value].flat()
  }
  return found
}

export function writeSearch(search: Search): string {
  const params = new URLSearchParams()
  for (const [name, value] of Object.entries(search)) {
    for (const one of [value].flat()) if (one !== undefined && one !== '') params.append(name, one)
  }
  const text = params.toString()
  return text === '' ? '' : `?${text}`
}

/** The one text of a name; the first of several. */
export function textIn(search: Search, name: string): string | undefined {
  const value = search[name]
  return Array.isArray(value) ? value[0] : value
}

/** All texts of a name. */
export function textsIn(search: Search, name: string): string[] {
  const value = search[name]
  return value === undefined ? [] : [value].flat()
}
