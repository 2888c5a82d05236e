/** "Did you mean": the known name a mistyped one is nearest to. */

import { distance } from 'fastest-levenshtein'

/** The distance costs length times length, and a longer name is no typing mistake. */
const LENGTH_MAX = 128

/** At most `count` names near enough to be a mistyping of `name`, the nearest first. */
export function nearestNames(name: string, known: readonly string[], count: number): string[] {
  if (name.length > LENGTH_MAX) return []
  const within = Math.max(2, Math.floor(name.length / 2))
  return known
    .map((candidate) => ({ candidate, away: distance(name.toLowerCase(), candidate.toLowerCase()) }))
    .filter(({ away }) => away <= within)
    .sort((a, b) => a.away - b.away || (a.candidate < b.candidate ? -1 : 1))
    .slice(0, count)
    .map(({ candidate }) => candidate)
}

export function nearestOf(name: string, known: readonly string[]): string | null {
  return nearestNames(name, known, 1)[0] ?? null
}
