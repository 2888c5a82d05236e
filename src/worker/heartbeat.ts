/**
 * The main loop's side of the heartbeat thread: tells it which leases are held and passes on what it learns.
 *
 * A lease is announced before its work starts, in memory both threads share, so that work which blocks at once is covered. The thread is not
 * woken for it: it looks there before it does anything with leases. What finds no room there is sent as a message. Ends are told of twice a
 * second, and those of a claim by one number once all its leases have ended, as those of short runs soon have: then the thread need not look at
 * any of them. Renewing one too often is harmless.
 */

import { Worker } from 'node:worker_threads'
import { Mailbox } from '../run/mailbox.ts'

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

const TELL_EVERY_MS = 500
/** Room for a thousand claims of one run. The thread takes what is there twenty times and more while a lease lasts. */
const TAKEN_CHARACTERS = 64 * 1024
/** How long the leases of a claim may all end before those that have are told of one by one. */
const TOGETHER_MS = 1_000

/** Leases taken together, and what the thread has not been told of them. */
export type HeldClaim = { readonly no: number; readonly takenAtMs: number; left: number; ended: HeldLease[] }

export class Heartbeat {
  /** Resolves when the thread runs. Before that a lease could end while the thread is still loading. */
  readonly ready: Promise<void>
  readonly #thread: Worker
  readonly #pulse = new Int32Array(new SharedArrayBuffer(4))
  readonly #pulseTimer: NodeJS.Timeout
  readonly #taken: Mailbox
  /** Claims of which leases have ended. */
  readonly #changed = new Set<HeldClaim>()
  #claims = 0
  #tellTimer: NodeJS.Timeout | null = null

  constructor(options: HeartbeatOptions) {
    const { thread, workerId, leaseMs, deadlineGraceMs, loopSilenceMs } = options
    const taken = Mailbox.memory(TAKEN_CHARACTERS)
    this.#taken = new Mailbox(taken)
    this.#thread = new Worker(thread.url, {
      name: 'heartbeat',
      workerData: {
        ...thread.data,
        workerId,
        leaseMs,
        deadlineGraceMs,
        loopSilenceMs,
        pulse: this.#pulse.buffer,
        taken,
      },
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

  add(takenAtMs: number, leases: HeldLease[]): HeldClaim {
    const no = ++this.#claims
    // One text for all of them: to copy as many objects to the thread takes longer than to renew them.
    const text = `${no} ${takenAtMs} ${namesOf(leases)}\n`
    if (!this.#taken.add(text)) this.#thread.postMessage({ type: 'add', claims: text })
    return { no, takenAtMs, left: leases.length, ended: [] }
  }

  end(claim: HeldClaim, leases: HeldLease[]): void {
    claim.left -= leases.length
    // Where nothing is left of a claim its number says it all.
    if (claim.left > 0) claim.ended.push(...leases)
    this.#changed.add(claim)
    this.#tellTimer ??= setTimeout(() => this.#tell(), TELL_EVERY_MS)
  }

  #tell(): void {
    const beforeMs = monotonicMs() - TOGETHER_MS
    const told = [...this.#changed].filter((claim) => claim.left === 0 || claim.takenAtMs < beforeMs)
    const claims = told.map(({ no, left, ended }) => ({ claim: no, ended: left === 0 ? null : namesOf(ended) }))
    if (claims.length > 0) this.#thread.postMessage({ type: 'end', claims })
    for (const claim of told) {
      claim.ended = []
      this.#changed.delete(claim)
    }
    this.#tellTimer = this.#changed.size > 0 ? setTimeout(() => this.#tell(), TELL_EVERY_MS) : null
  }

  /** Looks at the leases now: a hint said that a cancel was requested. */
  beatNow(): void {
    this.#thread.postMessage({ type: 'beat' })
  }

  async stop(): Promise<void> {
    clearInterval(this.#pulseTimer)
    if (this.#tellTimer) clearTimeout(this.#tellTimer)
    await this.#thread.terminate()
  }
}

/** Read back by the thread (see `store/held-leases.ts`), as is the line it is in: of each run id, blank, epoch, comma. */
function namesOf(leases: HeldLease[]): string {
  let names = ''
  for (const { runId, epoch } of leases) names += `${runId} ${epoch},`
  return names
}

/** The clock the thread measures leases with. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint() / 1_000_000n)
}
