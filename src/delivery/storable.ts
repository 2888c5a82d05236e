/** What a sender tells of a request and its response, in a form that Postgres keeps: no NUL, no lone surrogate, no text without end. */

const TEXT_MAX = 65_536
const CUT_MARK = ' … [cut]'

export function storableText(text: string): string {
  const cut = text.length <= TEXT_MAX ? text : text.slice(0, TEXT_MAX) + CUT_MARK
  return cut.toWellFormed().replaceAll('\0', '\uFFFD')
}

/** Null for what has no JSON. */
export function storable(value: unknown): unknown {
  try {
    return plain(JSON.parse(JSON.stringify(value ?? null)))
  } catch {
    return null
  }
}

function plain(value: unknown): unknown {
  if (typeof value === 'string') return storableText(value)
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [storableText(name), plain(inner)]))
}
