/**
 * A service of the demo's own, in this process and on a throw-away folder: a day of runs, made in two minutes by a
 * clock that runs fast, and from then on a service like any other, with something in every state.
 */

import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { migrateDatabase } from '../../src/cli/database.ts'
import { closeParts, createWorker, listen, openParts } from '../../src/compose.ts'
import { createRelay } from '../../src/compose-relay.ts'
import { loadConfig } from '../../src/config/config.ts'
import { startEmbeddedPostgres } from '../../src/store/embedded/embedded.ts'
import { dashboardFolder } from '../e2e/support/build-first.ts'
import { type FastClock, fastClock } from './fast-clock.ts'
import { type Demo, demoOf, fillPair, fillRules } from './fill.ts'
import { setHostName } from './host-name.ts'
import { startReceiver } from './receiver.ts'
import { type DemoRequest, dayOfRequests } from './requests.ts'

const EXAMPLES = resolve(import.meta.dirname, '../../examples')
const QUEUES = 'default,climate,gpu:3,logistics,reports'
const DAY_HOURS = 24
const LOOK_MS = 50
const PAIR_BEFORE_MS = 3 * 3_600_000
/** Leases last for as long as the clock runs fast: no heartbeat could keep up with it. */
const WHILE_FAST = {
  HOLDFAST_LEASE_SECONDS: '86400',
  HOLDFAST_POLL_SECONDS: '0.05',
  HOLDFAST_JANITOR_SECONDS: '0.1',
}

export type DemoHouse = {
  url: string
  demo: Demo
  /** Two trainings that differ in little. */
  pair: [string, string]
  /** Settings for a worker process of this house. */
  settings: Record<string, string>
  startWorker(hostName: string, more?: Record<string, string>): Promise<{ stop(): Promise<void> }>
  /** Everything, and the folder. */
  close(): Promise<void>
}

export type DemoOptions = { port: number; daySeconds: number; say: (line: string) => void }

export async function startDemoHouse({ port, daySeconds, say }: DemoOptions): Promise<DemoHouse> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-demo-'))
  const ends: (() => Promise<unknown>)[] = [() => rm(folder, { recursive: true, force: true, maxRetries: 5 })]
  const close = async () => {
    for (const end of ends.splice(0).reverse()) await end()
  }
  try {
    const database = await startEmbeddedPostgres({ dataDir: join(folder, 'data'), log: () => {} })
    ends.push(() => database.stop())
    await migrateDatabase(database.url)
    const settings = await settingsIn(folder, database.url, port)
    const startWorker = async (hostName: string, more: Record<string, string> = {}) => {
      const worker = await startWorkerHere(hostName, { ...settings, ...more })
      ends.push(worker.stop)
      return worker
    }
    const receiver = await startReceiver(8_099).catch(() => startReceiver())
    ends.push(receiver.close)

    const clock = fastClock(DAY_HOURS)
    const onDatabase = <Got>(use: (pool: pg.Pool) => Promise<Got>) => withPool(database.url, use)
    await onDatabase((pool) => clock.install(pool))
    const { url, stop } = await startServer(settings)
    ends.push(stop)
    const demo = demoOf(url)
    await fillRules(demo, receiver.url)
    const workers = [await startWorker('compute-1', WHILE_FAST), await startWorker('compute-2', WHILE_FAST)]
    say(`a day of runs, in ${daySeconds} seconds`)
    const pair = await liveThrough(demo, clock, await onDatabase((pool) => clock.go(pool, daySeconds)))
    await Promise.all(workers.map((worker) => worker.stop()))
    clock.remove()
    return { url, demo, pair, settings, startWorker, close }
  } catch (error) {
    await close()
    throw error
  }
}

async function settingsIn(folder: string, databaseUrl: string, port: number): Promise<Record<string, string>> {
  const models = (await readdir(join(import.meta.dirname, 'models'))).map((name) =>
    join(import.meta.dirname, 'models', name),
  )
  return {
    DATABASE_URL: databaseUrl,
    HOLDFAST_PORT: String(port),
    HOLDFAST_ACCESS: 'open',
    HOLDFAST_DASHBOARD_DIR: dashboardFolder,
    HOLDFAST_DATA_DIR: join(folder, 'data'),
    HOLDFAST_ARTIFACTS_DIR: join(folder, 'artifacts'),
    HOLDFAST_MODELS: [...models, join(EXAMPLES, 'document-pipeline', 'document-pipeline.ts')].join(','),
    HOLDFAST_QUEUES: QUEUES,
    HOLDFAST_CONCURRENCY: '12',
    HOLDFAST_CHILD_ENV: 'DEMO_PACE',
    HOLDFAST_LOG_LEVEL: 'fatal',
    HOLDFAST_SHUTDOWN_GRACE_SECONDS: '1',
    HOLDFAST_WEBHOOK_ALLOW: '127.0.0.1',
    HOLDFAST_DELIVERY_DELAYS_SECONDS: '30,300',
    HOLDFAST_FAILURE_WINDOW_SECONDS: '1',
    HOLDFAST_BATCH_QUIET_SECONDS: '2',
  }
}

async function startServer(settings: Record<string, string>): Promise<{ url: string; stop(): Promise<void> }> {
  const parts = await openParts(loadConfig(settings), settings.DATABASE_URL!, 'start')
  const { app, url } = await listen(parts)
  const relay = await createRelay(parts)
  relay.start()
  const stop = async () => {
    await relay.stop()
    await app.close()
    await closeParts(parts)
  }
  return { url, stop }
}

async function startWorkerHere(hostName: string, settings: Record<string, string>): Promise<{ stop(): Promise<void> }> {
  setHostName(hostName)
  const parts = await openParts(loadConfig(settings), settings.DATABASE_URL!, 'worker')
  const worker = await createWorker(parts, settings.DATABASE_URL!)
  await worker.start()
  let stopped: Promise<void> | undefined
  const stop = async () => {
    await worker.stop()
    await closeParts(parts)
  }
  return {
    stop() {
      stopped ??= stop()
      return stopped
    },
  }
}

/** Answers two runs to be compared, made in the last hours of it. */
async function liveThrough(
  demo: Demo,
  clock: FastClock,
  { endsMs, speed }: { endsMs: number; speed: number },
): Promise<[string, string]> {
  process.env.DEMO_PACE = String(1 / speed)
  const pending: Promise<void>[] = []
  let pair: Promise<[string, string]> | undefined
  for (const request of dayOfRequests(clock.nowMs(), endsMs)) {
    while (clock.nowMs() < request.atMs) await sleep(LOOK_MS)
    pending.push(askFor(demo, request, speed))
    if (request.atMs > endsMs - PAIR_BEFORE_MS) pair ??= fillPair(demo)
  }
  await Promise.all(pending)
  delete process.env.DEMO_PACE
  return pair ?? fillPair(demo)
}

/** Refusals are part of a day: limits are there to be met. */
async function askFor(demo: Demo, request: DemoRequest, speed: number): Promise<void> {
  const submitted = await demo.submit(request).catch(() => null)
  if (submitted === null || request.afterwards === undefined) return
  const client = demo.as(request.owner)
  if (request.afterwards === 'cancel') {
    await sleep(120_000 / speed)
    await client.cancel(submitted.runId).catch(() => {})
  } else {
    await client.wait(submitted.runId)
    await client.retry(submitted.runId)
  }
}

async function withPool<Got>(url: string, use: (pool: pg.Pool) => Promise<Got>): Promise<Got> {
  const pool = new pg.Pool({ connectionString: url, max: 1 })
  return use(pool).finally(() => pool.end())
}
