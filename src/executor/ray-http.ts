/**
 * One HTTP exchange with a Ray dashboard, over `node:http` and `node:https`.
 *
 * Ray refuses writing requests that look like a browser's, and `fetch` always sends `sec-fetch-mode`; a plain request sends nothing of
 * the kind. Every exchange has a time limit, and of a reply only a bounded part is kept: its beginning, and its end when asked for.
 */

import { Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http'
import { Agent as HttpsAgent, request as requestHttps } from 'node:https'

/** Nothing can be said about what the request did, or about what is there. */
export class RayUnreachable extends Error {
  /** False when no connection came about, so that the request certainly did nothing. */
  readonly sent: boolean

  constructor(message: string, options: { sent: boolean; cause?: unknown }) {
    super(message, { cause: options.cause })
    this.name = 'RayUnreachable'
    this.sent = options.sent
  }
}

export type Exchange = {
  method: 'GET' | 'POST' | 'PUT'
  path: string
  token: string | null
  body?: Buffer
  contentType?: string
  timeoutMs: number
  /** Bytes kept of the reply's beginning. */
  headBytesMax: number
  /** Bytes kept of its end, in addition. Without it the reply is left as soon as its beginning is full. */
  tailBytesMax?: number
}

/** `cut`: there was more between (or after) the kept parts. */
export type Reply = { status: number; head: Buffer; tail: Buffer; cut: boolean }

export type Connection = { exchange(request: Exchange): Promise<Reply>; close(): void }

const SOCKETS_MAX = 16
const NEVER_SENT = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'CERT_HAS_EXPIRED',
])

export function connectTo(address: string): Connection {
  const base = new URL(address)
  const secure = base.protocol === 'https:'
  const agentOptions = { keepAlive: true, maxSockets: SOCKETS_MAX, maxFreeSockets: 2 }
  const agent = secure ? new HttpsAgent(agentOptions) : new HttpAgent(agentOptions)
  const prefix = base.pathname.replace(/\/+$/, '')
  return {
    exchange: (request) => exchange(new URL(prefix + request.path, base), secure, agent, request),
    close: () => agent.destroy(),
  }
}

function exchange(url: URL, secure: boolean, agent: HttpAgent, wanted: Exchange): Promise<Reply> {
  const { method, token, body, contentType = 'application/json', timeoutMs } = wanted
  const headers: Record<string, string> = { 'user-agent': 'holdfast', accept: 'application/json' }
  if (token !== null) headers.authorization = `Bearer ${token}`
  if (body) {
    headers['content-type'] = contentType
    headers['content-length'] = String(body.length)
  }
  return new Promise((resolve, reject) => {
    const open = secure ? requestHttps : requestHttp
    const request = open(url, { method, headers, agent })
    const timer = setTimeout(() => {
      request.destroy(new RayUnreachable(`no answer from Ray within ${timeoutMs / 1_000} s`, { sent: true }))
    }, timeoutMs)
    const fail = (error: Error) => {
      clearTimeout(timer)
      reject(error instanceof RayUnreachable ? error : unreachable(error))
    }
    request.once('error', fail)
    request.once('response', (response) => {
      keep(response, wanted).then((kept) => {
        clearTimeout(timer)
        resolve({ status: response.statusCode ?? 0, ...kept })
      }, fail)
    })
    request.end(body)
  })
}

function unreachable(cause: Error & { code?: string }): RayUnreachable {
  const sent = !NEVER_SENT.has(cause.code ?? '')
  return new RayUnreachable(`Ray cannot be reached: ${cause.code ?? cause.message}`, { sent, cause })
}

async function keep(response: IncomingMessage, { headBytesMax, tailBytesMax = 0 }: Exchange) {
  const head: Buffer[] = []
  let room = headBytesMax
  let tail = Buffer.alloc(0)
  let cut = false
  for await (const chunk of response as AsyncIterable<Buffer>) {
    const first = chunk.subarray(0, room)
    room -= first.length
    if (first.length > 0) head.push(first)
    if (first.length === chunk.length) continue
    cut ||= tailBytesMax === 0
    if (tailBytesMax === 0) break
    const all = Buffer.concat([tail, chunk.subarray(first.length)])
    cut ||= all.length > tailBytesMax
    tail = all.subarray(Math.max(0, all.length - tailBytesMax))
  }
  if (!cut && !response.complete) throw new Error('the reply broke off')
  return { head: Buffer.concat(head), tail, cut }
}
