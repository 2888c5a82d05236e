/**
 * A service for one test file: a database of its own, the API on a loopback port with the dashboard under `/ui/`,
 * and workers, all in this process and wired by compose.ts as `npm start` wires them, with short leases and short
 * waits.
 *
 *     const house = await openHouse()                  // or { tokens: true }, or { settings: { HOLDFAST_… } }
 *     afterAll(() => house.close())
 *     await house.startWorker()                        // in this process; .stop() ends it
 *     const runId = await house.submit('slow')         // models: see models.ts
 *     const page = await openPage(house, '/runs')      // see browser.ts; `/runs` is `/ui/runs`
 *     await house.letGo(runId)                         // `slow`, `steps` with wait, slow documents go on
 *     await house.reaches(runId, 'SUCCEEDED')
 *
 * `house.client` is a Holdfast client that may do everything; `house.clientOf(role)` one for a role, and
 * `house.tokens[role]` the text of its token (with `tokens: true`). `house.stopApi()` and `house.startApi()` are a
 * restart on the same port. `house.startWorkerProcess()` is a real process: `kill('SIGKILL')` is the death of a
 * worker, and its lease of 1.5 s is over soon. `house.startRelay()` sends webhooks and mails.
 *
 * Beside it: browser.ts (pages that fail their test on any trouble), axe.ts, keyboard.ts, layout.ts (no sideways
 * scroll), long-tasks.ts, base-path-proxy.ts, and `until` of test/support for what no event announces.
 * `client.batch([…])` submits many runs at once.
 */

import { writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { Holdfast, type Run, type SubmitOptions } from '../../../client/src/index.ts'
import { closeParts, createWorker, listen, openParts, type Parts } from '../../../src/compose.ts'
import { createRelay } from '../../../src/compose-relay.ts'
import { loadConfig } from '../../../src/config/config.ts'
import type { TokenBody } from '../../../src/contract/access.ts'
import type { RunStatus } from '../../../src/run/status.ts'
import { createTestDatabase, type TestDatabase } from '../../../test/support/database.ts'
import { openPlace, type Running } from '../../../test/support/processes.ts'
import { tempFolder } from '../../../test/support/temp-folder.ts'
import { testToken } from '../../../test/support/tokens.ts'
import { until } from '../../../test/support/until.ts'
import { dashboardFolder } from './build-first.ts'

const MODELS = resolve(import.meta.dirname, 'models.ts')
const ROLES = ['admin', 'operator', 'submitter', 'viewer'] as const

/** Every setting as in the environment of a process. */
export type Settings = Record<string, string>
export type HouseOptions = { tokens?: boolean; settings?: Settings }
type HouseRole = (typeof ROLES)[number]
export type Stoppable = { stop(): Promise<void> }

export type House = {
  /** Without a slash at its end. */
  url: string
  /** Where the dashboard is. */
  uiUrl: string
  db: TestDatabase
  client: Holdfast
  /** Texts of tokens by role, all of the owner `alice`; none in an open house. */
  tokens: Record<HouseRole, string>
  clientOf(role: HouseRole): Holdfast
  /** Submits a run that is not merged with equal ones and answers its id. */
  submit(model: string, parameters?: Record<string, unknown>, more?: SubmitOptions): Promise<string>
  reaches(runId: string, ...statuses: RunStatus[]): Promise<Run>
  /** Lets runs go on that wait for the test, by their ids, or opens a gate that parameters name (see models.ts). */
  letGo(...gates: string[]): Promise<void>
  startWorker(settings?: Settings): Promise<Stoppable>
  startWorkerProcess(settings?: Settings): Promise<Running & { workerId: string }>
  startRelay(settings?: Settings): Promise<Stoppable>
  stopApi(): Promise<void>
  startApi(): Promise<void>
  /** Ends everything that was started here. */
  close(): Promise<void>
}

export async function openHouse(options: HouseOptions = {}): Promise<House> {
  const folder = await tempFolder()
  const db = await createTestDatabase()
  process.env.HOLDFAST_TEST_FOLDER = GATES.path
  const settings = { ...settingsIn(folder.path, db, options), ...options.settings }
  const started: Stoppable[] = []
  const api = apiOn(db, settings)
  await api.start()
  const tokens = options.tokens ? await makeTokens(api.parts()) : NO_TOKENS
  const clientOf = (role: HouseRole) => new Holdfast({ url: api.url(), token: tokens[role] || undefined })
  const client = clientOf('admin')
  // Workers register what they offer: a run can be submitted before the first one of the test is there.
  await registerModels(db, settings)

  return {
    url: api.url(),
    uiUrl: `${api.url()}/ui`,
    db,
    client,
    tokens,
    clientOf,
    submit: async (model, parameters = {}, more = {}) =>
      (await client.submit(model, parameters, { dedupe: 'off', ...more })).runId,
    reaches: (runId, ...statuses) => reaches(client, runId, statuses),
    async letGo(...gates) {
      for (const gate of gates) await writeFile(join(GATES.path, gate), '')
    },
    startWorker: (more) => keep(started, startWorker(db, { ...settings, ...more })),
    async startWorkerProcess(more) {
      const place = await openPlace({ ...settings, HOLDFAST_LOG_LEVEL: 'info', HOLDFAST_TEST_FOLDER: GATES.path })
      started.push({ stop: () => place.close() })
      return place.startWorker(more)
    },
    startRelay: (more) => keep(started, startRelay(db, { ...settings, ...more })),
    stopApi: api.stop,
    startApi: api.start,
    async close() {
      await Promise.all(started.map((one) => one.stop()))
      await api.stop()
      await db.drop()
      await folder.remove()
    },
  }
}

/** One for all houses of this process: what models wait for are files in it. */
const GATES = await tempFolder()

const NO_TOKENS: Record<HouseRole, string> = { admin: '', operator: '', submitter: '', viewer: '' }

function settingsIn(folder: string, db: TestDatabase, { tokens }: HouseOptions): Settings {
  return {
    DATABASE_URL: db.url,
    HOLDFAST_HOST: '127.0.0.1',
    HOLDFAST_PORT: '0',
    HOLDFAST_ACCESS: tokens ? 'tokens' : 'open',
    HOLDFAST_DASHBOARD_DIR: dashboardFolder,
    HOLDFAST_DATA_DIR: join(folder, 'data'),
    HOLDFAST_ARTIFACTS_DIR: join(folder, 'artifacts'),
    HOLDFAST_MODELS: MODELS,
    // What goes on after the death of its worker goes on in a child.
    HOLDFAST_CHILD_ENV: 'HOLDFAST_TEST_FOLDER',
    HOLDFAST_LOG_LEVEL: 'silent',
    HOLDFAST_LOG_MAX_BYTES: '33554432',
    HOLDFAST_CONCURRENCY: '8',
    HOLDFAST_LEASE_SECONDS: '1.5',
    HOLDFAST_POLL_SECONDS: '0.1',
    HOLDFAST_JANITOR_SECONDS: '0.1',
    HOLDFAST_SHUTDOWN_GRACE_SECONDS: '0.2',
    HOLDFAST_CANCEL_GRACE_SECONDS: '0.3',
    HOLDFAST_RETRY_DELAYS_SECONDS: '0.05',
    HOLDFAST_WEBHOOK_ALLOW: '127.0.0.1',
    HOLDFAST_RELAY_POLL_SECONDS: '0.1',
    HOLDFAST_DELIVERY_DELAYS_SECONDS: '0.1',
  }
}

type Api = { start(): Promise<void>; stop(): Promise<void>; url(): string; parts(): Parts }

/** The second start takes the port of the first. */
function apiOn(db: TestDatabase, settings: Settings): Api {
  let port = settings.HOLDFAST_PORT!
  let running: { parts: Parts; close(): Promise<unknown> } | null = null
  return {
    url: () => `http://127.0.0.1:${port}`,
    parts: () => running!.parts,
    async start() {
      const parts = await openParts(loadConfig({ ...settings, HOLDFAST_PORT: port }), db.url, 'api')
      const { app, url } = await listen(parts)
      port = new URL(url).port
      running = { parts, close: () => app.close() }
    },
    async stop() {
      const ending = running
      running = null
      await ending?.close()
      if (ending) await closeParts(ending.parts)
    },
  }
}

async function startWorker(db: TestDatabase, settings: Settings): Promise<Stoppable> {
  const parts = await openParts(loadConfig(settings), db.url, 'worker')
  const worker = await createWorker(parts, db.url)
  await worker.start()
  return stopOnce(async () => {
    await worker.stop()
    await closeParts(parts)
  })
}

async function registerModels(db: TestDatabase, settings: Settings): Promise<void> {
  const worker = await startWorker(db, { ...settings, HOLDFAST_QUEUES: 'nothing-is-here' })
  await worker.stop()
}

async function startRelay(db: TestDatabase, settings: Settings): Promise<Stoppable> {
  const parts = await openParts(loadConfig(settings), db.url, 'relay')
  const relay = await createRelay(parts)
  relay.start()
  return stopOnce(async () => {
    await relay.stop()
    await closeParts(parts)
  })
}

/** What a test stops itself is not stopped again at the end. */
function stopOnce(stop: () => Promise<void>): Stoppable {
  let stopped: Promise<void> | undefined
  return {
    stop() {
      stopped ??= stop()
      return stopped
    },
  }
}

async function keep<One extends Stoppable>(started: Stoppable[], starting: Promise<One>): Promise<One> {
  const one = await starting
  started.push(one)
  return one
}

async function makeTokens({ store }: Parts): Promise<Record<HouseRole, string>> {
  const made = { ...NO_TOKENS }
  for (const role of ROLES)
    made[role] = (await testToken(store, role as TokenBody['role'], { name: `${role} token` })).text
  return made
}

function reaches(client: Holdfast, runId: string, statuses: RunStatus[]): Promise<Run> {
  return until(
    async () => {
      const run = await client.get(runId)
      if (run.finished_at && !statuses.includes(run.status)) {
        throw new Error(`run ${runId} ended ${run.status}: ${run.last_error?.class} ${run.last_error?.message}`)
      }
      return statuses.includes(run.status) && run
    },
    { what: `run ${runId} is ${statuses.join(' or ')}`, timeoutMs: 20_000 },
  )
}
