import { inspect } from 'node:util'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FACT_KINDS } from '../run/fact-kinds.ts'
import { loadConfig } from './config.ts'
import { describeConfig, maskUrl } from './describe-config.ts'
import { ConfigInvalid } from './read-settings.ts'
import { ALL_SETTINGS } from './settings.ts'

function problemsOf(env: Record<string, string>): Record<string, string> {
  try {
    loadConfig(env)
  } catch (error) {
    if (!(error instanceof ConfigInvalid)) throw error
    return Object.fromEntries(error.problems.map(({ name, problem }) => [name, problem]))
  }
  return {}
}

describe('the configuration', () => {
  it('has the stated defaults in an empty environment', () => {
    expect(describeConfig(loadConfig({}))).toEqual({
      http: {
        host: '127.0.0.1',
        port: 4600,
        publicUrl: null,
        dashboardDir: null,
        bodyLimitBytes: 1_048_576,
        fileBytesMax: 5_368_709_120,
        uploadIdleMs: 60_000,
        uploadKeepSeconds: 86_400,
        uploadsOpenMax: 1_000,
      },
      access: { mode: 'auto', ratePerMinute: 12_000, rateBurst: null, openRatePerMinute: 0 },
      events: { pollMs: 100 },
      database: { url: null, poolMax: 10, dataDir: '.holdfast' },
      redis: { url: null },
      worker: {
        processes: 1,
        models: [],
        queues: [{ name: 'default', limit: null }],
        concurrency: 10,
        probe: { host: '127.0.0.1', port: null },
        leaseMs: 60_000,
        heartbeatMs: 20_000,
        pollMs: 1_000,
        janitorMs: 1_000,
        shutdownGraceMs: 30_000,
        cancelGraceMs: 10_000,
        cancelConfirmMs: 60_000,
        adoptMs: 60_000,
        logBytesMax: 1_048_576,
        logKeepMs: 30 * 24 * 3_600_000,
        loopSilenceMs: 300_000,
        deadlineGraceMs: 10_000,
      },
      child: { memoryLimitBytes: 2_048 * 1_048_576, env: [] },
      command: {
        workDir: '.holdfast/work',
        folderBytesMax: 10_240 * 1_048_576,
        outputFilesMax: 1_000,
        outputFilesBytesMax: 1_024 * 1_048_576,
      },
      retry: { maxAttempts: 3, delaysSeconds: [5, 20, 60] },
      submit: { timeoutSeconds: 86_400, keyTtlSeconds: 86_400, dedupeWindowSeconds: 600 },
      result: { artifactsDir: 'artifacts', inlineBytesMax: 65_536, bytesMax: 67_108_864 },
      s3: null,
      log: {
        level: 'info',
        format: 'auto',
        redactWords: ['password', 'token', 'secret', 'key', 'auth'],
        redactModule: null,
      },
      ray: {
        clusters: [],
        tokenFiles: [],
        token: null,
        jobsMax: 20,
        pollMs: 2_000,
        lostAfterMs: 300_000,
        requestMs: 10_000,
        pools: [],
        poolTokenFile: null,
      },
      kubernetes: {
        connection: null,
        context: null,
        namespace: null,
        jobsMax: 50,
        keepSeconds: 3_600,
        lostAfterMs: 300_000,
        stuckMs: 120_000,
        requestMs: 15_000,
      },
      relay: {
        delaysSeconds: [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400],
        keepDays: 30,
        sendsMax: 128,
        pollMs: 1_000,
        leaseMs: 60_000,
        sendTimeoutMs: 15_000,
        shutdownGraceMs: 20_000,
        probe: { host: '127.0.0.1', port: null },
      },
      outbox: { progressEvery: 1_000, failureWindowSeconds: 300, batchQuietSeconds: 30 },
      mail: { smtpUrl: null, from: 'Holdfast <holdfast@localhost>', folder: '.holdfast/mail' },
      webhooks: { allow: [] },
      stream: { name: null, kinds: [...FACT_KINDS], lengthMax: 100_000 },
      client: { url: null, token: null },
    })
  })

  it('reads what webhooks may reach, and refuses what is neither name nor range', () => {
    const allow = ['hooks.internal', '*.svc', '10.1.0.0/16', '::1']
    expect(loadConfig({ HOLDFAST_WEBHOOK_ALLOW: allow.join(' , ') }).webhooks.allow).toEqual(allow)
    for (const entry of ['10.1.0.0/33', 'http://hooks.internal', 'hooks.internal:80', '*'])
      expect(() => loadConfig({ HOLDFAST_WEBHOOK_ALLOW: entry })).toThrow('HOLDFAST_WEBHOOK_ALLOW must be host names')
  })

  it('knows the mail server by either name, its own first, and wants a sender with it', () => {
    const SMTP_URL = 'smtp://mail.example.org'
    const HOLDFAST_MAIL_FROM = 'Holdfast <holdfast@example.org>'
    expect(loadConfig({ SMTP_URL, HOLDFAST_MAIL_FROM }).mail).toMatchObject({
      smtpUrl: SMTP_URL,
      from: HOLDFAST_MAIL_FROM,
    })
    const both = { SMTP_URL, HOLDFAST_SMTP_URL: 'smtps://other.example.org', HOLDFAST_MAIL_FROM }
    expect(loadConfig(both).mail.smtpUrl).toBe('smtps://other.example.org')
    expect(() => loadConfig({ SMTP_URL })).toThrow('HOLDFAST_MAIL_FROM must be set with SMTP_URL')
  })

  it('has a stream where it has a Redis, of the kinds that there are', () => {
    const REDIS_URL = 'redis://cache:6379'
    const asked = { REDIS_URL, HOLDFAST_STREAM: 'holdfast:facts', HOLDFAST_STREAM_KINDS: 'run.failed, run.created' }
    const kinds = ['run.created', 'run.failed']
    expect(loadConfig(asked).stream).toMatchObject({ name: 'holdfast:facts', kinds })
    expect(() => loadConfig({ HOLDFAST_STREAM: 'facts' })).toThrow('REDIS_URL must be set with HOLDFAST_STREAM')
    for (const HOLDFAST_STREAM_KINDS of [',', 'run.failed,run.exploded'])
      expect(() => loadConfig({ HOLDFAST_STREAM_KINDS })).toThrow('HOLDFAST_STREAM_KINDS must be kinds of facts')
  })

  it.each(['a@b, c@d', 'A <a@b>\nBcc: c@d', 'nobody', 'A "B" <a@b>'])('takes no sender such as %j', (from) => {
    expect(() => loadConfig({ HOLDFAST_MAIL_FROM: from })).toThrow('HOLDFAST_MAIL_FROM must be an address')
  })

  it('reads Ray clusters by name, and shows no password of theirs', () => {
    const { ray } = loadConfig({
      HOLDFAST_RAY_CLUSTERS: 'default=http://127.0.0.1:8265, gpu=https://u:pw@ray.example.org',
    })
    expect(ray.clusters).toEqual([
      { name: 'default', address: 'http://127.0.0.1:8265' },
      { name: 'gpu', address: 'https://u:pw@ray.example.org' },
    ])
    expect(JSON.stringify(loadConfig({ HOLDFAST_RAY_CLUSTERS: 'gpu=https://u:pw@ray.example.org' }))).not.toContain(
      ':pw',
    )
    expect(() => loadConfig({ HOLDFAST_RAY_CLUSTERS: 'default=ftp://x' })).toThrow('HOLDFAST_RAY_CLUSTERS must be')
    expect(() => loadConfig({ HOLDFAST_RAY_CLUSTERS: 'a=http://x,a=http://y' })).toThrow('each name only once')
  })

  it('reads Ray pools', () => {
    expect(loadConfig({ HOLDFAST_RAY_POOLS: 'default:4,big:2@gpu' }).ray.pools).toEqual([
      { queue: 'default', actors: 4, cluster: null },
      { queue: 'big', actors: 2, cluster: 'gpu' },
    ])
    expect(() => loadConfig({ HOLDFAST_RAY_POOLS: 'default' })).toThrow('must be queues with a number of actors')
  })

  it('wants an address that pods can reach when there is Kubernetes', () => {
    expect(() => loadConfig({ HOLDFAST_KUBERNETES: 'in-cluster' })).toThrow('HOLDFAST_PUBLIC_URL must be set')
    const env = { HOLDFAST_KUBERNETES: 'in-cluster', HOLDFAST_PUBLIC_URL: 'http://holdfast.default' }
    expect(loadConfig(env).kubernetes.connection).toBe('in-cluster')
  })

  it('takes fractions of seconds', () => {
    const { worker } = loadConfig({ HOLDFAST_LEASE_SECONDS: '0.3', HOLDFAST_POLL_SECONDS: '0.05' })
    expect(worker).toMatchObject({ leaseMs: 300, heartbeatMs: 100, pollMs: 50 })
  })

  it('counts an empty variable as unset', () => {
    expect(loadConfig({ REDIS_URL: '', HOLDFAST_PORT: ' ' })).toMatchObject({
      redis: { url: null },
      http: { port: 4600 },
    })
  })

  it('reads queues with and without a limit', () => {
    expect(loadConfig({ HOLDFAST_QUEUES: 'default, gpu:2 ,' }).worker.queues).toEqual([
      { name: 'default', limit: null },
      { name: 'gpu', limit: 2 },
    ])
  })

  it('takes off the slash at the end of the public address', () => {
    expect(loadConfig({ HOLDFAST_PUBLIC_URL: 'https://runs.example.org/holdfast/' }).http.publicUrl).toBe(
      'https://runs.example.org/holdfast',
    )
  })

  it('ignores variables of others and those of our tests', () => {
    expect(problemsOf({ PATH: '/bin', HOLDFASTENED: '1', HOLDFAST_TEST_DATABASE_URL: 'x' })).toEqual({})
  })

  it('refuses an unknown name and offers the nearest one', () => {
    expect(problemsOf({ HOLDFAST_LEASE_SECOND: '5' })).toEqual({
      HOLDFAST_LEASE_SECOND: 'is not a setting; did you mean HOLDFAST_LEASE_SECONDS?',
    })
  })

  it.each([
    ['HOLDFAST_PORT', '65536'],
    ['HOLDFAST_PORT', '80a'],
    ['HOLDFAST_PORT', '1e3'],
    ['HOLDFAST_LEASE_SECONDS', '0.1'],
    ['HOLDFAST_LEASE_SECONDS', 'Infinity'],
    ['HOLDFAST_LEASE_SECONDS', '-5'],
    ['HOLDFAST_CONCURRENCY', '0'],
    ['HOLDFAST_QUEUES', ','],
    ['HOLDFAST_QUEUES', 'gpu:0'],
    ['HOLDFAST_QUEUES', 'gpu:2:3'],
    ['HOLDFAST_QUEUES', 'gpu,gpu:2'],
    ['HOLDFAST_RETRY_DELAYS_SECONDS', '5,x'],
    ['HOLDFAST_CHILD_ENV', 'A-B'],
    ['HOLDFAST_LOG_LEVEL', 'loud'],
    ['DATABASE_URL', 'mysql://host/db'],
    ['DATABASE_URL', 'host/db'],
    ['REDIS_URL', 'http://host'],
    ['HOLDFAST_PUBLIC_URL', 'runs.example.org'],
  ])('refuses %s=%s and says what it must be', (name, value) => {
    expect(problemsOf({ [name]: value })).toEqual({ [name]: expect.stringMatching(/^must /) })
  })

  it('lists every problem at once', () => {
    const env = { HOLDFAST_PORT: 'x', HOLDFAST_LOG_FORMAT: 'xml', HOLDFAST_WORKER: '1', DATABASE_URL: 'x' }
    expect(Object.keys(problemsOf(env)).toSorted()).toEqual(Object.keys(env).toSorted())
    expect(() => loadConfig(env)).toThrow(
      /HOLDFAST_PORT must be .*\n.*HOLDFAST_LOG_FORMAT must be one of auto, json, pretty/s,
    )
  })

  it('refuses an inline limit above the limit of results', () => {
    expect(problemsOf({ HOLDFAST_RESULT_INLINE_BYTES: '4096', HOLDFAST_RESULT_MAX_BYTES: '2048' })).toEqual({
      HOLDFAST_RESULT_INLINE_BYTES: 'must not exceed HOLDFAST_RESULT_MAX_BYTES (2048)',
    })
  })

  it('is frozen all the way down', () => {
    const config = loadConfig({})
    expect(() => config.worker.queues.push({ name: 'x', limit: null })).toThrow(TypeError)
    expect(() => Object.assign(config.http, { port: 1 })).toThrow(TypeError)
  })

  it('reads every default of its own table', () => {
    const env = Object.fromEntries(ALL_SETTINGS.flatMap(({ env, default: text }) => (text ? [[env, text]] : [])))
    expect(describeConfig(loadConfig(env))).toEqual(describeConfig(loadConfig({})))
  })

  it('names each setting once', () => {
    expect(new Set(ALL_SETTINGS.map(({ env }) => env)).size).toBe(ALL_SETTINGS.length)
  })

  it('either loads or throws a ConfigInvalid, whatever the environment holds', () => {
    const name = fc.constantFrom(...ALL_SETTINGS.map(({ env }) => env))
    fc.assert(fc.property(fc.dictionary(name, fc.string()), (env) => void problemsOf(env)))
  })
})

describe('secrets of the configuration', () => {
  const secret = {
    DATABASE_URL: 'postgres://ada:CANARY@db/holdfast?sslpassword=CANARY',
    SMTP_URL: 'smtp://ada:CANARY@mail:587',
    HOLDFAST_MAIL_FROM: 'ada@example.org',
    REDIS_URL: 'rediss://:CANARY@cache:6379',
    HOLDFAST_TOKEN: 'CANARY',
  }

  it.each([
    ['described', () => JSON.stringify(describeConfig(loadConfig(secret)))],
    ['turned into JSON', () => JSON.stringify(loadConfig(secret))],
    ['inspected', () => inspect(loadConfig(secret), { depth: 9 })],
  ])('do not show when it is %s', (_way, show) => {
    expect(show()).toContain('ada')
    expect(show()).not.toContain('CANARY')
  })

  it('do not show in the problems', () => {
    const env = { DATABASE_URL: 'mysql://ada:CANARY@db', REDIS_URL: 'CANARY', HOLDFAST_URL: 'CANARY' }
    expect(() => loadConfig(env)).toThrow(ConfigInvalid)
    expect(JSON.stringify(problemsOf(env))).not.toContain('CANARY')
  })

  it('are masked in a URL that stays readable otherwise', () => {
    expect(maskUrl('postgres://ada:x%40y@db:5433/holdfast')).toBe('postgres://ada:***@db:5433/holdfast')
    expect(maskUrl('redis://cache:6379/2')).toBe('redis://cache:6379/2')
  })
})
