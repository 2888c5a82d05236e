/**
 * A TCP proxy between a Postgres client and its server, for faults on the wire: connections cut, gone silent or slow, requests that never
 * arrive, and the nastiest one, statements that are committed while their reply is lost.
 *
 * Requests are counted by what the server answers with one ReadyForQuery (a Query, or messages up to a Sync), so that exactly
 * the reply of the request that matched is dropped, also when a client sends several requests ahead.
 */

import { connect, createServer, type Server, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { type Message, messageCutter, queryTextReader } from './pg-messages.ts'

type Match = (queryText: string) => boolean
type Trap = { kind: 'reply' | 'request'; match: Match; sprung: () => void }

export type FaultProxy = {
  port: number
  /** The URL with our address in place of the server's. */
  through(url: string): string
  /** Destroys every connection; new ones are served. */
  cut(): void
  /** Forwards nothing any more and keeps the sockets open, also those of new clients. */
  halfOpen(): void
  resume(): void
  /** Holds back every chunk, both ways, for so long; 0 ends it. */
  delay(ms: number): void
  /** Lets the server finish the next matching request, then drops the answer and the connection. Resolves when that happened. */
  dropNextReply(match: Match): Promise<void>
  dropNextCommitReply(): Promise<void>
  /** Drops the next matching request before the server sees it, and the connection. Resolves when that happened. */
  dropNextRequest(match: Match): Promise<void>
  close(): Promise<void>
}

class Link {
  readonly client: Socket
  readonly server: Socket
  readonly traps: Set<Trap>
  /** How many requests the client has completed, and how many the server has answered; its greeting counts as number 0. */
  requestsSent = 0
  repliesSeen = -1
  doomedReply: { number: number; sprung: () => void } | null = null

  constructor(client: Socket, server: Socket, traps: Set<Trap>) {
    this.client = client
    this.server = server
    this.traps = traps
  }

  /** The bytes to forward; null when the connection is to be destroyed instead. */
  fromClient(messages: Message[], textOf: (message: Message) => string | null): Buffer | null {
    for (const message of messages) {
      const text = textOf(message)
      const trap = text === null ? undefined : [...this.traps].find(({ match }) => match(text))
      if (trap) {
        this.traps.delete(trap)
        if (trap.kind === 'request') {
          trap.sprung()
          return null
        }
        this.doomedReply = { number: this.requestsSent, sprung: trap.sprung }
      }
      if (message.type === 'Q' || message.type === 'S') this.requestsSent++
    }
    return Buffer.concat(messages.map(({ bytes }) => bytes))
  }

  fromServer(messages: Message[]): Buffer | null {
    const forwarded: Buffer[] = []
    for (const { type, bytes } of messages) {
      const doomed = this.doomedReply?.number === this.repliesSeen
      if (type === 'Z' && doomed) {
        this.doomedReply?.sprung()
        return null
      }
      if (type === 'Z') this.repliesSeen++
      if (!doomed) forwarded.push(bytes)
    }
    return Buffer.concat(forwarded)
  }

  destroy(): void {
    this.client.destroy()
    this.server.destroy()
  }
}

export async function startProxy(target: { host: string; port: number }): Promise<FaultProxy> {
  const links = new Set<Link>()
  const traps = new Set<Trap>()
  const state = { silent: false, delayMs: 0 }

  const listener = createServer((client) => {
    const link = new Link(client, connect(target), traps)
    links.add(link)
    const textOf = queryTextReader()
    const requests = messageCutter('client')
    const replies = messageCutter('server')
    carry(link, state, { from: link.client, to: link.server }, (chunk) => link.fromClient(requests(chunk), textOf))
    carry(link, state, { from: link.server, to: link.client }, (chunk) => link.fromServer(replies(chunk)))
    client.once('close', () => links.delete(link))
    if (state.silent) setSilent(link, true)
  })

  function setTrap(kind: Trap['kind'], match: Match): Promise<void> {
    return new Promise((sprung) => traps.add({ kind, match, sprung }))
  }

  function setSilentAll(silent: boolean): void {
    state.silent = silent
    for (const link of links) setSilent(link, silent)
  }

  const port = await listen(listener)
  return {
    port,
    through(url) {
      const ours = new URL(url)
      ours.host = `127.0.0.1:${port}`
      return ours.href
    },
    cut: () => links.forEach((link) => void link.destroy()),
    halfOpen: () => setSilentAll(true),
    resume: () => setSilentAll(false),
    delay(ms) {
      state.delayMs = ms
    },
    dropNextReply: (match) => setTrap('reply', match),
    dropNextCommitReply: () => setTrap('reply', (text) => /^\s*COMMIT\b/i.test(text)),
    dropNextRequest: (match) => setTrap('request', match),
    async close() {
      const closed = new Promise((resolve) => listener.close(resolve))
      for (const link of links) link.destroy()
      await closed
    },
  }
}

/** Forwards what `pass` makes of each chunk, in order; destroys the link when it makes null. */
function carry(
  link: Link,
  state: { readonly delayMs: number },
  { from, to }: { from: Socket; to: Socket },
  pass: (chunk: Buffer) => Buffer | null,
): void {
  let previous: Promise<unknown> = Promise.resolve()
  from.setNoDelay(true)
  from.on('error', () => link.destroy())
  from.on('close', () => previous.then(() => link.destroy()))
  from.on('data', (chunk) => {
    const bytes = pass(chunk)
    if (bytes === null) return link.destroy()
    if (bytes.length === 0) return
    // A chain, so that a changed delay never lets a later chunk overtake an earlier one.
    const { delayMs } = state
    previous = previous.then(() => (delayMs > 0 ? wait(delayMs) : undefined)).then(() => to.write(bytes))
  })
}

function setSilent({ client, server }: Link, silent: boolean): void {
  for (const socket of [client, server]) {
    if (silent) socket.pause()
    else socket.resume()
  }
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      resolve(typeof address === 'object' && address ? address.port : 0)
    })
  })
}
