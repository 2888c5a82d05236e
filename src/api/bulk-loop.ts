/**
 * Runs bulk operations in the background of an API process: one page after the other while there are any, then a look every few
 * seconds for what another process left behind. `wake` only shortens the wait. Stopping waits for the page in hand.
 */

import type { Log } from '../telemetry/log.ts'
import type { BulkWork } from './bulk-work.ts'

const EVERY_MS = 2_000

export type BulkLoop = { start(): void; wake(): void; stop(): Promise<void> }

export function createBulkLoop({
  work,
  log,
  everyMs = EVERY_MS,
}: {
  work: BulkWork
  log: Log
  everyMs?: number
}): BulkLoop {
  let stopping = false
  let woken = false
  let endWait: (() => void) | null = null
  let done: Promise<void> | null = null

  async function run(): Promise<void> {
    while (!stopping) {
      woken = false
      const next = await work().catch((error: unknown) => {
        log.warn({ err: error }, 'bulk operations could not be looked at')
        return 'wait' as const
      })
      if (next === 'wait' && !woken) await wait()
    }
  }

  /** Spread by a quarter, so that many processes do not ask the database in step. */
  async function wait(): Promise<void> {
    if (stopping) return
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, everyMs * (0.75 + 0.5 * Math.random()))
      endWait = () => {
        clearTimeout(timer)
        resolve()
      }
    })
    endWait = null
  }

  return {
    start() {
      done ??= run()
    },
    wake() {
      woken = true
      endWait?.()
    },
    async stop() {
      stopping = true
      endWait?.()
      await done
    },
  }
}
