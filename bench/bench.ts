/** What every measurement works with and answers, and the rounds they are made in. */

import type { Contender } from './contender.ts'
import type { Options } from './options.ts'
import type { Server } from './server.ts'

export type Bench = {
  server: Server
  contenders: Contender[]
  options: Options
  /** Numbers no run has had before, so that no payload is like another. */
  numbers(count: number): number[]
  progress(line: string): void
}

/** One value per round for each name, which is a contender or a state of the tables. */
export type Measured = { id: string; title: string; unit: 'runs/s' | 'ms'; series: Record<string, number[]> }

/**
 * Measures all in the first round, then all in the second, and so on. Each round begins with another one, so that
 * none is always the one that follows a heavy neighbour.
 */
export async function inRounds<T extends { name: string }>(
  bench: Bench,
  title: string,
  subjects: T[],
  measure: (subject: T) => Promise<number>,
): Promise<Record<string, number[]>> {
  const series: Record<string, number[]> = Object.fromEntries(subjects.map(({ name }) => [name, []]))
  for (let round = 0; round < bench.options.rounds; round += 1) {
    for (let turn = 0; turn < subjects.length; turn += 1) {
      const subject = subjects[(round + turn) % subjects.length]!
      const value = await measure(subject)
      series[subject.name]!.push(value)
      bench.progress(`${title} · round ${round + 1} of ${bench.options.rounds} · ${subject.name}: ${rounded(value)}`)
    }
  }
  return series
}

export function rounded(value: number): string {
  const digits = value >= 100 ? 0 : value >= 10 ? 1 : 2
  return value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits })
}
