/**
 * A link keeps one connection open for as long as it is wanted.
 *
 * It connects in the background, tries again for ever with backoff and jitter, and says so in the log once when an
 * outage begins and once when it ends. A connection that breaks soon after it was made belongs to the same outage and
 * counts as another failure, so that a server which accepts and then refuses is not hammered.
 */

import { BACKOFF_CAP_MS, backoffMs } from './backoff.ts'
import type { WakeupLog } from './wakeup.ts'

export type Closable = { close(): Promise<void> }

export type LinkOptions<C extends Closable> = {
  /** Names the connection in the log. */
  name: string
  /** Opens a connection, or rejects within a bounded time. `onLost` may be called any number of times. */
  open(onLost: (error: Error) => void): Promise<C>
  onUp?(connection: C): void
  log: WakeupLog
  random?: () => number
  /** A connection that has lived this long ends the outage before it. */
  steadyMs?: number
}

export type Link<C extends Closable> = {
  /**
   * Begins connecting on the first call; later calls do nothing. Resolves when the first try has ended, well or
   * badly.
   */
  start(): Promise<void>
  /** The open connection, or null while there is none. */
  current(): C | null
  /** Why there is no connection. */
  lastError(): Error | null
  close(): Promise<void>
}

export function createLink<C extends Closable>(options: LinkOptions<C>): Link<C> {
  const { name, log, random = Math.random, steadyMs = BACKOFF_CAP_MS } = options
  let connection: C | null = null
  let lastError: Error | null = null
  let closed = false
  let down = false
  let failures = 0
  let timer: NodeJS.Timeout | undefined
  let firstTry: Promise<void> | undefined

  async function tryOpen(): Promise<void> {
    // A generation of its own: a late report about this connection cannot harm the one after it.
    let opened: C | null = null
    let early: Error | null = null
    const onLost = (error: Error): void => {
      if (!opened) early ??= error
      else if (opened === connection) lost(error)
    }
    try {
      opened = await options.open(onLost)
    } catch (error) {
      return again(error as Error)
    }
    if (closed) return discard(opened)
    if (early) {
      void discard(opened)
      return again(early)
    }
    connection = opened
    lastError = null
    timer = setTimeout(steady, steadyMs).unref()
    options.onUp?.(opened)
  }

  function steady(): void {
    failures = 0
    if (down) log.info({ transport: name }, 'wake-up transport is back')
    down = false
  }

  function lost(error: Error): void {
    const broken = connection
    connection = null
    if (broken) void discard(broken)
    clearTimeout(timer)
    again(error)
  }

  function again(error: Error): void {
    lastError = error
    if (closed) return
    if (!down)
      log.warn({ transport: name, err: error }, 'wake-up transport is down; runs start by polling until it is back')
    down = true
    timer = setTimeout(() => void tryOpen(), backoffMs(failures++, random()))
  }

  return {
    async start() {
      if (!closed) firstTry ??= tryOpen()
      await firstTry
    },
    current: () => connection,
    lastError: () => lastError,
    async close() {
      closed = true
      clearTimeout(timer)
      const open = connection
      connection = null
      if (open) await discard(open)
    },
  }
}

async function discard(connection: Closable): Promise<void> {
  try {
    await connection.close()
  } catch {
    // The connection is being thrown away; how it takes its leave does not matter.
  }
}
