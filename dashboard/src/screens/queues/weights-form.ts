/** The weights of a queue while they are being changed: rows of texts, what is wrong with them, and what they come to. */

export type WeightRow = { key: number; owner: string; weight: string }

export const WEIGHT_MIN = 0.01
export const WEIGHT_MAX = 1_000

export function rowsOf(weights: Record<string, number>): WeightRow[] {
  return Object.entries(weights)
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([owner, weight], key) => ({ key, owner, weight: String(weight) }))
}

/** One more, empty, with a key that no other row has. */
export function withOneMore(rows: WeightRow[]): WeightRow[] {
  return [...rows, { key: Math.max(-1, ...rows.map(({ key }) => key)) + 1, owner: '', weight: '1' }]
}

/** Null for a row that can be saved. One without an owner is left out when saving, so nothing is wrong with it. */
export function wrongWith(row: WeightRow, rows: WeightRow[]): string | null {
  const owner = row.owner.trim()
  if (owner === '') return null
  if (rows.some((other) => other.key < row.key && other.owner.trim() === owner)) return 'This owner is there twice'
  const weight = weightIn(row)
  if (weight === null || weight < WEIGHT_MIN || weight > WEIGHT_MAX) return `From ${WEIGHT_MIN} to ${WEIGHT_MAX}`
  return null
}

/** What is to be saved; null while something is wrong. */
export function weightsOf(rows: WeightRow[]): Record<string, number> | null {
  if (rows.some((row) => wrongWith(row, rows) !== null)) return null
  return Object.fromEntries(
    rows.filter(({ owner }) => owner.trim() !== '').map((row) => [row.owner.trim(), weightIn(row)!]),
  )
}

export function isSame(a: Record<string, number>, b: Record<string, number>): boolean {
  const owners = Object.keys(a)
  return (
    owners.length === Object.keys(b).length && owners.every((owner) => Object.hasOwn(b, owner) && a[owner] === b[owner])
  )
}

function weightIn({ weight }: WeightRow): number | null {
  const value = Number(weight.trim())
  return weight.trim() === '' || !Number.isFinite(value) ? null : value
}
