/** The only place that picks implementations and wires them: the parts every role shares, the API and the worker. */

import { lookup } from 'node:dns/promises'
import { hostname } from 'node:os'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { FastifyInstance } from 'fastify'
import type { DashboardBuildState } from './api/dashboard-absent-page.ts'
import { loadRedactHook, type RedactHook } from './api/load-redact-hook.ts'
import { assertMayListen } from './api/loopback.ts'
import type { ShowMail } from './api/present-delivery.ts'
import { within } from './api/within.ts'
import type { BlobStore } from './blob/blob.ts'
import { checkBlobPlace, openBlobStore } from './compose-blob.ts'
import { createExecutors, inputFolderIn } from './compose-executors.ts'
import { createLogOf, type Role } from './compose-log.ts'
import { publicUrlOf } from './compose-senders.ts'
import type { Config } from './config/config.ts'
import { loadModels } from './model/load-models.ts'
import { definitionOf } from './model/model.ts'
import { offeredModels } from './model/offered-models.ts'
import { createHintConnections } from './store/notify.ts'
import { openStore } from './store/open-store.ts'
import type { Store } from './store/store.ts'
import type { Log } from './telemetry/log.ts'
import { createMetrics, type Metrics, type MetricsExport } from './telemetry/metrics.ts'
import { version } from './version.ts'
import { createPostgresWakeup } from './wakeup/postgres.ts'
import { createRedisWakeup } from './wakeup/redis.ts'
import type { Topic, Wakeup } from './wakeup/wakeup.ts'
import { type ApiJanitor, createApiJanitor } from './worker/api-janitor.ts'
import { Worker } from './worker/worker.ts'

const HEARTBEAT_THREAD = new URL(`./store/heartbeat-thread${import.meta.filename.slice(-3)}`, import.meta.url)

/** Of a checkout as of an installed package. */
export const DASHBOARD_ROOT = fileURLToPath(new URL('../dashboard', import.meta.url))

const TOTALS_MS_MAX = 2_000

export type Parts = { config: Config; log: Log; metrics: Metrics; store: Store; wakeup: Wakeup; blob: BlobStore }

export async function openParts(config: Config, databaseUrl: string, role: Role): Promise<Parts> {
  const log = createLogOf(config, role)
  const store = openStore({
    url: databaseUrl,
    poolMax: config.database.poolMax,
    name: `holdfast ${role}`,
    logBytesMax: config.worker.logBytesMax,
    spread: config.outbox,
    topicOf: config.redis.url ? undefined : (queue) => `queue:${queue}` satisfies Topic,
  })
  const blob = await boundBlobStore(store, config)
  const wakeup = config.redis.url
    ? createRedisWakeup({ url: config.redis.url, log })
    : createPostgresWakeup({ connections: createHintConnections({ connectionString: databaseUrl }), log })
  const metrics = createMetrics()
  return { config, log, metrics, store, wakeup, blob }
}

export async function closeParts({ wakeup, store }: Parts): Promise<void> {
  await wakeup.close()
  await store.close()
}

async function boundBlobStore(store: Store, config: Config): Promise<BlobStore> {
  try {
    const blob = await openBlobStore(config)
    await checkBlobPlace(store, blob, config)
    return blob
  } catch (error) {
    await store.close()
    throw error
  }
}

export type ListenOptions = {
  /** Answers for further processes. */
  otherMetrics?: () => Promise<MetricsExport[]>
  /** Ends readiness before the listener closes. */
  isStopping?: () => boolean
  dashboardBuildState?: () => DashboardBuildState
}

export async function listen(
  parts: Parts,
  options: ListenOptions = {},
): Promise<{ app: FastifyInstance; url: string }> {
  const { config, log, metrics, store, wakeup, blob } = parts
  const { otherMetrics } = options
  await assertMayListen(config.http.host, { mode: config.access.mode, anyToken: () => store.tokens.anyExist() })
  // Loaded here and not above: a worker never needs the HTTP framework, and its memory is counted.
  const { createApi } = await import('./api/server.ts')
  // Where no worker reports to us, the database knows how their runs ended.
  if (!otherMetrics) metrics.onTotals(() => within(TOTALS_MS_MAX, store.stats.totals({ model: null, queue: null })))
  const app = createApi({
    store,
    blob,
    wakeup,
    log,
    metrics: otherMetrics ? { ...metrics, text: async () => metrics.text(await otherMetrics()) } : metrics,
    isStopping: options.isStopping,
    dashboard: {
      dir: resolve(config.http.dashboardDir ?? `${DASHBOARD_ROOT}/dist`),
      buildState: options.dashboardBuildState,
    },
    lookUp: (host) => lookup(host, { all: true }),
    showMail: await mailShownBy(config),
    config: { ...config, log: { ...config.log, redactHook: await redactHookOf(config) } },
  })
  const janitor = createJanitor(parts)
  app.addHook('preClose', () => janitor.stop())
  const url = await app.listen({ host: config.http.host, port: config.http.port })
  janitor.start()
  return { app, url }
}

/** Where all workers are remote, nobody else takes back what they lost. */
function createJanitor({ config, log, metrics, store, wakeup, blob }: Parts): ApiJanitor {
  const { cancelConfirmMs, adoptMs, logKeepMs, janitorMs } = config.worker
  return createApiJanitor({
    workerId: `api:${hostname()}:${process.pid}`,
    store,
    blob,
    hint: (topic, runId) => wakeup.hint(topic, runId),
    cancelConfirmMs,
    adoptMs,
    logKeepMs,
    everyMs: janitorMs,
    log,
    metrics,
  })
}

export async function redactHookOf({ log }: Config): Promise<RedactHook | null> {
  return log.redactModule === null ? null : loadRedactHook(log.redactModule, process.cwd())
}

/** As it is sent, without the right to unsubscribe its reader. */
export async function mailShownBy({ http }: Config): Promise<ShowMail> {
  const { writeMail } = await import('./delivery/mail-templates/write-mail.ts')
  return (delivery) => writeMail(delivery, { publicUrl: publicUrlOf(http), unsubscribeUrl: null })
}

/** Whether the API asks callers for a token by now. */
export async function asksForTokens({ config, store }: Parts): Promise<boolean> {
  const { mode } = config.access
  return mode === 'auto' ? store.tokens.anyExist() : mode === 'tokens'
}

export async function createWorker(parts: Parts, databaseUrl: string): Promise<Worker> {
  const { config, log, metrics, store, wakeup, blob } = parts
  const registry = await loadModels(config.worker.models, process.cwd())
  const executors = await createExecutors(parts, registry)
  const known = [...registry.all().map(definitionOf), ...registry.declared()]
  const models = offeredModels(
    known,
    executors.map(({ name }) => name),
  )
  for (const fields of models.lacking)
    log.warn(fields, 'model not offered here: this worker lacks an executor it may need')
  const { queues, ...settings } = config.worker
  return new Worker({
    store,
    wakeup,
    executors,
    definitions: models.offered,
    declared: models.leftToOthers,
    results: { blob, inlineBytes: config.result.inlineBytesMax, maxBytes: config.result.bytesMax },
    inputFolder: inputFolderIn(resolve(config.command.workDir)),
    heartbeatThread: { url: HEARTBEAT_THREAD, data: { url: databaseUrl } },
    version,
    log,
    metrics,
    settings: {
      ...settings,
      queues: queues.map(({ name, limit }) => ({ queue: name, limit })),
      retry: config.retry,
      redactWords: config.log.redactWords,
    },
  })
}
