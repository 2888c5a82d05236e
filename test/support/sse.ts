/** A reader of server-sent events, as strict as a browser: what it has seen, and the id it would come back with. */

import type { EventObject } from '../../src/contract/event.ts'
import { until } from './until.ts'

export type Message = { id: string; event: string; data: EventObject }

export type SseReader = {
  status: number
  headers: Headers
  messages: Message[]
  comments: string[]
  /** The id to come back with, also when no message brought it. */
  lastId(): string
  isEnded(): boolean
  /** Waits until so many messages have come. */
  has(count: number, timeoutMs?: number): Promise<Message[]>
  ends(): Promise<void>
  close(): void
}

export async function readSse(url: string, headers: Record<string, string> = {}): Promise<SseReader> {
  const abort = new AbortController()
  const response = await fetch(url, { headers: { accept: 'text/event-stream', ...headers }, signal: abort.signal })
  const messages: Message[] = []
  const comments: string[] = []
  let lastId = headers['last-event-id'] ?? ''
  let ended = response.body === null

  function take(block: string): void {
    let event = 'message'
    let data: string | null = null
    for (const line of block.split('\n')) {
      const [, name, value] = /^([^:]*)(?:: ?(.*))?$/.exec(line)!
      if (name === '' && line !== '') comments.push(value ?? '')
      if (name === 'id') lastId = value ?? ''
      if (name === 'event') event = value ?? ''
      if (name === 'data') data = data === null ? (value ?? '') : `${data}\n${value}`
    }
    if (data !== null) messages.push({ id: lastId, event, data: JSON.parse(data) })
  }

  async function read(): Promise<void> {
    const decoder = new TextDecoder()
    let rest = ''
    try {
      for await (const chunk of response.body!) {
        const blocks = (rest + decoder.decode(chunk, { stream: true })).split('\n\n')
        rest = blocks.pop()!
        for (const block of blocks) take(block)
      }
    } catch {
      // Cut off, by either side; what was read counts.
    }
    ended = true
  }

  if (response.body) void read()
  return {
    status: response.status,
    headers: response.headers,
    messages,
    comments,
    lastId: () => lastId,
    isEnded: () => ended,
    async has(count, timeoutMs) {
      await until(() => messages.length >= count, { what: `${count} messages have come`, timeoutMs })
      return messages
    },
    async ends() {
      await until(() => ended, { what: 'the stream has ended' })
    },
    close: () => abort.abort(),
  }
}
