/**
 * Requests coming in: what the HTTP service is made of and what it needs from the rest of the house.
 *
 * A request passes the guards (`guards.ts`), then its route (`routes/`, one file per resource), which asks the store
 * and answers JSON. Every error, also one of the framework or of a malformed request, leaves as problem+json
 * (`problem.ts`). Nothing is kept between requests but short-lived copies of registered models and queues.
 */

import type { BlobStore } from '../blob/blob.ts'
import type { RedactOptions } from '../run/redaction.ts'
import type { RetryPolicyInput } from '../run/retry.ts'
import type { Store } from '../store/store.ts'
import type { Log } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { Wakeup } from '../wakeup/wakeup.ts'
import type { DashboardBuildState } from './dashboard-absent-page.ts'
import type { ShowMail } from './present-delivery.ts'
import type { RouteDoc } from './route-doc.ts'

/** The slices of the configuration the service needs; the whole configuration fits. */
export type ApiConfig = {
  http: {
    bodyLimitBytes: number
    /** For a whole request, headers and body, to arrive; 30 seconds by default. */
    requestTimeoutMs?: number
    /** An upload may go on for as long as it takes, and not be silent for longer than this; 60 seconds by default. */
    uploadIdleMs?: number
    /** Of one uploaded file; 5 GiB by default. */
    fileBytesMax?: number
    /** How long a resumable upload is kept after its last bytes came; a day by default. */
    uploadKeepSeconds?: number
    /** Resumable uploads that one owner may have unfinished; 1,000 by default. */
    uploadsOpenMax?: number
    /** Under which others reach the service, when that is not what the Host header says. */
    publicUrl?: string | null
  }
  access?: AccessConfig
  events?: {
    /** How often the feed is looked at while somebody listens; 100 ms by default. */
    pollMs?: number
    /** How often a batch is counted while somebody follows it; a second by default. */
    batchPollMs?: number
    heartbeatMs?: number
    /** So much may wait to be taken by one reader of a stream. */
    bufferBytesMax?: number
  }
  submit: {
    /** Of an attempt whose model says neither a timeout nor an expected duration. */
    timeoutSeconds: number
    /** How long an explicit idempotency key is kept by default. */
    keyTtlSeconds: number
    /** How long an equal payload without a key counts as the same request; 0 for never. */
    dedupeWindowSeconds: number
  }
  /** Of the leases of remote workers; those of our own workers by default. */
  worker?: { leaseMs: number; pollMs: number; deadlineGraceMs: number }
  /** Of the results of remote workers. */
  result?: { inlineBytesMax: number; bytesMax: number }
  /** Hosts that webhooks may reach although they are private: names, addresses and ranges. */
  webhooks?: { allow: readonly string[] }
  /** The global retry policy, under those of queue and model. */
  retry: RetryPolicyInput
  log: {
    redactWords: readonly string[]
    /** Asked before the words about each value that would be shown. */
    redactHook?: RedactOptions['hook'] | null
  }
}

/** Who may use the service and how often. Without it: open until a token exists, and no limits. */
export type AccessConfig = {
  mode: 'auto' | 'open' | 'tokens'
  /** Of one token; 0 for no limit. */
  ratePerMinute: number
  /** Null for as many as in a minute. */
  rateBurst: number | null
  /** Of one client address in open mode; 0 for no limit. */
  openRatePerMinute: number
}

export type ApiDeps = {
  store: Store
  blob: BlobStore
  wakeup: Wakeup
  log: Log
  metrics: Metrics
  config: ApiConfig
  /** The text of a mail, for those who look at its delivery; without it none is shown. */
  showMail?: ShowMail
  /** What a host name resolves to, asked when a webhook is registered; without it names are judged at each sending only. */
  lookUp?: (host: string) => Promise<{ address: string }[]>
  /** The folder of the built dashboard, and whether somebody is building it right now. Without it there is none. */
  dashboard?: { dir: string; buildState?: () => DashboardBuildState }
  /** True once the process has been asked to stop: readiness ends before the listener does. */
  isStopping?: () => boolean
}

/** Who may use a route. Without tokens everyone on this machine may use all of them. */
export type Role = 'public' | 'viewer' | 'submitter' | 'worker' | 'operator' | 'admin'

/** `required`: a JSON body; `optional`: JSON or nothing; `upload`: bytes of any type, read by the route as they come. Of unsafe routes only. */
export type BodyRule = 'required' | 'optional' | 'upload'

declare module 'fastify' {
  interface FastifyContextConfig {
    role?: Role
    body?: BodyRule
    doc?: RouteDoc
  }
  interface FastifyInstance {
    /** Every route as registered, for the Allow header and for tests that visit them all. */
    registeredRoutes: RegisteredRoute[]
  }
}

export type RegisteredRoute = { method: string; url: string; role: Role; body: BodyRule | null; doc: RouteDoc }
