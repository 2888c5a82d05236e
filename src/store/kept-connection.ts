/**
 * A connection of a pool that stays in hand from one use to the next. While a service has little to do all its code is cold, and the ways through
 * the pool were a fiftieth of the time from a submit to the start of its run.
 *
 * Whoever comes while it is in use gets one of the pool's others, so the pool needs one connection more than its other users do.
 */

import type pg from 'pg'

export type Connections = {
  take(): pg.PoolClient | Promise<pg.PoolClient>
  giveBack(client: pg.PoolClient, isBroken: boolean): void
}

export type KeptConnection = Connections & {
  /** To be called before the pool ends, which waits for all its connections. */
  close(): void
}

export function connectionsOf(pool: pg.Pool): Connections {
  return { take: () => pool.connect(), giveBack: (client, isBroken) => client.release(isBroken) }
}

export function keepConnection(pool: pg.Pool): KeptConnection {
  /** Ours until it breaks; between uses it is free. */
  let kept: pg.PoolClient | null = null
  let isFree = false
  let isClosed = false

  function keep(client: pg.PoolClient): void {
    kept = client
    client.once('error', () => {
      if (isFree) letGo(true)
    })
  }

  function letGo(isBroken: boolean): void {
    const client = kept!
    kept = null
    isFree = false
    client.release(isBroken)
  }

  return {
    take() {
      if (!isFree) return pool.connect()
      isFree = false
      return kept!
    },
    giveBack(client, isBroken) {
      if (kept === null && !isBroken && !isClosed) keep(client)
      if (client !== kept) client.release(isBroken)
      else if (isBroken || isClosed) letGo(isBroken)
      else isFree = true
    },
    close() {
      isClosed = true
      if (isFree) letGo(false)
    },
  }
}
