/**
 * What engines' jobs said of their own end, for the attempts of this worker that are followed. Looks that are asked for while one is under way
 * share the next one. A hint leads to one look for all of them, and wakes those whose job has spoken.
 */

import type { Outcome } from '../executor/executor.ts'
import type { Attempts, JobOutcome } from '../store/ports/attempts.ts'
import type { Lease } from '../store/store.ts'

type Followed = { outcome: Outcome | null; wakes: Set<() => void> }

export class JobOutcomes {
  readonly #store: Pick<Attempts, 'jobOutcomes'>
  readonly #followed = new Map<Lease, Followed>()
  #asking: Promise<void> | null = null
  #next: Promise<void> | null = null

  constructor(store: Pick<Attempts, 'jobOutcomes'>) {
    this.#store = store
  }

  follow(lease: Lease): void {
    if (!this.#followed.has(lease)) this.#followed.set(lease, { outcome: null, wakes: new Set() })
  }

  forget(lease: Lease): void {
    this.#followed.delete(lease)
  }

  /** Rejects when the store cannot be asked. */
  async of(lease: Lease): Promise<Outcome | null> {
    this.follow(lease)
    const followed = this.#followed.get(lease)!
    if (!followed.outcome) await this.#lookSoon()
    return followed.outcome
  }

  onOutcome(lease: Lease, wake: () => void): () => void {
    this.follow(lease)
    const { wakes } = this.#followed.get(lease)!
    wakes.add(wake)
    return () => wakes.delete(wake)
  }

  /** A hint came; it may be about something else. */
  async hint(): Promise<void> {
    if (this.#followed.size > 0) await this.#lookSoon()
  }

  #lookSoon(): Promise<void> {
    this.#next ??= this.#lookNext()
    return this.#next
  }

  async #lookNext(): Promise<void> {
    // One look at a time, and one for all who ask before it begins.
    await this.#asking?.catch(() => {})
    this.#next = null
    this.#asking = this.#ask()
    await this.#asking
  }

  async #ask(): Promise<void> {
    const open = [...this.#followed].filter(([, { outcome }]) => outcome === null)
    if (open.length === 0) return
    const said = await this.#store.jobOutcomes(open.map(([lease]) => lease))
    const byRun = new Map(said.map(({ runId, outcome }) => [runId, outcome]))
    for (const [lease, followed] of open) {
      const outcome = byRun.get(lease.runId)
      if (!outcome) continue
      followed.outcome = outcomeOf(outcome)
      for (const wake of followed.wakes) wake()
    }
  }
}

function outcomeOf(said: JobOutcome): Outcome {
  const cost = said.cost === undefined ? {} : { cost: said.cost }
  if (said.ok) return { status: 'succeeded', resultText: said.result_text, ...cost }
  const { class: name, message, stack, retryable, exit_code } = said.error
  return {
    status: 'failed',
    ...cost,
    error: {
      class: name,
      message,
      stack,
      ...(retryable !== undefined && { retryable }),
      ...(exit_code !== undefined && { exitCode: exit_code }),
    },
  }
}
