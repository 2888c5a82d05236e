/** Gathers the latest progress of each attempt and writes all of them together, at most once a second. */

import type { Lease, Store } from '../store/store.ts'

export class ProgressWriter {
  readonly #latest = new Map<string, { lease: Lease; value: unknown }>()
  readonly #store: Pick<Store, 'saveProgress'>

  constructor(store: Pick<Store, 'saveProgress'>) {
    this.#store = store
  }

  note(lease: Lease, value: unknown): void {
    this.#latest.set(lease.runId, { lease, value })
  }

  async write(): Promise<void> {
    if (this.#latest.size === 0) return
    const items = [...this.#latest.values()].map(({ lease, value }) => ({
      runId: lease.runId,
      epoch: lease.epoch,
      attempt: lease.attempt,
      progress: value,
    }))
    this.#latest.clear()
    await this.#store.saveProgress(items)
  }
}
