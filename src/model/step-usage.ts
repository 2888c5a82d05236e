/**
 * What steps used. It can be told only of a process that serves one attempt, and only of steps that no other ran beside; what a step's own
 * steps used is its use too.
 */

export type Usage = { cpuSeconds: number | null; peakMemoryBytes: number | null }

/** Begins to measure; what it answers is asked for what was used since. */
export type Meter = () => { read(): Usage; stop(): void }

export type UsageEntry = { parent: UsageEntry | null; isAlone: boolean; measured: ReturnType<Meter> | null }

export class StepUsage {
  readonly #meter: Meter | undefined
  readonly #open = new Set<UsageEntry>()

  constructor(meter: Meter | undefined) {
    this.#meter = meter
  }

  begin(parent: UsageEntry | null): UsageEntry {
    const entry: UsageEntry = { parent, isAlone: true, measured: this.#meter?.() ?? null }
    if (!this.#meter) return entry
    for (const other of this.#open) if (!isWithin(entry, other)) other.isAlone = entry.isAlone = false
    this.#open.add(entry)
    return entry
  }

  of({ isAlone, measured }: UsageEntry): Usage {
    return isAlone && measured ? measured.read() : { cpuSeconds: null, peakMemoryBytes: null }
  }

  end(entry: UsageEntry): void {
    this.#open.delete(entry)
    entry.measured?.stop()
  }
}

function isWithin(entry: UsageEntry, outer: UsageEntry): boolean {
  for (let above = entry.parent; above !== null; above = above.parent) if (above === outer) return true
  return false
}
