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

  take(taker: Taker): void {
    this.#count(taker, 1)
  }

  give(taker: Taker): void {
    this.#count(taker, -1)
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

  #count({ queue, model, modelVersion }: Taker, by: 1 | -1): void {
    const name = `${model}@${modelVersion}`
    this.#taken += by
    this.#byQueue.set(queue, (this.#byQueue.get(queue) ?? 0) + by)
    this.#byModel.set(name, (this.#byModel.get(name) ?? 0) + by)
  }
}
