/**
 * The configuration: the environment, read once, checked as a whole, frozen, and handed down in slices.
 *
 * `loadConfig` is pure over its argument. Times are milliseconds inside the program unless a name says otherwise.
 */

import { maskSecrets } from './describe-config.ts'
import { ConfigInvalid, type ConfigProblem, readSettings } from './read-settings.ts'
import type { SettingValues } from './settings.ts'

export type Config = ReturnType<typeof toConfig>

const SEND_MS_MAX = 15_000
/** A sending and its settlement end by themselves within this time. */
const RELAY_GRACE_MS_MAX = 20_000

/** Throws a ConfigInvalid that lists every problem with its cure. */
export function loadConfig(env: NodeJS.ProcessEnv): Config {
  const { values, problems } = readSettings(env)
  if (problems.length === 0) problems.push(...contradictions(values))
  if (problems.length > 0) throw new ConfigInvalid(problems)
  return freezeDeep(maskSecrets(toConfig(values)))
}

function contradictions({ runs, storage, s3, http, kubernetes, mail, stream }: SettingValues): ConfigProblem[] {
  const problems: ConfigProblem[] = []
  if (runs.resultInlineBytes > runs.resultMaxBytes) {
    problems.push({
      name: 'HOLDFAST_RESULT_INLINE_BYTES',
      problem: `must not exceed HOLDFAST_RESULT_MAX_BYTES (${runs.resultMaxBytes})`,
    })
  }
  if (storage.artifactsDir === storage.dataDir) {
    problems.push({ name: 'HOLDFAST_ARTIFACTS_DIR', problem: 'must be another folder than HOLDFAST_DATA_DIR' })
  }
  if ((s3.accessKeyId === null) !== (s3.secretAccessKey === null)) {
    problems.push({ name: 'S3_ACCESS_KEY_ID', problem: 'must be set together with S3_SECRET_ACCESS_KEY' })
  }
  if (kubernetes.connection !== 'off' && http.publicUrl === null) {
    problems.push({ name: 'HOLDFAST_PUBLIC_URL', problem: 'must be set with HOLDFAST_KUBERNETES: pods call it' })
  }
  if ((mail.ownSmtpUrl ?? mail.smtpUrl) !== null && mail.from === null) {
    problems.push({ name: 'HOLDFAST_MAIL_FROM', problem: 'must be set with SMTP_URL: servers refuse mail from nobody' })
  }
  if (stream.name !== null && storage.redisUrl === null) {
    problems.push({ name: 'REDIS_URL', problem: 'must be set with HOLDFAST_STREAM: the stream is kept there' })
  }
  return problems
}

function toConfig({
  http,
  access,
  storage,
  s3,
  worker,
  runs,
  command,
  log,
  client,
  ray,
  kubernetes,
  relay,
  outbox,
  webhooks,
  mail,
  stream,
}: SettingValues) {
  return {
    http: {
      host: http.host,
      port: http.port,
      publicUrl: http.publicUrl?.replace(/\/+$/, '') ?? null,
      dashboardDir: http.dashboardDir,
      bodyLimitBytes: http.bodyLimitBytes,
      fileBytesMax: http.fileBytesMax,
      uploadIdleMs: ms(http.uploadIdleSeconds),
      uploadKeepSeconds: http.uploadKeepSeconds,
      uploadsOpenMax: http.uploadsOpenMax,
    },
    events: { pollMs: ms(http.eventPollSeconds) },
    access: {
      mode: access.mode,
      ratePerMinute: access.ratePerMinute,
      rateBurst: access.rateBurst,
      openRatePerMinute: access.openRatePerMinute,
    },
    database: { url: storage.databaseUrl, poolMax: storage.databasePool, dataDir: storage.dataDir },
    redis: { url: storage.redisUrl },
    worker: {
      processes: worker.workers,
      models: worker.models,
      queues: worker.queues,
      concurrency: worker.concurrency,
      probe: { host: worker.probeHost, port: worker.probePort },
      leaseMs: ms(worker.leaseSeconds),
      heartbeatMs: ms(worker.leaseSeconds / 3),
      pollMs: ms(worker.pollSeconds),
      janitorMs: ms(worker.janitorSeconds),
      shutdownGraceMs: ms(worker.shutdownGraceSeconds),
      cancelGraceMs: ms(worker.cancelGraceSeconds),
      cancelConfirmMs: ms(worker.cancelConfirmSeconds),
      adoptMs: ms(worker.adoptSeconds),
      logBytesMax: log.logMaxBytes,
      logKeepMs: log.logDays === 0 ? null : ms(log.logDays * 24 * 3600),
      loopSilenceMs: ms(worker.loopSilenceSeconds),
      deadlineGraceMs: ms(worker.deadlineGraceSeconds),
    },
    child: { memoryLimitBytes: worker.memoryLimitMb * 1_048_576, env: worker.childEnv },
    command: {
      workDir: command.workDir ?? `${storage.dataDir}/work`,
      folderBytesMax: command.folderMaxMb * 1_048_576,
      outputFilesMax: command.outputFilesMax,
      outputFilesBytesMax: command.outputFilesMaxMb * 1_048_576,
    },
    retry: { maxAttempts: runs.maxAttempts, delaysSeconds: runs.retryDelaysSeconds },
    submit: {
      timeoutSeconds: runs.timeoutSeconds,
      keyTtlSeconds: runs.keyTtlSeconds,
      dedupeWindowSeconds: runs.dedupeWindowSeconds,
    },
    result: {
      artifactsDir: storage.artifactsDir,
      inlineBytesMax: runs.resultInlineBytes,
      bytesMax: runs.resultMaxBytes,
    },
    s3: s3Of(s3),
    log: {
      level: log.logLevel,
      format: log.logFormat,
      redactWords: log.redactWords,
      redactModule: log.redactModule,
    },
    ray: {
      clusters: ray.clusters.map(({ name, text }) => ({ name, address: text })),
      tokenFiles: ray.tokenFiles,
      token: ray.token,
      jobsMax: ray.jobsMax,
      pollMs: ms(ray.pollSeconds),
      lostAfterMs: ms(ray.lostSeconds),
      requestMs: ms(ray.requestSeconds),
      pools: ray.pools,
      poolTokenFile: ray.poolTokenFile,
    },
    kubernetes: {
      connection: kubernetes.connection === 'off' ? null : kubernetes.connection,
      context: kubernetes.context,
      namespace: kubernetes.namespace,
      jobsMax: kubernetes.jobsMax,
      keepSeconds: kubernetes.keepSeconds,
      lostAfterMs: ms(kubernetes.lostSeconds),
      stuckMs: ms(kubernetes.stuckSeconds),
      requestMs: ms(kubernetes.requestSeconds),
    },
    outbox,
    relay: relayOf(relay, ms(worker.shutdownGraceSeconds)),
    webhooks,
    mail: {
      smtpUrl: mail.ownSmtpUrl ?? mail.smtpUrl,
      from: mail.from ?? 'Holdfast <holdfast@localhost>',
      folder: mail.folder ?? `${storage.dataDir}/mail`,
    },
    stream,
    client: { url: client.url, token: client.token },
  }
}

/** A sending that may outlast its lease would be made twice by two relays. */
function relayOf(relay: SettingValues['relay'], shutdownGraceMs: number) {
  const leaseMs = ms(relay.leaseSeconds)
  return {
    delaysSeconds: relay.delaysSeconds,
    keepDays: relay.keepDays === 0 ? null : relay.keepDays,
    sendsMax: relay.sendsMax,
    pollMs: ms(relay.pollSeconds),
    leaseMs,
    sendTimeoutMs: Math.min(SEND_MS_MAX, leaseMs / 2),
    shutdownGraceMs: Math.min(shutdownGraceMs, RELAY_GRACE_MS_MAX),
    probe: { host: relay.probeHost, port: relay.probePort },
  }
}

/** Null without a bucket. */
function s3Of({ bucket, endpoint, region, accessKeyId, secretAccessKey, prefix, pathStyle }: SettingValues['s3']) {
  if (bucket === null) return null
  return {
    bucket,
    endpoint,
    region,
    credentials: accessKeyId !== null && secretAccessKey !== null ? { accessKeyId, secretAccessKey } : null,
    prefix: prefix === null ? '' : `${prefix.replace(/\/$/, '')}/`,
    isPathStyle: pathStyle === 'auto' ? endpoint !== null : pathStyle === 'true',
  }
}

function ms(seconds: number): number {
  return Math.round(seconds * 1_000)
}

function freezeDeep<T extends object>(value: T): T {
  for (const inner of Object.values(value)) if (typeof inner === 'object' && inner !== null) freezeDeep(inner)
  return Object.freeze(value)
}
