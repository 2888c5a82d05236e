/**
 * What a worker that runs alone answers over HTTP, for those who watch it: `/metrics`, `/livez` (the process answers) and `/readyz` (its
 * database answers too, and it is not stopping). Plain node:http: the memory of a worker is counted. Nothing here changes
 * anything or tells anything secret, so there are no tokens; it listens on loopback unless told otherwise.
 */

import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Log } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'

export type ProbeOptions = {
  host: string
  port: number
  metrics: Pick<Metrics, 'text' | 'contentType'>
  /** Rejects when the database does not answer. */
  ping: () => Promise<void>
  isStopping: () => boolean
  log: Log
}

export type Probe = { url: string; close(): Promise<void> }

const PING_MS_MAX = 2_000
const REQUEST_MS_MAX = 10_000
const CONNECTIONS_MAX = 100

type Answer = { status: number; type: string; body: string; headers?: Record<string, string> }

export async function startProbe(options: ProbeOptions): Promise<Probe> {
  const server = createServer(
    { requestTimeout: REQUEST_MS_MAX, headersTimeout: REQUEST_MS_MAX },
    (request, response) => {
      answer(request, options)
        .catch((error: unknown) => {
          options.log.error({ err: error, url: request.url }, 'a probe could not be answered')
          return json(500, { status: 'error' })
        })
        .then((found) => send(request, response, found))
    },
  )
  server.maxConnections = CONNECTIONS_MAX
  server.listen(options.port, options.host)
  await once(server, 'listening')
  const { address, family, port } = server.address() as AddressInfo
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function answer(request: IncomingMessage, options: ProbeOptions): Promise<Answer> {
  const path = request.url?.split('?', 1)[0]
  if (path !== '/metrics' && path !== '/livez' && path !== '/readyz') return json(404, { status: 'not-found' })
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    return { ...json(405, { status: 'method-not-allowed' }), headers: { Allow: 'GET, HEAD' } }
  }
  if (path === '/livez') return json(200, { status: 'ok' })
  if (path === '/readyz') return ready(options)
  return { status: 200, type: options.metrics.contentType, body: await options.metrics.text() }
}

async function ready({ ping, isStopping, log }: ProbeOptions): Promise<Answer> {
  if (isStopping()) return json(503, { status: 'stopping' })
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${PING_MS_MAX} ms`)), PING_MS_MAX)
  })
  try {
    await Promise.race([ping(), late])
    return json(200, { status: 'ok' })
  } catch (error) {
    log.warn({ err: error }, 'the database does not answer a probe')
    return json(503, { status: 'unavailable' })
  } finally {
    clearTimeout(timer)
  }
}

function json(status: number, body: object): Answer {
  return { status, type: 'application/json; charset=utf-8', body: JSON.stringify(body) }
}

function send({ method }: IncomingMessage, response: ServerResponse, { status, type, body, headers }: Answer): void {
  response.writeHead(status, {
    'Content-Type': type,
    'Content-Length': Buffer.byteLength(body),
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    ...headers,
  })
  response.end(method === 'HEAD' ? undefined : body)
}
