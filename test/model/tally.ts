/** Counts, over all sequences, how often each operation was accepted and how often it was refused. */

export type Outcome = 'accepted' | 'refused'

export class Tally {
  sequences = 0
  operations = 0
  readonly #counts = new Map<string, Record<Outcome, number>>()

  add(name: string, outcome: Outcome): void {
    const counts = this.#counts.get(name) ?? { accepted: 0, refused: 0 }
    counts[outcome] += 1
    this.#counts.set(name, counts)
  }

  count(name: string, outcome: Outcome): number {
    return this.#counts.get(name)?.[outcome] ?? 0
  }

  /** One line: `submit 812/97` is 812 accepted and 97 refused. */
  summary(): string {
    const counts = [...this.#counts].sort(([a], [b]) => (a < b ? -1 : 1))
    const parts = counts.map(([name, { accepted, refused }]) => `${name} ${accepted}/${refused}`)
    return `${this.sequences} sequences, ${this.operations} operations, accepted/refused: ${parts.join(', ')}`
  }
}
