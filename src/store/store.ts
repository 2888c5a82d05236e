/**
 * The port to runs at rest: every verb of a run's life, each one short transaction.
 *
 * A verb is a single guarded statement whose row count decides what happened; zero rows is an answer, never ignored. Submits and
 * settles are group-committed: calls that arrive while a commit is in flight share the next one. All times are the
 * database's. Nothing outside `src/store` contains SQL.
 */

import type { RunCost } from '../run/cost.ts'
import type { ModelDefinition } from '../run/definition.ts'
import type { Refusal } from '../run/errors.ts'
import type { Found } from '../run/facets.ts'
import type { QuotaWarning } from '../run/quota.ts'
import type { RetryPolicyInput } from '../run/retry.ts'
import type { RunKey } from '../run/runs-per-key.ts'
import type { AttemptState, RunStatus } from '../run/status.ts'
import type { Waiting } from '../run/waiting.ts'
import type { Artifacts } from './ports/artifacts.ts'
import type { AttemptLogs } from './ports/attempt-logs.ts'
import type { Attempts } from './ports/attempts.ts'
import type { Audit } from './ports/audit.ts'
import type { Batches } from './ports/batches.ts'
import type { Blobs } from './ports/blobs.ts'
import type { Blocks } from './ports/blocks.ts'
import type { Bulk } from './ports/bulk.ts'
import type { Costs, RunCosts } from './ports/costs.ts'
import type { Deliveries } from './ports/deliveries.ts'
import type { Directory } from './ports/directory.ts'
import type { Feed } from './ports/feed.ts'
import type { DescribedFile, Files, RunFile } from './ports/files.ts'
import type { Outbox } from './ports/outbox.ts'
import type { Overdue } from './ports/overdue.ts'
import type { Quotas } from './ports/quotas.ts'
import type { Receivers } from './ports/receivers.ts'
import type { Remote } from './ports/remote.ts'
import type { Reservations } from './ports/reservations.ts'
import type { ResumableUploads } from './ports/resumable-uploads.ts'
import type { Search } from './ports/search.ts'
import type { Stats } from './ports/stats.ts'
import type { Steps } from './ports/steps.ts'
import type { Tokens } from './ports/tokens.ts'
import type { Views } from './ports/views.ts'

export type Dedupe = 'active' | 'succeeded' | 'off'

/** A validated, normalised, hashed request for a run. `id` is made before the transaction, so a repeat can be recognised. */
export type NewRun = {
  id: string
  owner: string
  model: string
  modelVersion: string
  queue: string
  priority: number
  executor: string
  /** Normalised (defaults applied), and the same as canonical text. */
  parameters: unknown
  parametersText: string
  payloadHash: string
  seed: number
  maxAttempts: number
  timeoutSeconds: number
  expectedSeconds: number | null
  /** ISO time before which the run must not start; null for at once. */
  availableAt: string | null
  key: { key: string; ttlSeconds: number } | null
  /** null: an explicit key decides alone, no slot is looked at. */
  slot: { dedupe: 'active' | 'succeeded'; windowSeconds: number } | null
  title: string | null
  tags: string[]
  batchId: string | null
  retryOf: string | null
  traceParent: string | null
  /** The files among the parameters; their owner must have them. */
  files?: RunFile[]
  /** A run of the same model and version whose committed steps count as this run's own. */
  stepsFrom?: string
  /** Of the same owner: consumed in the transaction that creates the run. */
  reservationId?: string
  /** What it is expected to cost, where its model says so. */
  cost?: RunCost
  /** At most so many active runs have this key. */
  concurrency?: RunKey
  /** Who asks may see everyone's runs, also as holders of a limit that refuses this one. */
  seesAll?: true
}

/**
 * `warnings`: limits that are nearly used up, or passed where that is only told; of a new run alone. `isHinted`: the queue of the run has been
 * hinted at already.
 */
export type Submitted = { run: Run; idempotentHit: boolean; warnings?: QuotaWarning[]; isHinted?: boolean }

export type Run = {
  id: string
  status: RunStatus
  owner: string
  model: string
  modelVersion: string
  queue: string
  priority: number
  executor: string
  parameters: unknown
  payloadHash: string
  seed: number
  title: string | null
  tags: string[]
  batchId: string | null
  retryOf: string | null
  reproduces: string | null
  createdAt: Date
  availableAt: Date
  startedAt: Date | null
  finishedAt: Date | null
  timeoutSeconds: number
  expectedSeconds: number | null
  maxAttempts: number
  attemptCount: number
  releaseCount: number
  reclaimCount: number
  leaseOwner: string | null
  leaseExpiresAt: Date | null
  leaseEpoch: number
  heartbeatAt: Date | null
  cancelRequestedAt: Date | null
  /** Since when the present attempt has been overdue; null where it is not, and in answers of submits and cancels. */
  overdueSince: Date | null
  eventSeq: number
  lastError: { class: string; message: string; attempt: number } | null
  resultRef: string | null
  resultHash: string | null
}

export type Attempt = {
  attempt: number
  state: AttemptState
  executor: string
  workerId: string
  submittedAt: Date
  startedAt: Date | null
  finishedAt: Date | null
  exitCode: number | null
  error: { class: string; message: string; stack: string | null } | null
  externalRef: unknown
  progress: unknown
  /** Known at the end of attempts whose executor measures. */
  cpuSeconds: number | null
  peakMemoryBytes: number | null
  /** Where what it printed is; null when it printed nothing. */
  logRef: string | null
}

/** `files`: those among the parameters; without it there are none. `cost`: null or not there for a run without one. */
export type RunDetail = {
  run: Run
  attempts: Attempt[]
  waiting: Waiting | null
  files?: DescribedFile[]
  cost?: RunCosts | null
}

/** The right to execute a run until `lease_expires_at`, fenced by `epoch`. */
export type Lease = {
  runId: string
  epoch: number
  attempt: number
  owner: string
  model: string
  modelVersion: string
  queue: string
  executor: string
  parameters: unknown
  payloadHash: string
  seed: number
  timeoutSeconds: number
  maxAttempts: number
  releaseCount: number
  reclaimCount: number
  /** From creation to the first start. */
  queuedSeconds: number
  /** From the first start to this claim. */
  startedSeconds: number
  /** Where the run lay in its table when it was claimed. Whatever changes the run moves it. */
  row?: string
}

/** What a worker can take: never more than `slots`, nor more than the room of a queue or of a model (null for no limit). */
export type ClaimRequest = {
  workerId: string
  leaseMs: number
  slots: number
  queues: { queue: string; room: number | null }[]
  models: { model: string; version: string; room: number | null }[]
  /** Executors that hand their work to an engine: their attempts are SUBMITTED until a sign of life. */
  engines?: string[]
}

/** `lost`: an engine's job is gone for good; as after a dead worker the attempt counts. */
export type SettleKind = 'succeed' | 'fail' | 'retry' | 'cancel' | 'release' | 'lost'

export type Settlement = {
  runId: string
  epoch: number
  attempt: number
  workerId: string
  kind: SettleKind
  /** Where the run may still lie, when its lease says. */
  row?: string
  error?: { class: string; message: string; stack: string | null; exitCode?: number | null }
  delaySeconds?: number
  /** Of a success: where the result is (`inline` or a blob reference), its hash and, when inline, its canonical text. */
  result?: { ref: string; hash: string; text: string | null }
  /** Of a success: what its run is found by. */
  found?: Found
  /** Of a run with a cost, which is settled with it. `reported`: what the attempt says it cost, null when it does not say. */
  cost?: { reported: number | null }
}

/** `stale`: the lease was lost before, nothing changed. `repeated`: an earlier sending of this settlement had been committed. */
export type Settled = { status: RunStatus | 'stale'; repeated: boolean }

export type HeartbeatAnswer = { runId: string; epoch: number; state: 'held' | 'cancel-requested' | 'lost' }

export type Reclaimed = {
  runId: string
  attempt: number
  workerId: string
  status: RunStatus
  model: string
  queue: string
  executor: string
  payloadHash: string
  overdueMs: number
}

export type Cancelled =
  | { outcome: 'cancelled'; run: Run }
  | { outcome: 'requested'; run: Run; holder: string }
  | { outcome: 'already-finished'; run: Run }
  | { outcome: 'not-found' }

export type RunPage = { runs: Run[]; nextCursor: string | null }

export type RegisteredModel = { definition: ModelDefinition; registeredAt: Date }

export type WorkerRegistration = {
  workerId: string
  host: string
  pid: number
  version: string
  queues: string[]
  /** By queue, how many runs of it this worker executes at once; a queue that is not named has no limit of its own. */
  queueLimits?: Record<string, number>
  concurrency: number
  models: ModelDefinition[]
  /** Registered as well, and left to others: models that remote workers lease, or that need an executor this worker has not. */
  declared?: ModelDefinition[]
}

export type QueueState = { queue: string; paused: boolean; retry: RetryPolicyInput }

export interface Store {
  submit(run: NewRun): Promise<Submitted | Refusal>
  submitMany(runs: NewRun[]): Promise<(Submitted | Refusal)[]>
  claim(request: ClaimRequest): Promise<Lease[]>
  settle(settlement: Settlement): Promise<Settled>
  /** Many at once, one answer for each, in order: an error where it could not be settled, which says nothing about the others. */
  settleAll(settlements: Settlement[]): Promise<(Settled | Error)[]>
  /** Attempts that an engine has are left for others to adopt until `adoptMs` (a minute when not given) after their lease expired. */
  reclaimExpired(options: { workerId: string; limit: number; adoptMs?: number }): Promise<Reclaimed[]>
  /** Ends RUNNING runs whose cancel was requested longer than `afterMs` ago and whose holder has not confirmed. */
  confirmOverdueCancels(options: { afterMs: number; limit: number; adoptMs?: number }): Promise<Reclaimed[]>
  /** `sees`: whose runs may be cancelled, null for everyone's; any other run is `not-found`. */
  cancel(runId: string, sees?: string | null): Promise<Cancelled>
  saveProgress(items: { runId: string; epoch: number; attempt: number; progress: unknown }[]): Promise<void>
  /** `sees`: whose runs may be named as holders of a limit, null for everyone's; without it, those of the run's own owner. */
  readRun(runId: string, sees?: string | null): Promise<RunDetail | null>
  readResult(runId: string): Promise<{ run: Run; text: string | null } | null>
  registerWorker(registration: WorkerRegistration): Promise<void>
  workerStopped(workerId: string): Promise<void>
  findModel(name: string, version: string | null): Promise<RegisteredModel | null>
  listModelNames(): Promise<string[]>
  readQueues(): Promise<QueueState[]>
  setQueuePaused(queue: string, paused: boolean): Promise<void>
  queueDepths(): Promise<{ queue: string; pending: number }[]>
  /** How many hold a place now. */
  countReservations(): Promise<number>
  deleteExpiredKeys(limit: number): Promise<number>
  forgetDeadWorkers(afterMs: number): Promise<number>
  /** Binds this database to an artifacts folder on first use and answers which one it is bound to. */
  bindArtifactsFolder(identity: string): Promise<string>
  /** What the service signs with, the same in every process; made when it is first asked for. */
  signingKey(key: 'unsubscribe'): Promise<string>
  search: Search
  views: Views
  bulk: Bulk
  feed: Feed
  tokens: Tokens
  audit: Audit
  directory: Directory
  stats: Stats
  remote: Remote
  attempts: Attempts
  attemptLogs: AttemptLogs
  steps: Steps
  artifacts: Artifacts
  blobs: Blobs
  blocks: Blocks
  overdue: Overdue
  batches: Batches
  files: Files
  resumableUploads: ResumableUploads
  quotas: Quotas
  reservations: Reservations
  costs: Costs
  outbox: Outbox
  receivers: Receivers
  deliveries: Deliveries
  ping(): Promise<void>
  close(): Promise<void>
}
