/**
 * Waiting for work, for all remote workers that ask this process.
 *
 * Those who offer the same wait in one line. A hint that one of their queues has work, or the passing of the poll
 * interval, lets the first of each line claim; when it got all it asked for, the next one claims too. So the database
 * hears one claim for each line, however many wait in it, and nothing else: a waiter holds no connection. A worker that
 * goes away leaves its line; what was just being claimed for it is given back.
 */

import type { Lease } from '../store/store.ts'
import type { Log } from '../telemetry/log.ts'
import type { Wakeup } from '../wakeup/wakeup.ts'
import type { Offer } from './lease-offer.ts'
import { createQueueHints } from './queue-hints.ts'

export type LeaseWaitDeps = {
  claim(asked: LeaseAsked): Promise<Lease[]>
  /** Makes a run that was claimed for nobody available again. */
  giveBack(lease: Lease, workerId: string): Promise<void>
  wakeup: Pick<Wakeup, 'subscribe'>
  log: Log
  pollMs: number
}

export type LeaseAsked = { workerId: string; slots: number; offer: Offer }

export type LeaseWaits = {
  /**
   * Some leases, or none when the time is over, the asker is gone or the service stops. `mayStill` is asked before a
   * late claim.
   */
  next(asked: LeaseAsked, wait: { seconds: number; gone: AbortSignal; mayStill(): Promise<boolean> }): Promise<Lease[]>
  /** Answers all of them now. */
  close(): Promise<void>
  isClosed(): boolean
}

type Waiter = {
  asked: LeaseAsked
  /** Nobody in its line has claimed since it came. */
  isNew: boolean
  isClaiming: boolean
  isGone: boolean
  isOver: boolean
  mayStill(): Promise<boolean>
  end(leases: Lease[]): void
  fail(error: unknown): void
}

type Line = { offer: Offer; waiters: Set<Waiter>; isServing: boolean; again: boolean; timer: NodeJS.Timeout | null }

export function createLeaseWaits(deps: LeaseWaitDeps): LeaseWaits {
  const lines = new Map<string, Line>()
  const hints = createQueueHints(deps.wakeup, (queue) => {
    for (const line of lines.values()) if (line.offer.queues.includes(queue)) void serve(line)
  })
  let isClosed = false

  function lineOf(offer: Offer): Line {
    const key = JSON.stringify(offer)
    const found = lines.get(key)
    if (found) return found
    const line: Line = { offer, waiters: new Set(), isServing: false, again: false, timer: null }
    lines.set(key, line)
    return line
  }

  /** One claim at a time in a line; who comes meanwhile makes for one more look. */
  async function serve(line: Line): Promise<void> {
    line.again = true
    if (line.isServing) return
    line.isServing = true
    while (line.again) {
      line.again = false
      for (const waiter of line.waiters) {
        if (!(await serveOne(line, waiter))) break
      }
    }
    line.isServing = false
    // By now there was a claim after each of them had come, its own or that of one before it in the line.
    for (const waiter of line.waiters) {
      waiter.isNew = false
      if (waiter.isOver) leave(line, waiter, [])
    }
  }

  /** Whether the next one in the line should try too. */
  async function serveOne(line: Line, waiter: Waiter): Promise<boolean> {
    waiter.isClaiming = true
    try {
      if (!waiter.isNew && !(await waiter.mayStill())) {
        leave(line, waiter, [])
        return true
      }
      if (waiter.isGone || (waiter.isOver && !waiter.isNew)) return true
      const leases = await deps.claim(waiter.asked)
      if (waiter.isGone) {
        for (const lease of leases) await giveBack(lease, waiter)
        return leases.length > 0
      }
      if (leases.length > 0) leave(line, waiter, leases)
      return leases.length === waiter.asked.slots
    } catch (error) {
      line.waiters.delete(waiter)
      waiter.fail(error)
      return false
    } finally {
      waiter.isClaiming = false
      if (waiter.isGone || (waiter.isOver && !waiter.isNew)) leave(line, waiter, [])
    }
  }

  async function giveBack(lease: Lease, { asked }: Waiter): Promise<void> {
    await deps.giveBack(lease, asked.workerId).catch((error: unknown) => {
      deps.log.warn({ err: error, run_id: lease.runId }, 'a run claimed for a worker that went away was not given back')
    })
  }

  function leave(line: Line, waiter: Waiter, leases: Lease[]): void {
    line.waiters.delete(waiter)
    waiter.end(leases)
  }

  /**
   * Nobody leaves before there was one claim; what is being claimed is waited for, and the waiter hears of it or it is
   * given back.
   */
  function over(line: Line, waiter: Waiter): void {
    waiter.isOver = true
    if (!waiter.isClaiming && (waiter.isGone || !waiter.isNew)) leave(line, waiter, [])
  }

  function keepLooking(line: Line): void {
    line.timer ??= setInterval(() => void serve(line), deps.pollMs)
  }

  function forget(line: Line, key: string): void {
    if (line.waiters.size > 0) return
    if (line.timer) clearInterval(line.timer)
    line.timer = null
    if (lines.get(key) === line) lines.delete(key)
  }

  return {
    async next(asked, { seconds, gone, mayStill }) {
      if (isClosed || gone.aborted) return []
      const line = lineOf(asked.offer)
      const release = hints.follow(asked.offer.queues)
      const ended = Promise.withResolvers<Lease[]>()
      const waiter: Waiter = {
        asked,
        isNew: true,
        isClaiming: false,
        isGone: false,
        isOver: false,
        mayStill,
        end: ended.resolve,
        fail: ended.reject,
      }
      const onGone = () => {
        waiter.isGone = true
        over(line, waiter)
      }
      gone.addEventListener('abort', onGone)
      line.waiters.add(waiter)
      keepLooking(line)
      const timer = setTimeout(() => over(line, waiter), seconds * 1_000)
      try {
        void serve(line)
        return await ended.promise
      } finally {
        clearTimeout(timer)
        gone.removeEventListener('abort', onGone)
        release()
        forget(line, JSON.stringify(asked.offer))
      }
    },
    isClosed: () => isClosed,
    async close() {
      isClosed = true
      for (const line of lines.values()) for (const waiter of line.waiters) over(line, waiter)
      await hints.close()
    },
  }
}
