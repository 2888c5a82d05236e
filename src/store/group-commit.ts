/**
 * Group commit: calls that arrive while a commit is in flight share the next one.
 *
 * Each of `lanes` flushes runs one batch at a time. A call made while a lane is free goes out in the same turn of the event
 * loop, so an idle store adds no wait; under load the batch grows by itself to what arrived during the last commit.
 *
 * Where a batch has a price of its own, however few calls are in it, lanes that are filled as soon as they are free make many small batches.
 * With `gatherMs` a batch that would start beside another waits until it is as large as what is under way and has at least `besideMin` calls, and
 * the next batch leaves before the answers of the last one are given, so that the database works while the callers do.
 *
 * `flush` answers one result per item, in order, and must isolate a bad item itself: a rejection fails the whole batch. For an
 * item that takes longer than the others it answers a promise, which the next batch does not wait for.
 *
 * Whoever has many items at once hands them over together and waits for one promise instead of many.
 */

/** Items of one call, which stay together. `answer` is given the outputs of the whole batch and where theirs begin. */
type Part<I, O> = {
  items: I[]
  answer: (outputs: (O | Promise<O>)[], from: number) => void
  reject: (error: unknown) => void
}

export type GroupCommitOptions<I, O> = {
  flush: (items: I[]) => Promise<(O | Promise<O>)[]>
  batchMax: number
  lanes: number
  /** So long a call waits at most for others while a lane is free: a batch that hangs must not hold up those behind it. */
  gatherMs?: number
  /** So many calls make a second batch beside the first worth its price. */
  besideMin?: number
  /** More calls than this waiting at once are refused with `overflow`: a store that is down must not fill the memory. */
  queueMax?: number
  overflow?: () => O
}

export class GroupCommit<I, O> {
  #queue: Part<I, O>[] = []
  /** Items in the queue. */
  #waiting = 0
  #inFlight = 0
  /** Items of the batches in flight. */
  #underWay = 0
  #scheduled = false
  #gathering: NodeJS.Timeout | null = null
  readonly #options: GroupCommitOptions<I, O>

  constructor(options: GroupCommitOptions<I, O>) {
    this.#options = options
  }

  add(item: I): Promise<O> {
    const { queueMax, overflow } = this.#options
    if (queueMax !== undefined && overflow && this.#waiting >= queueMax) return Promise.resolve(overflow())
    return new Promise((resolve, reject) => {
      this.#enqueue({ items: [item], answer: (outputs, from) => resolve(outputs[from]!), reject })
    })
  }

  /** One output for each, in order. More than fit into a batch make one of their own. */
  addAll(items: I[]): Promise<(O | Promise<O>)[]> {
    return new Promise((resolve, reject) => {
      const answer = (outputs: (O | Promise<O>)[], from: number) => resolve(outputs.slice(from, from + items.length))
      this.#enqueue({ items, answer, reject })
    })
  }

  #enqueue(part: Part<I, O>): void {
    this.#queue.push(part)
    this.#waiting += part.items.length
    this.#schedule()
  }

  #schedule(): void {
    if (this.#scheduled || !this.#mayFlush()) return
    if (!this.#isLargeEnough()) {
      this.#gathering ??= setTimeout(() => this.#flush(), this.#options.gatherMs)
      return
    }
    this.#scheduled = true
    // Not a microtask: calls made by other callbacks of this turn of the event loop should ride along.
    setImmediate(() => {
      this.#scheduled = false
      // Another batch may have left meanwhile and taken most of them along.
      if (this.#isLargeEnough()) this.#flush()
      else this.#schedule()
    })
  }

  #mayFlush(): boolean {
    return this.#queue.length > 0 && this.#inFlight < this.#options.lanes
  }

  #isLargeEnough(): boolean {
    const { gatherMs, besideMin = 1, batchMax } = this.#options
    if (gatherMs === undefined || this.#underWay === 0) return true
    return this.#waiting >= Math.min(Math.max(this.#underWay, besideMin), batchMax)
  }

  #flush(): void {
    if (this.#gathering) clearTimeout(this.#gathering)
    this.#gathering = null
    if (!this.#mayFlush()) return
    const batch = this.#queue.splice(0, this.#partsOfBatch())
    const items = batch.length === 1 ? batch[0]!.items : batch.flatMap((part) => part.items)
    this.#waiting -= items.length
    this.#underWay += items.length
    this.#inFlight += 1
    void this.#commit(batch, items)
    this.#schedule()
  }

  #partsOfBatch(): number {
    let items = 0
    const over = this.#queue.findIndex((part) => {
      items += part.items.length
      return items > this.#options.batchMax
    })
    return over === -1 ? this.#queue.length : Math.max(1, over)
  }

  async #commit(batch: Part<I, O>[], items: I[]): Promise<void> {
    let answer: (part: Part<I, O>, from: number) => void
    try {
      const outputs = await this.#options.flush(items)
      answer = (part, from) => part.answer(outputs, from)
    } catch (error) {
      answer = (part) => part.reject(error)
    }
    this.#ended(items.length)
    let from = 0
    for (const part of batch) {
      answer(part, from)
      from += part.items.length
    }
  }

  #ended(count: number): void {
    this.#inFlight -= 1
    this.#underWay -= count
    if (this.#options.gatherMs !== undefined && this.#isLargeEnough()) this.#flush()
    else this.#schedule()
  }
}
