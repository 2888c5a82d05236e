/**
 * Wake-ups over Redis lists, used when REDIS_URL is set.
 *
 * A hint pushes the run's id as a token on the list of its topic (`holdfast:queue:default`); each subscription blocks
 * on all its lists at once, on a connection of its own. A blocked subscription takes a single token, so a push of n
 * tokens wakes n idle workers; a worker that was woken then sweeps what is left, since everybody idle has been served
 * and the rest would only make it spin. The price: a worker with no free slot may take the only token, and the run
 * then starts at the next poll of another. Lists are capped and expire, so neither an outage of the workers nor a
 * worker that never comes back leaves garbage. Nothing in Redis is a fact.
 */

import { createLink } from './link.ts'
import { openRedis, type RedisConnection } from './redis-connection.ts'
import { createSubscribers } from './subscribers.ts'
import type { Topic, Wakeup, WakeupLog } from './wakeup.ts'
import { answeredWithin, endedWithin } from './within.ts'

export type RedisWakeupOptions = {
  url: string
  log: WakeupLog
  /** Before each key; lets several installations share one Redis. */
  prefix?: string
  random?: () => number
  /** How long `subscribe` waits for the first connection. */
  subscribeWaitMs?: number
  pingTimeoutMs?: number
  /** How long one blocking pop waits; a connection silent for `silenceMs` longer than that is given up. */
  blockMs?: number
  silenceMs?: number
}

/** Tokens held in memory while Redis is away; later ones are dropped. */
const WAITING_TOKENS_MAX = 10_000
const LIST_LENGTH_MAX = 10_000
const SWEEP_COUNT = 1_000
const QUEUE_EXPIRE_SECONDS = 86_400
const WORKER_EXPIRE_SECONDS = 60
const CLOSE_FLUSH_MS = 500

export function createRedisWakeup(options: RedisWakeupOptions): Wakeup {
  const { log, random, prefix = 'holdfast:' } = options
  const blockMs = options.blockMs ?? 5_000
  const silenceMs = options.silenceMs ?? 5_000
  const subscribers = createSubscribers((error) => log.warn({ err: error }, 'a wake-up callback failed'))
  const subscriptions = new Set<() => Promise<void>>()
  let waiting = new Map<Topic, string[]>()
  let waitingCount = 0
  let flushing: Promise<void> | null = null

  const sender = createLink<RedisConnection>({
    name: 'redis push',
    open: (onLost) =>
      openRedis({ url: options.url, timeoutMs: silenceMs, silenceMs: blockMs + silenceMs, pingMs: blockMs }, onLost),
    onUp: () => void flush(),
    log,
    random,
  })
  void sender.start()

  function flush(): Promise<void> {
    flushing ??= sendAll()
    return flushing
  }

  async function sendAll(): Promise<void> {
    // Hints given in the same tick travel together.
    await null
    for (let to = sender.current(); to && waitingCount > 0; to = sender.current()) {
      const batch = waiting
      waiting = new Map()
      waitingCount = 0
      await push(to, batch).catch(to.drop)
    }
    flushing = null
  }

  async function push(to: RedisConnection, batch: Map<Topic, string[]>): Promise<void> {
    const multi = to.client.multi()
    for (const [topic, tokens] of batch) {
      const key = prefix + topic
      multi.rPush(key, tokens)
      multi.lTrim(key, -LIST_LENGTH_MAX, -1)
      multi.expire(key, topic.startsWith('worker:') ? WORKER_EXPIRE_SECONDS : QUEUE_EXPIRE_SECONDS)
    }
    await multi.exec()
  }

  /** Blocks on the lists until the connection breaks or is closed. */
  async function listen(on: RedisConnection, keys: string[]): Promise<void> {
    for (;;) {
      const popped = await on.client.blmPop(blockMs / 1_000, keys, 'LEFT', { COUNT: 1 })
      if (!popped) continue
      tellOf(popped)
      const rest = await on.client.lmPop(keys, 'LEFT', { COUNT: SWEEP_COUNT })
      if (rest) tellOf(rest)
    }
  }

  function tellOf(popped: readonly unknown[]): void {
    subscribers.tell(String(popped[0]).slice(prefix.length) as Topic)
  }

  return {
    name: 'redis',
    hint(topic, runId) {
      subscribers.tell(topic)
      if (waitingCount >= WAITING_TOKENS_MAX) return
      const tokens = waiting.get(topic)
      if (tokens) tokens.push(runId)
      else waiting.set(topic, [runId])
      waitingCount++
      if (!flushing && sender.current()) void flush()
    },
    async subscribe(topics, onHint) {
      const subscriber = subscribers.add(topics, onHint)
      // A cancel must not wait behind a busy queue: Redis looks at the lists in this order.
      const keys = topics.toSorted((a, b) => b.localeCompare(a)).map((topic) => prefix + topic)
      const listener = createLink<RedisConnection>({
        name: 'redis pop',
        open: (onLost) => openRedis({ url: options.url, timeoutMs: silenceMs, silenceMs: blockMs + silenceMs }, onLost),
        onUp(connection) {
          for (const topic of topics) subscribers.tell(topic)
          listen(connection, keys).catch(connection.drop)
        },
        log,
        random,
      })
      const close = async (): Promise<void> => {
        subscriptions.delete(close)
        subscribers.remove(subscriber)
        await listener.close()
      }
      subscriptions.add(close)
      await endedWithin(listener.start(), options.subscribeWaitMs ?? 1_000)
      return { close }
    },
    async ping() {
      const timeoutMs = options.pingTimeoutMs ?? 2_000
      await answeredWithin(sender.start(), timeoutMs)
      const connection = sender.current()
      if (!connection) throw new Error('Redis cannot be reached', { cause: sender.lastError() })
      await answeredWithin(connection.client.ping(), timeoutMs)
    },
    async close() {
      await Promise.all([...subscriptions].map((close) => close()))
      if (waitingCount > 0 || flushing) await endedWithin(sender.start().then(flush), CLOSE_FLUSH_MS)
      subscribers.clear()
      await sender.close()
    },
  }
}
