/**
 * Wake-ups over Postgres LISTEN/NOTIFY, the default.
 *
 * One connection sends, one listens; both are direct and apart from every pool, and each is opened only when it is
 * needed. A sending carries every topic hinted at since the last one began, and leaves some milliseconds after it at the soonest, so load makes
 * sendings larger, not more frequent. A sending that fails is not repeated: its hints cost a poll interval. While the sender is down, topics
 * gather in a bounded set.
 */

import { setTimeout as pause } from 'node:timers/promises'
import { createLink } from './link.ts'
import { createSubscribers } from './subscribers.ts'
import type { Topic, Wakeup, WakeupLog } from './wakeup.ts'
import { answeredWithin, endedWithin } from './within.ts'

export type HintSender = {
  send(topics: string[]): Promise<void>
  ping(): Promise<void>
  close(): Promise<void>
}

export type HintListener = { close(): Promise<void> }

/** How to reach the database; made from the store by whoever composes the process. */
export type HintConnections = {
  openHintSender(onLost: (error: Error) => void): Promise<HintSender>
  openHintListener(onTopic: (topic: string) => void, onLost: (error: Error) => void): Promise<HintListener>
}

export type PostgresWakeupOptions = {
  connections: HintConnections
  log: WakeupLog
  random?: () => number
  /** How long `subscribe` waits for the first connection. */
  subscribeWaitMs?: number
  pingTimeoutMs?: number
  /** Between two sendings. */
  gapMs?: number
}

/** Above this many waiting topics further ones are dropped; only a long outage with many workers gets here. */
const WAITING_TOPICS_MAX = 10_000
/** NOTIFY takes payloads below 8000 bytes; four bytes a character at most. */
const TOPIC_LENGTH_MAX = 1_900
const CLOSE_FLUSH_MS = 500
/** In a rush every sending would wake every process that listens, once for each commit. */
const GAP_MS = 5

export function createPostgresWakeup(options: PostgresWakeupOptions): Wakeup {
  const { connections, log, random, gapMs = GAP_MS } = options
  const subscribers = createSubscribers((error) => log.warn({ err: error }, 'a wake-up callback failed'))
  const waiting = new Set<Topic>()
  let flushing: Promise<void> | null = null

  const sender = createLink<HintSender>({
    name: 'postgres notify',
    open: (onLost) => connections.openHintSender(onLost),
    onUp: () => void flush(),
    log,
    random,
  })
  const listener = createLink<HintListener>({
    name: 'postgres listen',
    open: (onLost) => connections.openHintListener((topic) => subscribers.tell(topic as Topic), onLost),
    onUp: () => subscribers.tellAll(),
    log,
    random,
  })

  function flush(): Promise<void> {
    flushing ??= sendAll()
    return flushing
  }

  async function sendAll(): Promise<void> {
    // Hints given in the same tick travel together.
    await null
    for (let to = sender.current(); to && waiting.size > 0; to = sender.current()) {
      const topics = [...waiting]
      waiting.clear()
      // The link hears of the failure from the connection itself.
      await to.send(topics).catch(() => {})
      await pause(gapMs)
    }
    flushing = null
  }

  return {
    name: 'postgres',
    hint(topic) {
      subscribers.tell(topic)
      if (waiting.size >= WAITING_TOPICS_MAX || topic.length > TOPIC_LENGTH_MAX) return
      waiting.add(topic)
      if (flushing) return
      if (sender.current()) void flush()
      else void sender.start()
    },
    async subscribe(topics, onHint) {
      const subscriber = subscribers.add(topics, onHint)
      await endedWithin(listener.start(), options.subscribeWaitMs ?? 1_000)
      // A listener that comes up later calls everyone itself.
      if (listener.current()) for (const topic of topics) subscribers.tell(topic)
      return { close: async () => subscribers.remove(subscriber) }
    },
    async ping() {
      const timeoutMs = options.pingTimeoutMs ?? 2_000
      await answeredWithin(sender.start(), timeoutMs)
      const connection = sender.current()
      if (!connection) throw new Error('the wake-up connection is down', { cause: sender.lastError() })
      await answeredWithin(connection.ping(), timeoutMs)
    },
    async close() {
      if (waiting.size > 0 || flushing) await endedWithin(sender.start().then(flush), CLOSE_FLUSH_MS)
      subscribers.clear()
      await Promise.all([sender.close(), listener.close()])
    },
  }
}
