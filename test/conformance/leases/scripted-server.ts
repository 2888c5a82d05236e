/**
 * Plays the service for a worker library: answers as a case says, keeps what was asked, and says in the end whether
 * that is what the case wants. Run by itself with the path of a case it does so for a library in another language,
 * until standard input ends.
 */

import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { differences, filled } from './matches.ts'

export type WorkerCase = {
  name: string
  kind: 'worker'
  worker: { name: string; models: string[]; slots: number }
  lease_seconds?: number
  parameters?: unknown
  /** What earlier attempts of the run committed. */
  steps?: { name: string; output: unknown }[]
  /** The files among the parameters. */
  files?: { href: string }[]
  program: ({ do: string } & Record<string, unknown>)[]
  answers: Record<string, Answer[]>
  done_when?: { route: string; count: number }
  stop_when?: { route: string; count: number }
  within_ms?: number
  expect: Expectation[]
}

/** `text` in place of a body that is JSON. */
type Answer = {
  status?: number
  body?: unknown
  text?: string
  headers?: Record<string, string>
  hold_ms?: number
  lose?: boolean
}

type Expectation = {
  route: string
  count?: number
  at_least?: number
  at_most?: number
  headers?: unknown
  body?: unknown
  first?: { headers?: unknown; body?: unknown }
  same_body?: boolean
}

export type Seen = { route: string; headers: IncomingMessage['headers']; body: unknown }

export type Scripted = {
  url: string
  filledCase: WorkerCase
  done(): boolean
  verdict(): { ok: boolean; failures: string[]; seen: Seen[] }
  close(): Promise<void>
}

const RUN = '0190a3c4-0000-7000-8000-00000000000'
const tokenOf = (number: number) => `hfa_${String(number).repeat(43)}`

/** The values every case may use. */
function valuesOf(given: WorkerCase) {
  const { worker, lease_seconds: leaseSeconds = 60, parameters = { a: 1, b: 2 }, steps = [], files = [] } = given
  const leaseOf = (number: number) => ({
    run_id: `${RUN}${number}`,
    attempt: 1,
    token: tokenOf(number),
    model: worker.models[0]!.split('@')[0],
    model_version: worker.models[0]!.split('@')[1] ?? '1',
    queue: 'default',
    owner: 'default',
    parameters,
    payload_hash: '0'.repeat(64),
    seed: 7,
    max_attempts: 3,
    timeout_seconds: 3_600,
    files: filled(files, { run_id: `${RUN}${number}` }),
    steps,
    ...times(leaseSeconds),
  })
  return {
    run_id: `${RUN}1`,
    token: tokenOf(1),
    lease: leaseOf(1),
    run_id_2: `${RUN}2`,
    token_2: tokenOf(2),
    lease_2: leaseOf(2),
    held: { cancel_requested: false, ...times(leaseSeconds) },
    cancel_requested: { cancel_requested: true, ...times(leaseSeconds) },
  }
}

function times(leaseSeconds: number) {
  const nowMs = Date.now()
  return {
    deadline: new Date(nowMs + 3_600_000).toISOString(),
    lease_seconds: leaseSeconds,
    lease_expires_at: new Date(nowMs + leaseSeconds * 1_000).toISOString(),
  }
}

export async function startScripted(unfilled: WorkerCase): Promise<Scripted> {
  const filledCase = filled(unfilled, valuesOf(unfilled))
  const seen: Seen[] = []
  const answered = new Map<string, number>()

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const route = `${request.method} ${(request.url ?? '').replace(/^(\/leases\/)[0-9a-f-]{36}(?=\/)/, '$1{run_id}')}`
    const body = await bodyOf(request)
    if (route === 'GET /conformance/case') return send(response, { body: filledCase })
    if (route === 'GET /conformance/done') return send(response, { body: { done: done() } })
    if (route === 'GET /conformance/verdict') return send(response, { body: verdict() })
    if (route.startsWith('PUT /models/')) return send(response, { body: {} })
    const before = seen.filter((one) => one.route === route).length
    seen.push({ route, headers: request.headers, body })
    // A goodbye takes no lease.
    const isGoodbye = route === 'POST /leases' && (body as { stopping?: boolean } | null)?.stopping === true
    const planned = isGoodbye ? [{ status: 204 }] : (filledCase.answers[route] ?? [])
    const next = planned[Math.min(before, planned.length - 1)] ?? NOT_IN_CASE
    if (next.hold_ms) await delay(next.hold_ms)
    if (next.lose) response.socket?.resetAndDestroy()
    else send(response, next)
    answered.set(route, (answered.get(route) ?? 0) + 1)
  }

  function done(): boolean {
    const when = filledCase.done_when ?? filledCase.stop_when
    return when !== undefined && (answered.get(when.route) ?? 0) >= when.count
  }

  function verdict() {
    const failures = filledCase.expect.flatMap((expected) => failuresOf(expected, seen))
    return { ok: failures.length === 0, failures, seen }
  }

  const server = createServer((request, response) => void answer(request, response).catch(() => response.destroy()))
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    filledCase,
    done,
    verdict,
    close: () =>
      new Promise((closed) => {
        server.close(() => closed())
        server.closeAllConnections()
      }),
  }
}

const NOT_IN_CASE: Answer = { status: 404, body: { code: 'not-found', status: 404, detail: 'not in the case' } }

function failuresOf(expected: Expectation, seen: Seen[]): string[] {
  const { route, count, at_least: least = 0, at_most: most = Number.POSITIVE_INFINITY, headers, body, first } = expected
  const those = seen.filter((one) => one.route === route)
  const failures: string[] = []
  const say = (what: string) => void failures.push(`${route}: ${what}`)
  if (count !== undefined && those.length !== count) say(`came ${those.length} times, not ${count}`)
  if (those.length < least) say(`came ${those.length} times, not at least ${least}`)
  if (those.length > most) say(`came ${those.length} times, not at most ${most}`)
  for (const [index, one] of those.entries()) {
    const stated = { ...(headers !== undefined && { headers }), ...(body !== undefined && { body }) }
    for (const wrong of differences({ ...stated, ...(index === 0 && first) }, one))
      say(`request ${index + 1}: ${wrong}`)
  }
  if (expected.same_body && new Set(those.map((one) => JSON.stringify(one.body))).size > 1) say('the bodies differ')
  return failures
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  const text = Buffer.concat(chunks).toString()
  return text === '' ? null : JSON.parse(text)
}

function send(response: ServerResponse, { status = 200, body, text, headers }: Answer): void {
  if (text !== undefined) {
    response.writeHead(status, { 'content-type': 'application/octet-stream', ...headers })
    response.end(text)
    return
  }
  const type = status >= 400 ? 'application/problem+json' : 'application/json'
  response.writeHead(status, { ...(body !== undefined && { 'content-type': type }), ...headers })
  response.end(body === undefined ? undefined : JSON.stringify(body))
}

if (import.meta.main) {
  const [path] = process.argv.slice(2)
  if (!path) throw new Error('name the file of a case')
  const scripted = await startScripted(JSON.parse(readFileSync(path, 'utf8')))
  process.stdout.write(`${JSON.stringify({ url: scripted.url })}\n`)
  process.stdin.resume().on('end', () => void scripted.close())
}
