/**
 * What the workers of a sequence believe. A worker holds the leases it was given until it settles them, learns that they
 * are lost, or crashes. All leases ever given are kept, so that zombies can use old ones.
 */

import type { Lease } from '../../src/store/store.ts'

export const WORKERS = ['w1', 'w2', 'w3']

export type Held = { lease: Lease; workerId: string }

export class Workers {
  readonly #held = new Map<string, Held[]>(WORKERS.map((workerId) => [workerId, []]))
  readonly #frozen = new Set<string>()
  readonly ever: Held[] = []

  held(workerId: string): Held[] {
    return this.#held.get(workerId)!
  }

  give(workerId: string, leases: Lease[]): void {
    const given = leases.map((lease) => ({ lease, workerId }))
    this.#held.set(workerId, [...this.held(workerId), ...given])
    this.ever.push(...given)
  }

  drop(workerId: string, runId: string, epoch: number): void {
    const others = this.held(workerId).filter(({ lease }) => lease.runId !== runId || lease.epoch !== epoch)
    this.#held.set(workerId, others)
  }

  crash(workerId: string): void {
    this.#held.set(workerId, [])
  }

  freeze(workerId: string): void {
    this.#frozen.add(workerId)
  }

  /** The frozen worker of this number, which goes on. */
  thaw(number: number): string | undefined {
    const workerId = at([...this.#frozen], number)
    if (workerId) this.#frozen.delete(workerId)
    return workerId
  }

  /** The worker of this number, or the next one that is not frozen; when all are, this one goes on. */
  awake(number: number): string {
    const inTurn = WORKERS.map((_, index) => at(WORKERS, number + index)!)
    const awake = inTurn.find((workerId) => !this.#frozen.has(workerId)) ?? inTurn[0]!
    this.#frozen.delete(awake)
    return awake
  }

  /** A worker with leases, if any has some: the others have nothing to lose. */
  busy(number: number): string {
    const busy = WORKERS.filter((workerId) => this.held(workerId).length > 0)
    return at(busy, number) ?? at(WORKERS, number)!
  }

  /** Leases that nobody awake counts on: forgotten, lost, settled or slept through. */
  abandoned(): Held[] {
    const awake = WORKERS.filter((workerId) => !this.#frozen.has(workerId))
    const counted = new Set(awake.flatMap((workerId) => this.held(workerId)))
    return this.ever.filter((one) => !counted.has(one))
  }
}

export function at<T>(list: T[], number: number): T | undefined {
  return list[number % list.length]
}
