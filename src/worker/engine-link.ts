/**
 * What ties an attempt to the engine that has it: where it is, and the word of its job. Every note about it is fenced by the lease; a
 * hand-over that is refused means that the lease is lost.
 */

import type { EngineReports, ExternalRef } from '../executor/executor.ts'
import type { Attempts } from '../store/ports/attempts.ts'
import type { Lease } from '../store/store.ts'
import type { JobOutcomes } from './job-outcomes.ts'

export type EngineDeps = { attempts: Pick<Attempts, 'handOver' | 'started'>; outcomes: JobOutcomes }

export class EngineLink implements EngineReports {
  readonly #lease: Lease
  readonly #deps: EngineDeps
  readonly #onLost: () => void
  #ref: ExternalRef | null

  constructor(lease: Lease, deps: EngineDeps, options: { ref: ExternalRef | null; onLost: () => void }) {
    this.#lease = lease
    this.#deps = deps
    this.#ref = options.ref
    this.#onLost = options.onLost
  }

  /** Where the engine has the attempt; null before it was handed over. */
  get ref(): ExternalRef | null {
    return this.#ref
  }

  async handOver(externalRef: ExternalRef, ticketHash: Buffer): Promise<void> {
    const isHeld = await this.#deps.attempts.handOver(this.#lease, { engine: true, externalRef, ticketHash })
    if (!isHeld) {
      this.#onLost()
      throw new Error('the lease was lost before the attempt could be handed over')
    }
    this.#ref = externalRef
  }

  async alive(ref?: ExternalRef): Promise<void> {
    await this.#deps.attempts.started(this.#lease, ref)
    if (ref) this.#ref = ref
  }

  jobOutcome() {
    return this.#deps.outcomes.of(this.#lease)
  }

  onJobOutcome(wake: () => void): () => void {
    return this.#deps.outcomes.onOutcome(this.#lease, wake)
  }

  close(): void {
    this.#deps.outcomes.forget(this.#lease)
  }
}
