/**
 * Requests to a Kubernetes API server, each with an end in time and in size.
 *
 * A request ends in one of three ways. It is answered. It is refused: the server itself said no and why (`KubernetesRefused`), so nothing was done.
 * Or nobody can tell (`KubernetesUnreachable`): no connection, no time, an overloaded server, a reply cut off, a page of some proxy in between.
 */

import http from 'node:http'
import https from 'node:https'
import type { Connection } from './kubernetes-connection.ts'
import { statusSchema } from './kubernetes-objects.ts'

export class KubernetesRefused extends Error {
  override readonly name = 'KubernetesRefused'
  readonly status: number
  /** Such as AlreadyExists, NotFound, Expired. */
  readonly reason: string

  constructor(status: number, reason: string, message: string) {
    super(message)
    this.status = status
    this.reason = reason
  }
}

export class KubernetesUnreachable extends Error {
  override readonly name = 'KubernetesUnreachable'
}

export type Query = Record<string, string | number | boolean | undefined>

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

const ERROR_BYTES_MAX = 64 * 1024
const REPLY_BYTES_MAX = 16 * 1024 * 1024

export class KubernetesHttp {
  readonly #connection: Connection
  readonly #timeoutMs: number
  readonly #agent: http.Agent
  /** Streams hold their connection for minutes, so they get one each and leave the others to short requests. */
  readonly #streamAgent: http.Agent

  constructor(connection: Connection, options: { timeoutMs?: number } = {}) {
    this.#connection = connection
    this.#timeoutMs = options.timeoutMs ?? 15_000
    const { Agent } = connection.server.protocol === 'https:' ? https : http
    this.#agent = new Agent({ keepAlive: true, maxSockets: 32, ...connection.tls })
    this.#streamAgent = new Agent({ ...connection.tls })
  }

  /** The parsed body of the answer. */
  async json(method: Method, path: string, options: { query?: Query; body?: unknown } = {}): Promise<unknown> {
    const signal = AbortSignal.timeout(this.#timeoutMs)
    const text = await this.#authorised(method, path, options, this.#agent, signal, async (response) => {
      return (await readAll(response, REPLY_BYTES_MAX, signal)).toString('utf8')
    })
    try {
      return JSON.parse(text)
    } catch {
      throw new KubernetesUnreachable(`${method} ${path} was answered with something that is no JSON`)
    }
  }

  /** Gives out what comes, as it comes, until the server ends it or the signal fires. The beginning has to come within the usual time. */
  async stream(path: string, query: Query, signal: AbortSignal, onChunk: (chunk: Buffer) => void): Promise<void> {
    const begun = new AbortController()
    const late = setTimeout(() => begun.abort(new Error('no answer in time')), this.#timeoutMs)
    const either = AbortSignal.any([signal, begun.signal])
    try {
      await this.#authorised('GET', path, { query }, this.#streamAgent, either, async (response) => {
        clearTimeout(late)
        await ended(response, either, onChunk)
      })
    } finally {
      clearTimeout(late)
    }
  }

  close(): void {
    this.#agent.destroy()
    this.#streamAgent.destroy()
  }

  /** A refused token may have been replaced meanwhile: the request, which was not carried out, is made once more with a fresh one. */
  async #authorised<T>(
    method: Method,
    path: string,
    { query, body }: { query?: Query; body?: unknown },
    agent: http.Agent,
    signal: AbortSignal,
    read: (response: http.IncomingMessage) => Promise<T>,
  ): Promise<T> {
    const send = async () => {
      const response = await this.#send(method, this.#url(path, query), body, agent, signal)
      const { statusCode = 0 } = response
      if (statusCode >= 200 && statusCode < 300) return read(response)
      throw refusalOf(statusCode, await readAll(response, ERROR_BYTES_MAX, signal), `${method} ${path}`)
    }
    try {
      return await send()
    } catch (error) {
      const { token } = this.#connection
      if (!(error instanceof KubernetesRefused) || error.status !== 401 || token === null) throw error
      token.forget()
      return await send()
    }
  }

  #url(path: string, query: Query = {}): URL {
    const { server } = this.#connection
    const url = new URL(server)
    url.pathname = server.pathname.replace(/\/$/, '') + path
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) url.searchParams.set(name, String(value))
    }
    return url
  }

  async #send(
    method: Method,
    url: URL,
    body: unknown,
    agent: http.Agent,
    signal: AbortSignal,
  ): Promise<http.IncomingMessage> {
    const headers: Record<string, string> = { accept: 'application/json', 'user-agent': 'holdfast' }
    const token = await this.#token()
    if (token !== null) headers.authorization = `Bearer ${token}`
    const text = body === undefined ? undefined : JSON.stringify(body)
    if (text !== undefined) {
      headers['content-type'] = 'application/json'
      headers['content-length'] = String(Buffer.byteLength(text))
    }
    const { request } = url.protocol === 'https:' ? https : http
    return new Promise((resolve, reject) => {
      const sent = request(url, { method, headers, agent, signal }, resolve)
      sent.on('error', (error) => reject(noAnswer(error, signal, `${method} ${url.pathname}`)))
      sent.end(text)
    })
  }

  async #token(): Promise<string | null> {
    try {
      return this.#connection.token === null ? null : await this.#connection.token.read()
    } catch (cause) {
      throw new KubernetesUnreachable(`the token cannot be read: ${(cause as Error).message}`, { cause })
    }
  }
}

/** Only a Status of the API server is a refusal. The 404 page of a proxy says nothing about a Job. */
function refusalOf(statusCode: number, body: Buffer, what: string): Error {
  const read = statusSchema.safeParse(parsed(body))
  const message = read.data?.message ?? `HTTP ${statusCode}`
  const canTell = read.success && statusCode >= 400 && statusCode < 500 && statusCode !== 408 && statusCode !== 429
  if (!canTell) return new KubernetesUnreachable(`${what} was answered with HTTP ${statusCode}: ${message}`)
  return new KubernetesRefused(statusCode, read.data.reason ?? '', message)
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    return null
  }
}

function noAnswer(error: Error, signal: AbortSignal, what: string): KubernetesUnreachable {
  const why = signal.aborted ? ((signal.reason as Error)?.message ?? 'aborted') : error.message
  return new KubernetesUnreachable(`${what} was not answered: ${why}`, { cause: error })
}

async function readAll(response: http.IncomingMessage, bytesMax: number, signal: AbortSignal): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  await ended(response, signal, (chunk) => {
    bytes += chunk.length
    if (bytes > bytesMax) throw new KubernetesUnreachable(`a reply is longer than ${bytesMax} bytes`)
    chunks.push(chunk)
  })
  return Buffer.concat(chunks)
}

async function ended(
  response: http.IncomingMessage,
  signal: AbortSignal,
  onChunk: (chunk: Buffer) => void,
): Promise<void> {
  try {
    for await (const chunk of response) onChunk(chunk)
  } catch (error) {
    if (error instanceof KubernetesUnreachable || error instanceof KubernetesRefused) throw error
    throw noAnswer(error as Error, signal, 'the rest of a reply')
  }
}
