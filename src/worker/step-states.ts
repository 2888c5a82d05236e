/** Gathers how the steps of attempts stand and writes all of it together, at most once a second, and at the end of an attempt that did not go well. */

import type { Fence } from '../store/ports/attempts.ts'
import type { Steps, StoredStepState } from '../store/ports/steps.ts'

type Told = { lease: Fence; storedStates(): StoredStepState[] }

export class StepStateWriter {
  readonly #store: Pick<Steps, 'saveStates'>
  readonly #changed = new Set<Told>()
  #writing: Promise<void> | null = null

  constructor(store: Pick<Steps, 'saveStates'>) {
    this.#store = store
  }

  note(steps: Told): void {
    this.#changed.add(steps)
  }

  /** An attempt that is over soon: most short ones are never written. */
  forget(steps: Told): void {
    this.#changed.delete(steps)
  }

  /** That it could not be written is no reason to hold up the end of an attempt. */
  async end(steps: Told): Promise<void> {
    this.#changed.delete(steps)
    // An older word that is on its way must not come after the last.
    await this.#writing?.catch(() => {})
    await this.#store.saveStates([itemOf(steps)]).catch(() => {})
  }

  async write(): Promise<void> {
    if (this.#changed.size === 0) return
    const items = [...this.#changed].map(itemOf)
    this.#changed.clear()
    this.#writing = this.#store.saveStates(items)
    try {
      await this.#writing
    } finally {
      this.#writing = null
    }
  }
}

function itemOf(steps: Told) {
  const { runId, epoch, attempt } = steps.lease
  return { fence: { runId, epoch, attempt }, states: steps.storedStates() }
}
