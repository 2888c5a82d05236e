/**
 * NOTIFY and LISTEN: the two statements behind the Postgres wake-ups, each on a direct connection of its own.
 *
 * A connection that stops answering (a half-open socket, a frozen server) is found out by a deadline on every query
 * and, on the listening side, by a cheap query at regular times; it is then destroyed and reported lost, once.
 * Payloads are topics, never facts.
 */

import { Socket } from 'node:net'
import pg from 'pg'

const CHANNEL = 'holdfast'

/** Nothing depends on a hint surviving a crash, so the sender does not wait for the disk. */
const SENDER_SETTINGS = 'SET synchronous_commit = off'
const SEND = `SELECT pg_notify('${CHANNEL}', topic) FROM unnest($1::text[]) AS topic`
const NO_WAIT = 'SET LOCAL synchronous_commit = off'
const LISTEN = `LISTEN ${CHANNEL}`
const CHECK = 'SELECT 1'

export type HintConnectionOptions = {
  connectionString: string
  /** How often the listening connection is checked. */
  checkEveryMs?: number
  /** A connect or a query that takes longer counts as a lost connection. */
  timeoutMs?: number
}

type OnLost = (error: Error) => void

export async function sendHints(client: pg.ClientBase, topics: string[]): Promise<void> {
  await client.query({ name: 'send-hints', text: SEND, values: [topics] })
}

/**
 * For a connection with other uses, where only this transaction does not wait for the disk: two commands in one message are one transaction.
 * To parse them costs Postgres less than to start up a prepared SELECT of pg_notify.
 */
export function hintStatement(topic: string): string {
  return `${NO_WAIT}; NOTIFY ${CHANNEL}, ${pg.escapeLiteral(topic)}`
}

export async function listen(client: pg.ClientBase): Promise<void> {
  await client.query(LISTEN)
}

export function createHintConnections(options: HintConnectionOptions) {
  return {
    async openHintSender(onLost: OnLost) {
      const { client, query, close } = await open(options, 'holdfast notify', onLost)
      await query(() => client.query(SENDER_SETTINGS))
      return {
        send: (topics: string[]) => query(() => sendHints(client, topics)),
        ping: () => query(() => client.query(CHECK)),
        close,
      }
    },
    async openHintListener(onTopic: (topic: string) => void, onLost: OnLost) {
      const { client, query, close } = await open(options, 'holdfast listen', onLost)
      client.on('notification', (message) => onTopic(message.payload ?? ''))
      await query(() => listen(client))
      const checkEveryMs = options.checkEveryMs ?? 10_000
      const check = (): Promise<void> => query(() => client.query(CHECK)).then(checkLater, () => {})
      const checkLater = () => void setTimeout(check, checkEveryMs).unref()
      checkLater()
      return { close }
    },
  }
}

async function open(options: HintConnectionOptions, name: string, onLost: OnLost) {
  const timeoutMs = options.timeoutMs ?? 5_000
  // A socket of our own can be destroyed; ending a half-open connection politely would wait for ever.
  const socket = new Socket()
  const client = new pg.Client({
    connectionString: options.connectionString,
    application_name: name,
    connectionTimeoutMillis: timeoutMs,
    query_timeout: timeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    stream: () => socket,
  })
  let gone = false
  let lane: Promise<unknown> = Promise.resolve()

  function drop(error: Error): void {
    if (gone) return
    gone = true
    socket.destroy()
    onLost(error)
  }

  /** Queries follow one another; one that fails takes the connection with it. */
  function query(run: () => Promise<unknown>): Promise<void> {
    const answer = lane.then(run).then(() => {})
    lane = answer.catch(drop)
    return answer
  }

  client.on('error', drop)
  client.on('end', () => drop(new Error('the connection to Postgres ended')))
  try {
    await client.connect()
  } catch (error) {
    socket.destroy()
    throw error
  }

  async function close(): Promise<void> {
    gone = true
    if (socket.destroyed) return
    const timer = setTimeout(() => socket.destroy(), 1_000)
    await client.end().finally(() => clearTimeout(timer))
  }
  return { client, query, close }
}
