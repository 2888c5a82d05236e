/**
 * One connection to Redis that never mends itself: when it breaks it says so once, and the link above opens the next
 * one.
 *
 * A server that stops answering is found out by silence on the socket. Commands that cannot be sent at once are
 * refused, so nothing piles up inside the client.
 */

export type RedisConnectionOptions = {
  url: string
  /** For connecting. */
  timeoutMs: number
  /** A socket on which nothing moves for this long is dead. */
  silenceMs: number
  /** Keeps an idle connection talking; leave it out where blocking pops do that. */
  pingMs?: number
}

export async function openRedis(options: RedisConnectionOptions, onLost: (error: Error) => void) {
  // The package weighs 30 MB of memory, which a process without Redis does not have to carry.
  const { createClient } = await import('redis')
  const client = createClient({
    url: options.url,
    name: 'holdfast-wakeup',
    disableOfflineQueue: true,
    maintNotifications: 'disabled',
    pingInterval: options.pingMs,
    socket: { reconnectStrategy: false, connectTimeout: options.timeoutMs, socketTimeout: options.silenceMs },
  })
  let gone = false

  function drop(error: Error): void {
    if (gone) return
    gone = true
    client.destroy()
    onLost(error)
  }

  client.on('error', drop)
  await client.connect()
  return {
    client,
    drop,
    async close(): Promise<void> {
      gone = true
      client.destroy()
    },
  }
}

export type RedisConnection = Awaited<ReturnType<typeof openRedis>>
