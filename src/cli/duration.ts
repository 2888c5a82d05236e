/** Lengths of time as people type them: a whole number and a unit. */

const SECONDS: Record<string, number> = { s: 1, m: 60, h: 3_600, d: 86_400, w: 604_800, y: 31_536_000 }

/** In seconds. Throws for anything else. */
export function parseDuration(text: string): number {
  const [, count, unit] = /^(\d{1,9})([smhdwy])$/.exec(text.trim()) ?? []
  if (count === undefined || unit === undefined) {
    throw new Error(`${JSON.stringify(text)} is not a length of time; write for example 90s, 15m, 12h, 30d, 52w or 1y`)
  }
  return Number(count) * SECONDS[unit]!
}
