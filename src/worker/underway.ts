/**
 * What a worker has under way: starts what a claim brought, settles together what is over in the turn it began, and follows everything else to its
 * end, so that it can be told to stop until then.
 */

import type { Lease, Settlement, Store } from '../store/store.ts'
import { type AdoptedJob, Attempt } from './attempt.ts'
import type { AttemptDeps } from './attempt-deps.ts'
import type { HeldClaim, HeldLease } from './heartbeat.ts'

export type UnderwayDeps = {
  attempts: AttemptDeps
  store: Pick<Store, 'settleAll'>
  /** Runs that are over. */
  onOver: (leases: Lease[], claim: HeldClaim) => void
  /** Work in an engine that another worker is to adopt. */
  onLetGo: (lease: Lease) => Promise<void>
}

/** An attempt that was over in the turn it began. */
type Ended = { attempt: Attempt; settlement: Settlement }

export class Underway {
  readonly #deps: UnderwayDeps
  readonly #attempts = new Map<Attempt, Promise<void>>()
  /** By run, the attempt that holds its latest lease; an older one of the same run may still be ending. */
  readonly #latest = new Map<string, Attempt>()
  /** Claims whose runs are about to start, and the settling together of those that were over at once. */
  readonly #batches = new Set<Promise<void>>()
  readonly #unstarted = new Set<Lease[]>()
  /** What befalls an attempt that begins, or cannot be settled with others, while the worker stops. */
  #ending: 'abort' | 'give-up' | null = null

  constructor(deps: UnderwayDeps) {
    this.#deps = deps
  }

  start(leases: Lease[], claim: HeldClaim): void {
    const { attempts } = this.#deps
    const ended: Ended[] = []
    for (const lease of leases) {
      if (lease.attempt === 1) attempts.metrics.queueLag.observe(lease.queuedSeconds)
      const attempt = this.#attempt(lease)
      const settlement = attempt.begin()
      if (settlement) ended.push({ attempt, settlement })
      else this.#follow(attempt, attempt.finish(), claim)
    }
    if (ended.length > 0) this.#track(this.#settleTogether(ended, claim))
  }

  startNextTurn(leases: Lease[], claim: HeldClaim): void {
    this.#unstarted.add(leases)
    const started = nextTurn().then(() => {
      this.#unstarted.delete(leases)
      this.start(leases, claim)
    })
    this.#track(started)
  }

  adopt(lease: Lease, job: AdoptedJob, claim: HeldClaim): void {
    const attempt = this.#attempt(lease, job)
    this.#follow(attempt, attempt.run(), claim)
  }

  /** How many attempts the executor has been promised and has not taken yet. */
  placing(executor: string): number {
    const placing = [...this.#attempts.keys()].filter(({ isPlacing }) => isPlacing).map(({ lease }) => lease)
    return [...placing, ...[...this.#unstarted].flat()].filter((lease) => lease.executor === executor).length
  }

  abort(leases: HeldLease[], reason: 'lease-lost' | 'cancelled'): void {
    for (const { runId, epoch } of leases) {
      const attempt = this.#latest.get(runId)
      if (attempt?.lease.epoch === epoch) attempt.abort(reason)
    }
  }

  /** Leaves what engines have to whoever adopts it. */
  letGo(): void {
    for (const attempt of this.#attempts.keys()) if (attempt.isElsewhere) attempt.abort('shutdown')
  }

  abortAll(): void {
    this.#ending = 'abort'
    for (const attempt of this.#attempts.keys()) attempt.abort('shutdown')
  }

  giveUp(): void {
    this.#ending = 'give-up'
    for (const attempt of this.#attempts.keys()) attempt.giveUp()
  }

  /** Whether everything has ended in time. */
  async ended(withinMs: number): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, withinMs)
    })
    await Promise.race([this.#allEnded(), late])
    clearTimeout(timer)
    return this.#isEmpty
  }

  /** What could not be settled together is settled alone, so one wait may not be enough. */
  async #allEnded(): Promise<void> {
    while (!this.#isEmpty) await Promise.all([...this.#attempts.values(), ...this.#batches])
  }

  get #isEmpty(): boolean {
    return this.#attempts.size + this.#batches.size === 0
  }

  /** A run that could be taken again was lost to this worker before, whose heartbeat thread may not have heard of it yet. */
  #attempt(lease: Lease, job: AdoptedJob | null = null): Attempt {
    this.#latest.get(lease.runId)?.abort('lease-lost')
    return new Attempt(lease, this.#deps.attempts, job)
  }

  async #settleTogether(ended: Ended[], claim: HeldClaim): Promise<void> {
    const settlements = ended.map(({ settlement }) => settlement)
    const answers = await this.#deps.store.settleAll(settlements).catch((error: Error) => ended.map(() => error))
    const over: Lease[] = []
    for (const [index, { attempt, settlement }] of ended.entries()) {
      const answer = answers[index]!
      if (answer instanceof Error) this.#follow(attempt, attempt.settle(settlement, answer), claim)
      else {
        attempt.announce(settlement, answer)
        over.push(attempt.lease)
      }
    }
    if (over.length > 0) this.#deps.onOver(over, claim)
  }

  #follow(attempt: Attempt, ended: Promise<void>, claim: HeldClaim): void {
    const { lease } = attempt
    if (this.#ending) attempt.abort('shutdown')
    if (this.#ending === 'give-up') attempt.giveUp()
    this.#latest.set(lease.runId, attempt)
    const done = ended.then(() => {
      this.#attempts.delete(attempt)
      if (this.#latest.get(lease.runId) === attempt) this.#latest.delete(lease.runId)
      this.#deps.onOver([lease], claim)
      if (attempt.isLetGo) return this.#deps.onLetGo(lease)
    })
    this.#attempts.set(attempt, done)
  }

  #track(batch: Promise<void>): void {
    this.#batches.add(batch)
    void batch.then(() => this.#batches.delete(batch))
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
