/**
 * Adds a fact to a Redis stream, as one entry with the fields `id`, `type`, `at` and `data` (JSON). Redis numbers the
 * entries itself, so an entry whose answer was lost is there twice when it is sent again; `id` is the same in both. The
 * oldest entries go when the stream is long enough.
 *
 * There is one connection, opened by the first who needs it. One that broke or has fallen silent is never mended: the
 * next sending opens another, and the relay decides when that is. Nothing waits inside the client while there is no
 * connection.
 */

import type { ClaimedDelivery } from '../store/ports/deliveries.ts'
import type { Handed, Sender } from './sender.ts'
import { withLinks } from './webhook-body.ts'

export type StreamSenderOptions = {
  url: string
  /** The key of the stream. */
  stream: string
  /** Redis drops whole blocks of entries, so a few more than these stay. */
  lengthMax: number
  /** For links in what is sent. */
  publicUrl: string | null
  /** For connecting, and for a connection on which nothing moves although it is pinged. */
  silenceMs?: number
}

type Entry = { id: string; type: string; at: string; data: string }
type Connection = { add(entry: Entry): Promise<string>; drop(why: Error): void }

const SILENCE_MS = 10_000
/** What only another connection can change: the server is a replica now, is loading, or wants another password. */
const LEADS_ELSEWHERE = /^(READONLY|MASTERDOWN|LOADING|NOAUTH|WRONGPASS)\b/

export function createStreamSender(options: StreamSenderOptions): Sender {
  const { stream, lengthMax, publicUrl } = options
  let current: Connection | null = null
  let isClosed = false

  function open(): Connection {
    const mine = connect(options, () => {
      if (current === mine) current = null
    })
    return mine
  }

  async function add(entry: Entry, signal: AbortSignal): Promise<string> {
    signal.throwIfAborted()
    if (isClosed) throw new Error('the sender is closed')
    current ??= open()
    const to = current
    // A server that did not answer this one in time answers none: the others fail now and not later.
    const leave = () => to.drop(new Error(inWords(signal.reason)))
    signal.addEventListener('abort', leave, { once: true })
    return to.add(entry).finally(() => signal.removeEventListener('abort', leave))
  }

  async function send(delivery: ClaimedDelivery, signal: AbortSignal): Promise<Handed> {
    if (delivery.to.channel !== 'stream') throw new Error(`a ${delivery.to.channel} is no stream`)
    const entry = entryOf(delivery, publicUrl)
    if (!entry) return { outcome: 'refused', request: null, response: null, error: 'Not sent: it is no fact.' }
    const request = { stream, length_max: lengthMax, entry }
    try {
      const response = { entry_id: await add(entry, signal) }
      return { outcome: 'delivered', request, response, error: null }
    } catch (error) {
      return { outcome: 'failed', request, response: null, error: inWords(error) }
    }
  }

  async function close(): Promise<void> {
    isClosed = true
    current?.drop(new Error('the sender is closed'))
  }

  return { channel: 'stream', send, close }
}

/** Answers at once; what is added waits for the connection, and fails with it. */
function connect(options: StreamSenderOptions, onLost: () => void): Connection {
  const lost = Promise.withResolvers<never>()
  let client: RedisClient | null = null
  let isLost = false

  function drop(why: Error): void {
    if (isLost) return
    isLost = true
    lost.reject(why)
    if (client?.isOpen) client.destroy()
    onLost()
  }

  async function ready(): Promise<RedisClient> {
    const made = await createRedisClient(options)
    client = made.on('error', drop)
    if (!isLost) await made.connect()
    return made
  }

  const { stream, lengthMax } = options
  const TRIM = { strategy: 'MAXLEN', strategyModifier: '~', threshold: lengthMax } as const
  const opened = ready()
  lost.promise.catch(() => {})
  opened.catch(drop)

  async function add(entry: Entry): Promise<string> {
    const redis = await Promise.race([opened, lost.promise])
    try {
      return await Promise.race([redis.xAdd(stream, '*', entry, { TRIM }), lost.promise])
    } catch (error) {
      if (LEADS_ELSEWHERE.test(inWords(error))) drop(error as Error)
      throw error
    }
  }

  return { add, drop }
}

type RedisClient = Awaited<ReturnType<typeof createRedisClient>>

async function createRedisClient({ url, silenceMs = SILENCE_MS }: StreamSenderOptions) {
  // A relay without a stream does not have to carry the package.
  const { createClient } = await import('redis')
  return createClient({
    url,
    name: 'holdfast-stream',
    disableOfflineQueue: true,
    maintNotifications: 'disabled',
    pingInterval: silenceMs / 2,
    socket: { reconnectStrategy: false, connectTimeout: silenceMs, socketTimeout: silenceMs },
  })
}

function entryOf({ messageId, data }: ClaimedDelivery, publicUrl: string | null): Entry | null {
  const fact = withLinks(data, publicUrl) as { type?: unknown; timestamp?: unknown; data?: unknown } | null
  if (typeof fact?.type !== 'string' || typeof fact.timestamp !== 'string') return null
  return { id: messageId, type: fact.type, at: fact.timestamp, data: JSON.stringify(fact.data ?? {}) }
}

/** A connection that was tried at several addresses has several reasons. */
function inWords(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return error.errors.map(inWords).join('; ')
  return error instanceof Error ? error.message || error.name : String(error)
}
