/** No text of ours holds a NUL, and Postgres refuses one: a path with it leads nowhere, and a query with it is not valid. */

const NUL = '%00'

export function nulInPath(url: string): boolean {
  const at = url.indexOf(NUL)
  return at !== -1 && !url.slice(0, at).includes('?')
}

export function nulInQuery(url: string): boolean {
  const start = url.indexOf('?')
  return start !== -1 && url.includes(NUL, start)
}
