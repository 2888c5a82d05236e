/** Chance that is the same each time, so that the demo and its pictures are. */

import { seededRandom } from '../../src/run/seed.ts'

export type Chance = {
  /** From 0 up to 1. */
  next(): number
  pick<One>(from: readonly One[]): One
  whole(from: number, to: number): number
}

export function chanceOf(seed: number): Chance {
  const next = seededRandom(seed, 0)
  return {
    next,
    pick: (from) => from[Math.floor(next() * from.length)]!,
    whole: (from, to) => from + Math.floor(next() * (to - from + 1)),
  }
}
