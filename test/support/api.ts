/** The HTTP service on a database of its own, with one registered model, for the tests of the API. */

import { fileURLToPath } from 'node:url'
import type { FastifyInstance, LightMyRequestResponse } from 'fastify'
import { onTestFinished } from 'vitest'
import type { ApiConfig, ApiDeps } from '../../src/api/api.ts'
import { createApi } from '../../src/api/server.ts'
import type { BlobStore } from '../../src/blob/blob.ts'
import { createMemoryBlobStore } from '../../src/blob/memory.ts'
import type { SubmitAnswer } from '../../src/contract/run.ts'
import type { ModelDefinition } from '../../src/run/definition.ts'
import { SENSITIVE_WORDS } from '../../src/run/redaction.ts'
import { openStore } from '../../src/store/open-store.ts'
import type { Lease, Settlement, Store } from '../../src/store/store.ts'
import { createLog, type Log } from '../../src/telemetry/log.ts'
import { createMetrics } from '../../src/telemetry/metrics.ts'
import type { Wakeup } from '../../src/wakeup/wakeup.ts'
import { createTestDatabase, type TestDatabase } from './database.ts'

export const WORKER = 'worker-1'

export const MODEL: ModelDefinition = {
  name: 'forecast',
  version: '1',
  description: null,
  parametersSchema: {
    type: 'object',
    properties: {
      scenario: { type: 'string' },
      months: { type: 'integer', minimum: 1, maximum: 600, default: 24 },
      note: {},
      api_key: { type: 'string' },
    },
    required: ['scenario'],
    additionalProperties: false,
  },
  ignoreInHash: [],
  volatile: [],
  queue: 'default',
  priority: 0,
  executor: 'process',
  retry: {},
  timeoutSeconds: null,
  expectedSeconds: 100,
  concurrency: null,
}

export const API_CONFIG: ApiConfig = {
  http: { bodyLimitBytes: 1024 * 1024 },
  submit: { timeoutSeconds: 24 * 3600, keyTtlSeconds: 24 * 3600, dedupeWindowSeconds: 600 },
  retry: {},
  log: { redactWords: SENSITIVE_WORDS },
}

/** A page and a script that stand for the built dashboard. */
export const DASHBOARD_FIXTURE = fileURLToPath(new URL('../fixtures/dashboard', import.meta.url))

export type TestApi = {
  app: FastifyInstance
  db: TestDatabase
  store: Store
  blob: BlobStore
  hints: { topic: string; runId: string }[]
  logLines: Record<string, unknown>[]
  submit(body: unknown, headers?: Record<string, string>): Promise<LightMyRequestResponse>
  /** Submits and expects it to be accepted. */
  create(body?: object, headers?: Record<string, string>): Promise<SubmitAnswer>
  get(path: string, headers?: Record<string, string>): Promise<LightMyRequestResponse>
  claim(): Promise<Lease>
  settle(lease: Lease, settlement: Partial<Settlement>): Promise<void>
  /** Rows in the tables a submit writes to. */
  stored(): Promise<{ runs: number; keys: number }>
  close(): Promise<void>
}

export type TestApiOptions = {
  config?: Partial<ApiConfig>
  models?: ModelDefinition[]
  queues?: string[]
  wakeup?: Partial<Wakeup>
  /** Where the service finds its database, when not at the database itself. */
  storeUrl?: (databaseUrl: string) => Promise<string>
  store?: (store: Store) => Store
  isStopping?: () => boolean
  dashboard?: ApiDeps['dashboard']
  lookUp?: ApiDeps['lookUp']
}

export const BODY = { model: 'forecast', parameters: { scenario: 'high_inflation' } }

/** Gone when the test that asked for it is. */
export async function createTestApi(options: TestApiOptions = {}): Promise<TestApi> {
  const api = await openTestApi(options)
  onTestFinished(api.close)
  return api
}

/** For several tests that leave nothing behind; the caller closes it. */
export async function openTestApi(options: TestApiOptions = {}): Promise<TestApi> {
  const db = await createTestDatabase()
  await registerModels(db, options)
  const opened = openStore({ url: (await options.storeUrl?.(db.url)) ?? db.url })
  const store = options.store?.(opened) ?? opened
  const hints: TestApi['hints'] = []
  const blob = createMemoryBlobStore()
  const { log, logLines } = recordingLog()
  const app = createApi({
    store,
    blob,
    wakeup: { ...recordingWakeup(hints), ...options.wakeup },
    log,
    metrics: createMetrics({ processMetrics: false }),
    config: { ...API_CONFIG, ...options.config },
    isStopping: options.isStopping,
    dashboard: options.dashboard ?? { dir: DASHBOARD_FIXTURE },
    lookUp: options.lookUp,
  })
  const close = async () => {
    await app.close()
    await opened.close()
    await db.drop()
  }
  return { app, db, store, blob, hints, logLines, close, ...verbsOf(app, db, opened) }
}

function verbsOf(app: FastifyInstance, db: TestDatabase, store: Store) {
  const verbs: Pick<TestApi, 'submit' | 'create' | 'get' | 'claim' | 'settle' | 'stored'> = {
    submit: (body, headers) =>
      app.inject({
        method: 'POST',
        url: '/runs',
        headers: { 'content-type': 'application/json', ...headers },
        payload: typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body),
      }),
    async create(body = {}, headers) {
      const response = await verbs.submit({ ...BODY, ...body }, headers)
      if (response.statusCode >= 300) throw new Error(`refused: ${response.body}`)
      return response.json()
    },
    get: (path, headers) => app.inject({ method: 'GET', url: path, headers }),
    async claim() {
      const models = [{ model: MODEL.name, version: MODEL.version, room: 1 }]
      const queues = [{ queue: MODEL.queue, room: 1 }]
      const [lease] = await store.claim({ workerId: WORKER, leaseMs: 60_000, slots: 1, queues, models })
      if (!lease) throw new Error('nothing to claim')
      return lease
    },
    async settle({ runId, epoch, attempt }, settlement) {
      const { status } = await store.settle({ runId, epoch, attempt, workerId: WORKER, kind: 'succeed', ...settlement })
      if (status === 'stale') throw new Error('the lease was lost')
    },
    async stored() {
      const [row] = await db.query<{ runs: number; keys: number }>(
        'SELECT (SELECT count(*) FROM model_runs) AS runs, (SELECT count(*) FROM run_names) AS keys',
      )
      return row!
    },
  }
  return verbs
}

async function registerModels(
  db: TestDatabase,
  { models = [MODEL], queues = ['default'] }: TestApiOptions,
): Promise<void> {
  const store = openStore({ url: db.url })
  await store.registerWorker({ workerId: WORKER, host: 'test', pid: 1, version: '0', queues, concurrency: 10, models })
  await store.close()
}

function recordingWakeup(hints: TestApi['hints']): Wakeup {
  return {
    name: 'memory',
    hint: (topic, runId) => void hints.push({ topic, runId }),
    subscribe: async () => ({ close: async () => {} }),
    ping: async () => {},
    close: async () => {},
  }
}

function recordingLog(): { log: Log; logLines: Record<string, unknown>[] } {
  const logLines: Record<string, unknown>[] = []
  const destination = { write: (line: string) => void logLines.push(JSON.parse(line)) }
  return { log: createLog({ level: 'debug', format: 'json', destination }), logLines }
}
