/**
 * The main loop's side of the heartbeat thread: tells it which leases are held and passes on what it learns.
 *
 * A lease is announced before its work starts, in a message that needs no turn of this event loop, so that work which blocks at
 * once is covered. Ended leases are gathered and told a few times a second; renewing one too often is harmless.
 */

import { Worker } from 'node:worker_threads'

/** Named by its epoch too: a worker can hold a later lease of a run whose earlier one it has lost. */
export type HeldLease = { runId: string; epoch: number }

/** What the thread (see `store/heartbeat-thread.ts`) says. */
type FromThread =
  | { type: 'ready' }
  | { type: 'answer'; lost: HeldLease[]; cancelRequested: HeldLease[]; reached: boolean }
  | { type: 'failed'; message: string }
  | { type: 'silent'; sinceMs: number }

export type HeartbeatOptions = {
  /** The thread's program and what it needs to reach the database; chosen where everything is wired. */
  thread: { url: URL; data: Record<string, unknown> }
  workerId: string
  leaseMs: number
  deadlineGraceMs: number
  loopSilenceMs: number
  onLost: (leases: HeldLease[]) => void
  onCancelRequested: (leases: HeldLease[]) => void
  onRenewed: () => void
  onFailure: (message: string) => void
}

const REMOVE_EVERY_MS = 50

export class Heartbeat {
  /** Resolves when the thread runs. Before that a lease could end while the thread is still loading. */
  readonly ready: Promise<void>
  readonly #thread: Worker
  readonly #pulse = new Int32Array(new SharedArrayBuffer(4))
  readonly #pulseTimer: NodeJS.Timeout
  #ended = ''
  #removeTimer: NodeJS.Timeout | null = null

  constructor(options: HeartbeatOptions) {
    const { thread, workerId, leaseMs, deadlineGraceMs, loopSilenceMs } = options
    this.#thread = new Worker(thread.url, {
      name: 'heartbeat',
      workerData: { ...thread.data, workerId, leaseMs, deadlineGraceMs, loopSilenceMs, pulse: this.#pulse.buffer },
      resourceLimits: { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 4 },
    })
    const ready = Promise.withResolvers<void>()
    this.ready = ready.promise
    this.#thread.on('message', (message: FromThread) => {
      if (message.type === 'ready') ready.resolve()
      if (message.type === 'failed') options.onFailure(message.message)
      else if (message.type === 'answer') {
        if (message.reached) options.onRenewed()
        if (message.lost.length > 0) options.onLost(message.lost)
        if (message.cancelRequested.length > 0) options.onCancelRequested(message.cancelRequested)
      }
    })
    this.#thread.on('error', (error) => {
      // Without heartbeats every lease would lapse unnoticed. Crash-only: die, and let another worker take over.
      throw new Error('the heartbeat thread died', { cause: error })
    })
    const pulseMs = Math.max(10, Math.min(1_000, leaseMs / 10, loopSilenceMs / 4))
    this.#pulseTimer = setInterval(() => Atomics.add(this.#pulse, 0, 1), pulseMs)
  }

  add(takenAtMs: number, leases: HeldLease[]): void {
    // One text for all of them: to copy as many objects to the thread takes longer than to renew them.
    this.#thread.postMessage({ type: 'add', takenAtMs, leases: leases.reduce(appendLease, '') })
  }

  remove(lease: HeldLease): void {
    this.#ended = appendLease(this.#ended, lease)
    this.#removeTimer ??= setTimeout(() => {
      this.#removeTimer = null
      this.#thread.postMessage({ type: 'remove', leases: this.#ended })
      this.#ended = ''
    }, REMOVE_EVERY_MS)
  }

  /** Looks at the leases now: a hint said that a cancel was requested. */
  beatNow(): void {
    this.#thread.postMessage({ type: 'beat' })
  }

  async stop(): Promise<void> {
    clearInterval(this.#pulseTimer)
    if (this.#removeTimer) clearTimeout(this.#removeTimer)
    await this.#thread.terminate()
  }
}

/** Read back by the thread: run id, blank, epoch, comma. */
function appendLease(text: string, { runId, epoch }: HeldLease): string {
  return `${text}${runId} ${epoch},`
}

/** The clock the thread measures leases with. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint() / 1_000_000n)
}
