/**
 * Settles what was sent, in batches: what ends while a batch is on its way is the next batch, so load makes batches larger, not more frequent.
 *
 * It goes on until the database answers. A settlement may be sent twice: the token of its claim decides, and one whose lease was lost
 * changes nothing. When the database is there and still refuses a batch, each is settled alone, and one that is refused alone is settled
 * without its request and response: what cannot be logged must not be sent again for ever, nor hold up the others.
 */

import type { Sent } from '../store/ports/deliveries.ts'

/** `late`: the lease was lost before. `given-up`: the relay ends and the database does not answer; the lease will lapse. */
export type SettleEnd = 'settled' | 'late' | 'given-up'

export type SettleBatchesOptions = {
  settle: (sent: readonly Sent[]) => Promise<Set<string>>
  /** Rejects when the database does not answer. */
  ping: () => Promise<void>
  onFailure: (error: unknown) => void
  batchMax?: number
  pauseMs?: (failures: number) => number
}

type Item = { sent: Sent; isBare: boolean; end(how: SettleEnd): void }

const BATCH_MAX = 200
/** Refusals, by a database that answers, before something of the batch is thought to be the cause. */
const REFUSALS_MAX = 2
const BARE_REFUSALS_MAX = 5

const growingPauseMs = (failures: number) => Math.min(2_000, 25 * 2 ** Math.min(failures, 8))

export class SettleBatches {
  readonly #options: SettleBatchesOptions
  readonly #waiting: Item[] = []
  #isRunning = false
  #isGivenUp = false

  constructor(options: SettleBatchesOptions) {
    this.#options = options
  }

  /** Never rejects. */
  add(sent: Sent): Promise<SettleEnd> {
    return new Promise((end) => {
      this.#waiting.push({ sent, isBare: false, end })
      void this.#run()
    })
  }

  /** What fails from now on is not tried again. */
  giveUp(): void {
    this.#isGivenUp = true
  }

  async #run(): Promise<void> {
    if (this.#isRunning) return
    this.#isRunning = true
    // What ended in the same turn goes together.
    await null
    while (this.#waiting.length > 0) await this.#settle(this.#waiting.splice(0, this.#options.batchMax ?? BATCH_MAX))
    this.#isRunning = false
  }

  async #settle(items: Item[]): Promise<void> {
    let refusals = 0
    for (let failures = 1; ; failures += 1) {
      try {
        const settled = await this.#options.settle(items.map(({ sent }) => sent))
        for (const { sent, end } of items) end(settled.has(sent.id) ? 'settled' : 'late')
        return
      } catch (error) {
        if (failures === 1) this.#options.onFailure(error)
      }
      if (this.#isGivenUp) return endAll(items, 'given-up')
      if (await this.#databaseAnswers()) refusals += 1
      if (refusals >= REFUSALS_MAX && items.length > 1) return this.#settleEach(items)
      const [item] = items
      if (refusals >= REFUSALS_MAX && item) makeBare(item)
      if (refusals >= BARE_REFUSALS_MAX) return endAll(items, 'given-up')
      await new Promise((resolve) => setTimeout(resolve, (this.#options.pauseMs ?? growingPauseMs)(failures)))
    }
  }

  async #settleEach(items: Item[]): Promise<void> {
    for (const item of items) await this.#settle([item])
  }

  async #databaseAnswers(): Promise<boolean> {
    return this.#options.ping().then(
      () => true,
      () => false,
    )
  }
}

function endAll(items: Item[], how: SettleEnd): void {
  for (const { end } of items) end(how)
}

function makeBare(item: Item): void {
  if (item.isBare) return
  item.isBare = true
  item.sent = { ...item.sent, request: null, response: null, error: item.sent.error && 'it could not be logged' }
}
