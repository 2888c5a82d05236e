/**
 * An HTTP server on a real socket that does what a test tells it to, request by request: answers, refuses, resets the connection, says
 * nothing, or carries the request out and loses the reply.
 */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

// biome-ignore lint/suspicious/noExplicitAny: a test knows what it sent.
export type Seen = { method: string; path: string; headers: IncomingMessage['headers']; text: string; json(): any }

/** What to do with one request. */
export type Act = (seen: Seen, response: ServerResponse) => void

export type ScriptedServer = {
  url: string
  seen: Seen[]
  /** The next requests, one act each. */
  plan(...acts: Act[]): void
  /** Every request for which nothing else was planned. */
  otherwise(act: Act): void
}

export const answers =
  (status: number, body: unknown = {}, headers: Record<string, string> = {}): Act =>
  (_seen, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(typeof body === 'string' ? body : JSON.stringify(body))
  }

export const refuses = (status: number, code: string, headers: Record<string, string> = {}, more: object = {}): Act => {
  const problem = { type: `urn:holdfast:error:${code}`, title: code, status, code, detail: `It is ${code}.`, ...more }
  return answers(status, problem, { 'content-type': 'application/problem+json', ...headers })
}

/** Carries out `first`, whose reply nobody gets. */
export const loses =
  (first?: (seen: Seen) => void): Act =>
  (seen, response) => {
    first?.(seen)
    response.socket?.resetAndDestroy()
  }

export const saysNothing: Act = () => {}

/** Promises more than it sends. */
export const breaksOff =
  (body: string): Act =>
  (_seen, response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': String(body.length + 100) })
    response.write(body, () => response.socket?.destroy())
  }

export async function scriptedServer(...acts: Act[]): Promise<ScriptedServer> {
  const planned = [...acts]
  const seen: Seen[] = []
  let fallback: Act = refuses(500, 'not-in-the-script')
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const text = Buffer.concat(chunks).toString()
    const { method = '', url: path = '', headers } = request
    const one: Seen = { method, path, headers, text, json: () => JSON.parse(text) }
    seen.push(one)
    const act = planned.shift() ?? fallback
    act(one, response)
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  onTestFinished(
    () =>
      new Promise<void>((closed) => {
        server.close(() => closed())
        server.closeAllConnections()
      }),
  )
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    plan: (...more) => void planned.push(...more),
    otherwise: (act) => {
      fallback = act
    },
  }
}
