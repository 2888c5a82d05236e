/**
 * Connections of a pool that stay in hand from one use to the next. While a service has little to do all its code is cold, and the ways through
 * the pool were a fiftieth of the time from a submit to the start of its run. Under load a statement on a kept connection leaves at once; through the
 * pool it would leave only after everything else that this turn of the event loop has to do.
 *
 * Whoever comes while all are in use gets one of the pool's others, so the pool needs that many connections more than its other users do.
 */

import type pg from 'pg'

export type Connections = {
  take(): pg.PoolClient | Promise<pg.PoolClient>
  giveBack(client: pg.PoolClient, isBroken: boolean): void
}

export type KeptConnections = Connections & {
  /** To be called before the pool ends, which waits for all its connections. */
  close(): void
}

export function connectionsOf(pool: pg.Pool): Connections {
  return { take: () => pool.connect(), giveBack: (client, isBroken) => client.release(isBroken) }
}

/** Where a connection is at hand, `work` begins before this returns. A connection on which it failed is not used again. */
export function onConnection<Answer>(
  connections: Connections,
  work: (client: pg.PoolClient) => Promise<Answer>,
): Promise<Answer> {
  const taken = connections.take()
  return taken instanceof Promise ? taken.then(use) : use(taken)

  async function use(client: pg.PoolClient): Promise<Answer> {
    let isBroken = true
    try {
      const answer = await work(client)
      isBroken = false
      return answer
    } finally {
      connections.giveBack(client, isBroken)
    }
  }
}

export function keepConnections(pool: pg.Pool, most = 1): KeptConnections {
  /** Ours until they break. */
  const kept = new Set<pg.PoolClient>()
  /** The last one given back is taken first, so that an idle service goes on using the same. */
  const free: pg.PoolClient[] = []
  let isClosed = false

  function keep(client: pg.PoolClient): void {
    kept.add(client)
    client.once('error', () => {
      const at = free.indexOf(client)
      if (at === -1) return
      free.splice(at, 1)
      letGo(client, true)
    })
  }

  function letGo(client: pg.PoolClient, isBroken: boolean): void {
    kept.delete(client)
    client.release(isBroken)
  }

  return {
    take: () => free.pop() ?? pool.connect(),
    giveBack(client, isBroken) {
      if (kept.size < most && !isBroken && !isClosed && !kept.has(client)) keep(client)
      if (!kept.has(client)) client.release(isBroken)
      else if (isBroken || isClosed) letGo(client, isBroken)
      else free.push(client)
    },
    close() {
      isClosed = true
      for (const client of free.splice(0)) letGo(client, false)
    },
  }
}
