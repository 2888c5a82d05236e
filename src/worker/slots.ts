/** Counts what a worker may still take: in all, per queue and per model. A slot is held from claim until the attempt is settled. */

export type QueueLimit = { queue: string; limit: number | null }
export type ModelLimit = { model: string; version: string; limit: number | null }

/** What is free now; a `room` of null is bounded by the slots alone. */
export type Room = {
  slots: number
  queues: { queue: string; room: number | null }[]
  models: { model: string; version: string; room: number | null }[]
}

type Taker = { queue: string; model: string; modelVersion: string }

export class Slots {
  #taken = 0
  readonly #total: number
  readonly #queues: QueueLimit[]
  readonly #models: ModelLimit[]
  readonly #byQueue = new Map<string, number>()
  readonly #byModel = new Map<string, number>()

  constructor(total: number, queues: QueueLimit[], models: ModelLimit[]) {
    this.#total = total
    this.#queues = queues
    this.#models = models
  }

  get taken(): number {
    return this.#taken
  }

  get free(): number {
    return this.#total - this.#taken
  }

  take(takers: readonly Taker[]): void {
    this.#count(takers, 1)
  }

  give(takers: readonly Taker[]): void {
    this.#count(takers, -1)
  }

  room(): Room {
    const free = this.free
    const left = (limit: number | null, taken: number) => (limit === null ? null : Math.min(free, limit - taken))
    const hasRoom = ({ room }: { room: number | null }) => free > 0 && (room === null || room > 0)
    return {
      slots: free,
      queues: this.#queues
        .map(({ queue, limit }) => ({ queue, room: left(limit, this.#byQueue.get(queue) ?? 0) }))
        .filter(hasRoom),
      models: this.#models
        .map(({ model, version, limit }) => ({
          model,
          version,
          room: left(limit, this.#byModel.get(`${model}@${version}`) ?? 0),
        }))
        .filter(hasRoom),
    }
  }

  /** Those of a claim are mostly of one queue and model: what is alike in a row is counted at once. */
  #count(takers: readonly Taker[], sign: 1 | -1): void {
    this.#taken += sign * takers.length
    for (let from = 0; from < takers.length; ) {
      const taker = takers[from]!
      let to = from + 1
      while (to < takers.length && isAlike(takers[to]!, taker)) to += 1
      const by = sign * (to - from)
      const name = `${taker.model}@${taker.modelVersion}`
      this.#byQueue.set(taker.queue, (this.#byQueue.get(taker.queue) ?? 0) + by)
      this.#byModel.set(name, (this.#byModel.get(name) ?? 0) + by)
      from = to
    }
  }
}

function isAlike(a: Taker, b: Taker): boolean {
  return a.queue === b.queue && a.model === b.model && a.modelVersion === b.modelVersion
}
