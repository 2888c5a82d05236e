/**
 * A service that speaks the part of the remote protocol an engine's job needs, for one attempt after the other, and the worker's side of it:
 * the reports an executor gets. What a job says is there for the executor as it would be in the store.
 */

import { createHash } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import type { AttemptInput, AttemptReports, ExternalRef, Outcome } from '../../src/executor/executor.ts'
import { canonicalText } from '../../src/run/canonical.ts'
import { until } from './until.ts'

// biome-ignore lint/suspicious/noExplicitAny: a test knows what was sent.
type Body = any

export class EngineAttempt {
  readonly input: AttemptInput
  readonly handOvers: ExternalRef[] = []
  readonly alives: (ExternalRef | undefined)[] = []
  readonly progress: unknown[] = []
  readonly costs: number[] = []
  readonly logged: string[] = []
  /** What was committed, by earlier attempts and by this one. */
  readonly steps: { name: string; output: unknown }[] = []
  /** The files among the parameters, by their bytes; what is served is `served`, which a test may make another. */
  readonly files: { parameter: string; name: string; bytes: string; served: string }[] = []
  /** What Ray was asked before the attempt was noted would be a bug; tests look at this from within. */
  beforeHandOver: () => void = () => {}
  output = ''
  starts = 0
  heartbeats = 0
  cancelRequested = false
  /** True: the attempt is not the current one any more. */
  isOver = false
  said: Outcome | null = null
  ticketHash = ''
  #tokenHash = ''
  #wakes = new Set<() => void>()

  constructor(input: AttemptInput) {
    this.input = input
  }

  readonly reports: AttemptReports = {
    progress: (value) => void this.progress.push(value),
    cost: (amount) => void this.costs.push(amount),
    log: (_level, message) => void this.logged.push(message),
    output: (_stream, text) => {
      this.output += text
    },
    engine: {
      handOver: async (ref, ticketHash) => {
        this.beforeHandOver()
        this.handOvers.push(ref)
        this.ticketHash = ticketHash.toString('hex')
      },
      alive: async (ref) => void this.alives.push(ref),
      jobOutcome: async () => this.said,
      onJobOutcome: (wake) => {
        this.#wakes.add(wake)
        return () => this.#wakes.delete(wake)
      },
    },
  }

  say(outcome: Outcome): void {
    this.said ??= outcome
    for (const wake of this.#wakes) wake()
  }

  /** Status and body for one request of the job. */
  answer(what: string, headers: NodeJS.Dict<string | string[]>, body: Body): [number, Body] {
    if (this.isOver) return [409, { code: 'lease-lost', detail: 'It is over.' }]
    if (what === 'start') return this.#start(hex(String(headers['holdfast-ticket'])), body.token_hash)
    if (hex(String(headers['holdfast-attempt-token'])) !== this.#tokenHash) return [409, { code: 'lease-lost' }]
    if (what === 'heartbeat') {
      this.heartbeats += 1
      if (body.progress !== undefined) this.progress.push(body.progress)
      return [200, { cancel_requested: this.cancelRequested, lease_seconds: 1 }]
    }
    if (what === 'steps') {
      if (body.name === 'refused') return [422, { code: 'step-conflict', detail: 'It has another output.' }]
      this.steps.push({ name: body.name, output: body.output })
    }
    const cost = body.cost === undefined ? {} : { cost: body.cost as number }
    if (what === 'complete') this.say({ status: 'succeeded', resultText: canonicalText(body.result ?? null), ...cost })
    if (what === 'fail')
      this.say({ status: 'failed', error: { ...body.error, exitCode: body.error.exit_code }, ...cost })
    return [200, {}]
  }

  /** The bytes of a file, for the holder of the token. */
  file(fileId: string, headers: NodeJS.Dict<string | string[]>): string | null {
    if (this.isOver || hex(String(headers['holdfast-attempt-token'])) !== this.#tokenHash) return null
    return this.files.find(({ bytes }) => hex(bytes) === fileId)?.served ?? null
  }

  #start(ticketHash: string, tokenHash: string): [number, Body] {
    if (ticketHash !== this.ticketHash) return [401, { code: 'ticket-invalid', detail: 'Not this ticket.' }]
    if (this.#tokenHash !== '' && this.#tokenHash !== tokenHash) return [409, { code: 'lease-lost', detail: 'Used.' }]
    this.#tokenHash = tokenHash
    this.starts += 1
    const { runId, attempt, model, modelVersion, parameters, seed, timeoutMs } = this.input
    return [
      200,
      {
        run_id: runId,
        attempt,
        model,
        model_version: modelVersion,
        parameters,
        seed,
        steps: [...this.steps],
        files: this.files.map(({ parameter, name, bytes }) => ({
          parameter,
          file_id: hex(bytes),
          name,
          size: bytes.length,
          type: 'text/plain',
          href: `/leases/${runId}/files/${hex(bytes)}`,
        })),
        lease_seconds: 1,
        timeout_seconds: timeoutMs / 1_000,
        deadline: new Date(Date.now() + timeoutMs).toISOString(),
      },
    ]
  }
}

export type LeaseService = {
  url: string
  attempt(input: Partial<AttemptInput> & { runId: string }): EngineAttempt
  /** False: requests get no answer but a closed connection. */
  isReachable: boolean
  close(): Promise<void>
}

export async function startLeaseService(): Promise<LeaseService> {
  const attempts = new Map<string, EngineAttempt>()
  const service = { isReachable: true } as LeaseService
  const server: Server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const [, runId = '', what = ''] = /^\/leases\/([^/]+)\/(\w+)$/.exec(request.url ?? '') ?? []
    if (!service.isReachable) return void request.socket.destroy()
    const [, ofRun = '', fileId = ''] = /^\/leases\/([^/]+)\/files\/(\w+)$/.exec(request.url ?? '') ?? []
    const file = attempts.get(ofRun)?.file(fileId, request.headers) ?? null
    if (file !== null) return void response.writeHead(200).end(file)
    const body = JSON.parse(Buffer.concat(chunks).toString() || '{}')
    const [status, answer] = attempts.get(runId)?.answer(what, request.headers, body) ?? [
      404,
      { code: 'run-not-found' },
    ]
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  service.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  service.attempt = (input) => {
    const whole = {
      attempt: 1,
      model: 'monte',
      modelVersion: '1',
      parameters: {},
      seed: 7,
      timeoutMs: 120_000,
      ...input,
    }
    const attempt = new EngineAttempt(whole)
    attempts.set(input.runId, attempt)
    return attempt
  }
  service.close = () =>
    new Promise<void>((closed) => {
      server.close(() => closed())
      server.closeAllConnections()
    })
  return service
}

/** Gone when the test is. */
export async function leaseService(): Promise<LeaseService> {
  const service = await startLeaseService()
  onTestFinished(service.close)
  return service
}

export function ended(watch: Promise<Outcome>, timeoutMs = 60_000): Promise<Outcome> {
  let outcome: Outcome | null = null
  void watch.then((end) => {
    outcome = end
  })
  return until(() => outcome, { what: 'the attempt ends', timeoutMs })
}

function hex(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
