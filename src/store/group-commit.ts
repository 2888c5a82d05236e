/**
 * Group commit: calls that arrive while a commit is in flight share the next one.
 *
 * Each of `lanes` flushes runs one batch at a time. A call made while a lane is free goes out in the same turn of the event
 * loop, so an idle store adds no wait; under load the batch grows by itself to what arrived during the last commit.
 * `flush` answers one result per item, in order, and must isolate a bad item itself: a rejection fails the whole batch. For an
 * item that takes longer than the others it answers a promise, which the next batch does not wait for.
 */

type Waiting<I, O> = { item: I; resolve: (output: O | Promise<O>) => void; reject: (error: unknown) => void }

export type GroupCommitOptions<I, O> = {
  flush: (items: I[]) => Promise<(O | Promise<O>)[]>
  batchMax: number
  lanes: number
  /** More calls than this waiting at once are refused with `overflow`: a store that is down must not fill the memory. */
  queueMax?: number
  overflow?: () => O
}

export class GroupCommit<I, O> {
  #queue: Waiting<I, O>[] = []
  #inFlight = 0
  #scheduled = false
  readonly #options: GroupCommitOptions<I, O>

  constructor(options: GroupCommitOptions<I, O>) {
    this.#options = options
  }

  add(item: I): Promise<O> {
    const { queueMax, overflow } = this.#options
    if (queueMax !== undefined && overflow && this.#queue.length >= queueMax) return Promise.resolve(overflow())
    return new Promise((resolve, reject) => {
      this.#queue.push({ item, resolve, reject })
      this.#schedule()
    })
  }

  #schedule(): void {
    if (this.#scheduled || this.#inFlight >= this.#options.lanes || this.#queue.length === 0) return
    this.#scheduled = true
    // Not a microtask: calls made by other callbacks of this turn of the event loop should ride along.
    setImmediate(() => {
      this.#scheduled = false
      this.#flush()
    })
  }

  #flush(): void {
    if (this.#queue.length === 0 || this.#inFlight >= this.#options.lanes) return
    const batch = this.#queue.splice(0, this.#options.batchMax)
    this.#inFlight += 1
    void this.#commit(batch)
    this.#schedule()
  }

  async #commit(batch: Waiting<I, O>[]): Promise<void> {
    try {
      const outputs = await this.#options.flush(batch.map((waiting) => waiting.item))
      for (let index = 0; index < batch.length; index += 1) batch[index]!.resolve(outputs[index]!)
    } catch (error) {
      for (const waiting of batch) waiting.reject(error)
    } finally {
      this.#inFlight -= 1
      this.#schedule()
    }
  }
}
