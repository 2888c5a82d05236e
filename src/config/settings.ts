/**
 * The one table of settings: name, default, meaning and kind of each. `docs/config.md` and `.env.example` are
 * generated from it. An absent default means that the setting may be left out.
 */

import type { z } from 'zod'
import { COMMAND_ROWS } from './command-settings.ts'
import { KUBERNETES_ROWS } from './kubernetes-settings.ts'
import { LOG_ROWS } from './log-settings.ts'
import { MAIL_ROWS } from './mail-settings.ts'
import { OUTBOX_ROWS } from './outbox-settings.ts'
import { RAY_ROWS } from './ray-settings.ts'
import { RELAY_ROWS } from './relay-settings.ts'
import { S3_ROWS } from './s3-settings.ts'
import { STREAM_ROWS } from './stream-settings.ts'
import { integer, list, oneOf, plainText, queues, seconds, secondsList, url } from './value-kinds.ts'
import { WEBHOOK_ROWS } from './webhook-settings.ts'

export type Setting<T = unknown, D extends string | null = string | null> = {
  env: string
  group: string
  default: D
  about: string
  kind: z.ZodType<T, string>
  /** Never shown, not even in part. URLs are shown without their password. */
  secret?: boolean
}

const DAY = 86_400
const YEAR = 365 * DAY
const MIB = 1_048_576

type Row<T, D> = Omit<Setting<T>, 'default' | 'group'> & { default: D }

function group<S extends Record<string, Row<unknown, string | null>>>(name: string, rows: S) {
  return Object.fromEntries(Object.entries(rows).map(([key, row]) => [key, { ...row, group: name }])) as {
    [K in keyof S]: S[K] & { group: string }
  }
}

const http = group('HTTP', {
  host: {
    env: 'HOLDFAST_HOST',
    default: '127.0.0.1',
    about: 'Address the API listens on.',
    kind: plainText(),
  },
  port: {
    env: 'HOLDFAST_PORT',
    default: '4600',
    about: 'Port the API listens on; 0 takes any free one.',
    kind: integer(0, 65_535),
  },
  publicUrl: {
    env: 'HOLDFAST_PUBLIC_URL',
    default: null,
    about: 'Address under which others reach the API; used in links. Without it, links are made from host and port.',
    kind: url(['http:', 'https:'], 'https://holdfast.example.org'),
  },
  dashboardDir: {
    env: 'HOLDFAST_DASHBOARD_DIR',
    default: null,
    about:
      'Folder of the built dashboard, served under `/ui/`. Without it, `dashboard/dist` of the installation, which `npm start` builds when it is missing or old.',
    kind: plainText(),
  },
  bodyLimitBytes: {
    env: 'HOLDFAST_BODY_LIMIT_BYTES',
    default: String(MIB),
    about: 'Largest request body.',
    kind: integer(1_024, 1_024 * MIB),
  },
  uploadKeepSeconds: {
    env: 'HOLDFAST_UPLOAD_KEEP_SECONDS',
    default: String(DAY),
    about: 'How long a resumable upload is kept after the last bytes of it came, finished or not.',
    kind: seconds(1, 30 * DAY),
  },
  uploadsOpenMax: {
    env: 'HOLDFAST_UPLOADS_OPEN_MAX',
    default: '1000',
    about: 'Resumable uploads that one owner may have begun and not finished.',
    kind: integer(1, 1_000_000),
  },
  fileBytesMax: {
    env: 'HOLDFAST_FILE_MAX_BYTES',
    default: String(5 * 1_024 * MIB),
    about: 'Largest uploaded file.',
    kind: integer(1, 8_796_093_022_208),
  },
  uploadIdleSeconds: {
    env: 'HOLDFAST_UPLOAD_IDLE_SECONDS',
    default: '60',
    about: 'An upload may take as long as it takes; one that brings nothing for this long is ended.',
    kind: seconds(0.1, 3_600),
  },
  eventPollSeconds: {
    env: 'HOLDFAST_EVENT_POLL_SECONDS',
    default: '0.1',
    about: 'How often the API looks for new events while somebody follows them or waits for a run.',
    kind: seconds(0.01, 60),
  },
})

const access = group('Access', {
  mode: {
    env: 'HOLDFAST_ACCESS',
    default: 'auto',
    about:
      'auto: open on this machine until the first token exists, tokens from then on. open: no tokens, on loopback only. tokens: never without one.',
    kind: oneOf(['auto', 'open', 'tokens']),
  },
  ratePerMinute: {
    env: 'HOLDFAST_RATE_LIMIT_PER_MINUTE',
    default: '12000',
    about: 'Requests a minute that one token may make at one API process; 0 for no limit.',
    kind: integer(0, 100_000_000),
  },
  rateBurst: {
    env: 'HOLDFAST_RATE_LIMIT_BURST',
    default: null,
    about: 'Requests that may come at once after a pause. Without it, as many as the limit allows in a minute.',
    kind: integer(1, 100_000_000),
  },
  openRatePerMinute: {
    env: 'HOLDFAST_OPEN_RATE_LIMIT_PER_MINUTE',
    default: '0',
    about: 'The same for each client address while there are no tokens; 0 for no limit.',
    kind: integer(0, 100_000_000),
  },
})

const storage = group('Storage', {
  dataDir: {
    env: 'HOLDFAST_DATA_DIR',
    default: '.holdfast',
    about: 'Folder of the embedded database, used by `npm start` when DATABASE_URL is not set.',
    kind: plainText(),
  },
  artifactsDir: {
    env: 'HOLDFAST_ARTIFACTS_DIR',
    default: 'artifacts',
    about:
      'Folder for files, large results, outputs of steps and logs. API and workers of one database must see the same folder. Not used with S3_BUCKET.',
    kind: plainText(),
  },
  databaseUrl: {
    env: 'DATABASE_URL',
    default: null,
    about: 'Postgres 14 or newer, not through a pooler in transaction mode. Without it `npm start` brings its own.',
    kind: url(['postgres:', 'postgresql:'], 'postgres://user:password@host:5432/holdfast'),
  },
  databasePool: {
    env: 'HOLDFAST_DATABASE_POOL',
    default: '10',
    about: 'Connections of one process to Postgres, beside the few for wake-ups and heartbeats.',
    kind: integer(2, 1_000),
  },
  redisUrl: {
    env: 'REDIS_URL',
    default: null,
    about: 'Redis 7 or newer for wake-ups, which go through Postgres without it, and for HOLDFAST_STREAM.',
    kind: url(['redis:', 'rediss:'], 'redis://host:6379'),
  },
})

const worker = group('Workers', {
  models: {
    env: 'HOLDFAST_MODELS',
    default: '',
    about:
      'Modules that export models and YAML files that declare them, between commas. `npm start` without it loads the examples and `holdfast.yaml` of the working folder.',
    kind: list(/./, 'must be paths between commas, e.g. ./models/forecast.ts'),
  },
  queues: {
    env: 'HOLDFAST_QUEUES',
    default: 'default',
    about: 'Queues a worker takes runs from, each with an optional limit of runs at once: `default,gpu:2`.',
    kind: queues(),
  },
  concurrency: {
    env: 'HOLDFAST_CONCURRENCY',
    default: '10',
    about: 'Runs one worker process executes at once.',
    kind: integer(1, 10_000),
  },
  probePort: {
    env: 'HOLDFAST_WORKER_PORT',
    default: null,
    about:
      'Port on which `holdfast worker` answers /metrics, /livez and /readyz; 0 takes any free one. Without it there is none. Not used under `npm start`.',
    kind: integer(0, 65_535),
  },
  probeHost: {
    env: 'HOLDFAST_WORKER_HOST',
    default: '127.0.0.1',
    about: 'Address for that port.',
    kind: plainText(),
  },
  workers: {
    env: 'HOLDFAST_WORKERS',
    default: '1',
    about: 'Worker processes under `npm start`; 0 starts the API alone.',
    kind: integer(0, 256),
  },
  leaseSeconds: {
    env: 'HOLDFAST_LEASE_SECONDS',
    default: '60',
    about: 'How long a run belongs to a worker that gives no sign of life; the heartbeat comes at a third of it.',
    kind: seconds(0.2, DAY),
  },
  pollSeconds: {
    env: 'HOLDFAST_POLL_SECONDS',
    default: '1',
    about: 'How often an idle worker looks for runs when no wake-up comes.',
    kind: seconds(0.01, 3_600),
  },
  janitorSeconds: {
    env: 'HOLDFAST_JANITOR_SECONDS',
    default: '1',
    about: 'How often a worker looks for expired leases and overdue cancels.',
    kind: seconds(0.05, 3_600),
  },
  shutdownGraceSeconds: {
    env: 'HOLDFAST_SHUTDOWN_GRACE_SECONDS',
    default: '30',
    about: 'How long a worker that was told to stop lets its runs finish before it releases them.',
    kind: seconds(0, DAY),
  },
  cancelGraceSeconds: {
    env: 'HOLDFAST_CANCEL_GRACE_SECONDS',
    default: '10',
    about: 'How long cancelled work may take to end by itself before it is killed.',
    kind: seconds(0, DAY),
  },
  cancelConfirmSeconds: {
    env: 'HOLDFAST_CANCEL_CONFIRM_SECONDS',
    default: '60',
    about: 'After this time a cancelled run ends even if its worker has not confirmed that the work is gone.',
    kind: seconds(0.1, DAY),
  },
  adoptSeconds: {
    env: 'HOLDFAST_ADOPT_SECONDS',
    default: '60',
    about:
      'How long after its lease expired an attempt that runs in an engine is left for another worker to adopt before it counts as lost.',
    kind: seconds(0, DAY),
  },
  loopSilenceSeconds: {
    env: 'HOLDFAST_LOOP_SILENCE_SECONDS',
    default: '300',
    about: 'Leases are no longer extended when the main loop of a worker has been silent for this long.',
    kind: seconds(0.2, DAY),
  },
  deadlineGraceSeconds: {
    env: 'HOLDFAST_DEADLINE_GRACE_SECONDS',
    default: '10',
    about: 'A lease is never extended past the timeout of an attempt plus this time.',
    kind: seconds(0, DAY),
  },
  memoryLimitMb: {
    env: 'HOLDFAST_MEMORY_LIMIT_MB',
    default: '2048',
    about: 'Resident memory of one pool process above which its attempt is ended; 1 MB is 1,048,576 bytes.',
    kind: integer(64, 1_048_576),
  },
  childEnv: {
    env: 'HOLDFAST_CHILD_ENV',
    default: '',
    about:
      'Environment variables handed to the processes that execute models, between commas. Nothing else of ours is.',
    kind: list(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be names of environment variables between commas'),
  },
})

const runs = group('Runs', {
  maxAttempts: {
    env: 'HOLDFAST_MAX_ATTEMPTS',
    default: '3',
    about: 'Attempts of a run unless its model or queue says otherwise.',
    kind: integer(1, 1_000),
  },
  retryDelaysSeconds: {
    env: 'HOLDFAST_RETRY_DELAYS_SECONDS',
    default: '5,20,60',
    about: 'Waits before the second, third, … attempt; the last one repeats.',
    kind: secondsList(YEAR),
  },
  timeoutSeconds: {
    env: 'HOLDFAST_TIMEOUT_SECONDS',
    default: String(DAY),
    about: 'Longest an attempt may take when its model sets neither a timeout nor an expected duration.',
    kind: seconds(0.1, YEAR),
  },
  keyTtlSeconds: {
    env: 'HOLDFAST_KEY_TTL_SECONDS',
    default: String(DAY),
    about: 'How long an idempotency key is remembered; at least until its run has ended.',
    kind: seconds(0.1, YEAR),
  },
  dedupeWindowSeconds: {
    env: 'HOLDFAST_DEDUPE_WINDOW_SECONDS',
    default: '600',
    about:
      'Without a key, the same input within this time returns the run that is already active; 0 switches this off.',
    kind: seconds(0, YEAR),
  },
  resultInlineBytes: {
    env: 'HOLDFAST_RESULT_INLINE_BYTES',
    default: String(65_536),
    about: 'Results up to this size are stored in Postgres, larger ones in the artifacts folder.',
    kind: integer(0, 16 * MIB),
  },
  resultMaxBytes: {
    env: 'HOLDFAST_RESULT_MAX_BYTES',
    default: String(64 * MIB),
    about: 'A larger result fails its attempt.',
    kind: integer(1_024, 1_024 * MIB),
  },
})

const log = group('Logs', LOG_ROWS)

const command = group('Commands', COMMAND_ROWS)

const s3 = group('S3', S3_ROWS)

const ray = group('Ray', RAY_ROWS)

const kubernetes = group('Kubernetes', KUBERNETES_ROWS)

const relay = group('Relay', RELAY_ROWS)

const outbox = group('Outbox', OUTBOX_ROWS)

const webhooks = group('Webhooks', WEBHOOK_ROWS)

const mail = group('Mail', MAIL_ROWS)

const stream = group('Stream', STREAM_ROWS)

const client = group('Clients', {
  url: {
    env: 'HOLDFAST_URL',
    default: null,
    about: 'Address of the service for command-line clients; the service itself does not use it.',
    kind: url(['http:', 'https:'], 'http://127.0.0.1:4600'),
  },
  token: {
    env: 'HOLDFAST_TOKEN',
    default: null,
    about: 'Access token of command-line clients; the service itself does not use it.',
    kind: plainText(),
    secret: true,
  },
})

export const SETTINGS = {
  http,
  access,
  storage,
  s3,
  worker,
  runs,
  command,
  ray,
  kubernetes,
  relay,
  outbox,
  webhooks,
  mail,
  stream,
  log,
  client,
}

export const ALL_SETTINGS: readonly Setting[] = Object.values(SETTINGS).flatMap(
  (rows) => Object.values(rows) as Setting[],
)

type SettingValue<S> = S extends { kind: z.ZodType<infer T>; default: infer D }
  ? null extends D
    ? T | null
    : T
  : never

/** The read values, by the keys of the table. */
export type SettingValues = {
  [G in keyof typeof SETTINGS]: { [K in keyof (typeof SETTINGS)[G]]: SettingValue<(typeof SETTINGS)[G][K]> }
}
