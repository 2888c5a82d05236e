/**
 * One stream of events for all tabs of a browser: browsers allow only six connections to one host, and every tab would take one.
 *
 * The tab whose turn it is reads the stream and passes on what comes; the next goes on from the last place it heard of, so nothing is
 * lost between them. Events are hints to read again, never the truth: after a time without a
 * connection listeners are told that something may have been missed.
 */

import type { RunEvent } from '@holdfast/client'
import { client } from '../client.ts'
import { appPath } from '../place.ts'
import { takeTurns } from './take-turns.ts'

/** What happened at once is told at once, but not more often. */
const TELL_MS = 250
const AGAIN_MS = 3_000
const NAME = `holdfast:${appPath}:events`

export type Connection = 'connecting' | 'live' | 'away'

/** `isGap`: what is shown may be old, whatever it is about. */
export type News = { events: RunEvent[]; isGap: boolean }

type Message = { news?: News; connection?: Connection; place?: string; asks?: true }

export class Feed {
  #connection: Connection = 'connecting'
  readonly #listeners = new Set<(news: News) => void>()
  readonly #watchers = new Set<() => void>()
  #place: string | undefined
  #waiting: RunEvent[] = []
  #timer: ReturnType<typeof setTimeout> | null = null
  #isLeader = false
  #stop: AbortController | null = null
  #channel: BroadcastChannel | null = null

  get connection(): Connection {
    return this.#connection
  }

  /** Called with what happened; returns how to stop it. */
  listen(listener: (news: News) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Called when the connection changes. */
  watch = (watcher: () => void): (() => void) => {
    this.#watchers.add(watcher)
    return () => this.#watchers.delete(watcher)
  }

  start(): void {
    if (this.#stop) return
    this.#stop = new AbortController()
    const { signal } = this.#stop
    this.#channel = new BroadcastChannel(NAME)
    this.#channel.onmessage = ({ data }: MessageEvent<Message>) => this.#hear(data)
    this.#channel.postMessage({ asks: true } satisfies Message)
    takeTurns(NAME, signal, (turn) => this.#lead(turn)).catch(() => this.#lead(signal))
  }

  stop(): void {
    this.#stop?.abort()
    this.#channel?.close()
    if (this.#timer) clearTimeout(this.#timer)
    this.#stop = null
    this.#channel = null
    this.#timer = null
    this.#waiting = []
    this.#place = undefined
    this.#isLeader = false
    this.#turn('connecting')
  }

  async #lead(signal: AbortSignal): Promise<void> {
    this.#isLeader = true
    while (!signal.aborted) {
      await this.#follow(signal).catch(() => {})
      if (signal.aborted) break
      this.#say({ connection: 'away' })
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS))
    }
    this.#isLeader = false
    this.#pass()
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const after = this.#place
    let wasAway = this.#connection === 'away'
    const onConnection = (isConnected: boolean) => {
      this.#say({ connection: isConnected ? 'live' : 'away', ...(isConnected && wasAway && { news: GAP }) })
      // A tab that was just opened does not know the place, so the others may have missed something between.
      if (isConnected && after === undefined) this.#channel?.postMessage({ news: GAP } satisfies Message)
      wasAway = !isConnected
    }
    const onPlace = (place: string) => {
      this.#place = place
    }
    for await (const event of client.events({}, { signal, onConnection, onPlace, after })) {
      this.#waiting.push(event)
      this.#timer ??= setTimeout(() => this.#pass(), TELL_MS)
    }
  }

  #pass(): void {
    if (this.#timer) clearTimeout(this.#timer)
    this.#timer = null
    const events = this.#waiting
    this.#waiting = []
    if (events.length === 0) return
    this.#say({ news: { events, isGap: false }, place: this.#place })
  }

  #say(message: Message): void {
    this.#channel?.postMessage(message)
    this.#hear(message)
  }

  #hear({ news, connection, place, asks }: Message): void {
    if (asks && this.#isLeader) this.#channel?.postMessage({ connection: this.#connection } satisfies Message)
    if (place !== undefined) this.#place = place
    if (connection) this.#turn(connection)
    if (news) for (const listener of this.#listeners) listener(news)
  }

  #turn(connection: Connection): void {
    if (this.#connection === connection) return
    this.#connection = connection
    for (const watcher of this.#watchers) watcher()
  }
}

const GAP: News = { events: [], isGap: true }

export const feed = new Feed()
