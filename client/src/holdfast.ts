/**
 * The client. Every call may be given a signal and a timeout; what it retries, and what it never does, is said in `retry.ts`.
 *
 *     const client = new Holdfast({ url: 'http://localhost:4600' })
 *     const result = await client.submitAndWait('baseline_forecast_v1', { scenario: 'high', region: 'AU' })
 */

import { type ArtifactsOptions, allArtifacts, openArtifact } from './artifacts.ts'
import { type BatchOutcome, submitBatch } from './batch.ts'
import { type Batches, batchesOf } from './batches.ts'
import { type Clock, wallClock } from './clock.ts'
import { allEvents, type EventsOptions, type RunEvent } from './events.ts'
import { type FeedFilter, type FeedOptions, followFeed } from './feed.ts'
import { type Files, filesOf } from './files.ts'
import { checkedKey, keyHeader, newKey } from './idempotency-key.ts'
import { listRuns, pages, type RunFilter, type RunPageOptions, runPage } from './list.ts'
import { allLogs, type FollowLogsOptions, followLogs, type LogsOptions } from './logs.ts'
import type { AnyModel, ModelLike, ParametersOf, ResultOf } from './model-type.ts'
import { type Resources, resourcesOf } from './resources.ts'
import { RETRIES_MAX } from './retry.ts'
import { type BatchItem, type SubmitOptions, type Submitted, submitBody, submitRun, submitted } from './submit.ts'
import { type CallOptions, Transport } from './transport.ts'
import type { UploadMemory } from './upload.ts'
import { endOf, preferWait, requireSuccess, type WaitOptions } from './wait.ts'
import { type WatchOptions, watchRun } from './watch.ts'
import type { Artifact, LogPiece, Page, Place, Run, RunRetry, SubmittedRun } from './wire.ts'
import type { Step } from './wire-leases.ts'
import type { ListOrder } from './wire-operations.ts'

const TIMEOUT_MS = 120_000
const UPLOAD_TIMEOUT_MS = 300_000

export type HoldfastOptions = {
  /** Where the service is, such as `http://localhost:4600`; in a page of the service itself it may be empty. */
  url: string
  token?: string | undefined
  /** For whom to act: anyone without tokens, with tokens only operators and administrators. */
  owner?: string | undefined
  /** Of one request; 120 seconds when not given. */
  timeoutMs?: number
  /** Of one request that carries much; 300 seconds when not given. */
  uploadTimeoutMs?: number
  /** How often a request is sent again; 3 times when not given. */
  retries?: number
  /** Where unfinished uploads are remembered; in the memory of this client when not given. */
  uploadMemory?: UploadMemory
  /** Called for each warning that came with an accepted run; warnings are in the answer too. */
  onWarning?: (warning: string, submitted: Submitted) => void
  fetch?: typeof fetch
  clock?: Clock
}

export class Holdfast {
  readonly models: Resources['models']
  readonly queues: Resources['queues']
  readonly workers: Resources['workers']
  readonly bulk: Resources['bulk']
  readonly failures: Resources['failures']
  readonly stats: Resources['stats']
  readonly views: Resources['views']
  readonly tokens: Resources['tokens']
  readonly quotas: Resources['quotas']
  readonly reservations: Resources['reservations']
  readonly webhooks: Resources['webhooks']
  readonly recipients: Resources['recipients']
  readonly deliveries: Resources['deliveries']
  readonly audit: Resources['audit']
  readonly session: Resources['session']
  readonly files: Files
  readonly batches: Batches
  readonly #transport: Transport
  readonly #uploadTimeoutMs: number
  readonly #onWarning: HoldfastOptions['onWarning']

  constructor(options: HoldfastOptions) {
    this.#transport = new Transport({
      url: checkedUrl(options.url),
      headers: checkedHeaders(options),
      // Called as a method of anything but the window, the browser's own fetch refuses to work.
      fetch: options.fetch ?? ((...request) => globalThis.fetch(...request)),
      clock: options.clock ?? wallClock,
      timeoutMs: options.timeoutMs ?? TIMEOUT_MS,
      retriesMax: options.retries ?? RETRIES_MAX,
    })
    this.#uploadTimeoutMs = options.uploadTimeoutMs ?? options.timeoutMs ?? UPLOAD_TIMEOUT_MS
    this.#onWarning = options.onWarning
    const resources = resourcesOf(this.#transport)
    this.models = resources.models
    this.queues = resources.queues
    this.workers = resources.workers
    this.bulk = resources.bulk
    this.failures = resources.failures
    this.stats = resources.stats
    this.views = resources.views
    this.tokens = resources.tokens
    this.quotas = resources.quotas
    this.reservations = resources.reservations
    this.webhooks = resources.webhooks
    this.recipients = resources.recipients
    this.deliveries = resources.deliveries
    this.audit = resources.audit
    this.session = resources.session
    this.batches = batchesOf(this.#transport)
    const uploads = { timeoutMs: this.#uploadTimeoutMs, memory: options.uploadMemory }
    this.files = filesOf(this.#transport, this.batches, uploads)
  }

  /** `submit<typeof forecast>(…)` checks the parameters and types what comes of the run. */
  async submit<M extends ModelLike = AnyModel>(
    model: string,
    parameters: ParametersOf<M>,
    options: SubmitOptions = {},
  ): Promise<Submitted<M>> {
    return this.#warn(await submitRun<M>(this.#transport, submitBody(model, parameters, options), options))
  }

  /** The result. RunFailed or RunCancelled when there is none; Timeout when `waitMs` is given and over. */
  async submitAndWait<M extends ModelLike = AnyModel>(
    model: string,
    parameters: ParametersOf<M>,
    options: SubmitOptions & WaitOptions = {},
  ): Promise<ResultOf<M>> {
    const { timeoutMs, waitMs = Number.POSITIVE_INFINITY } = options
    const sinceMs = this.#transport.clock.nowMs()
    const headers = preferWait(this.#transport, timeoutMs, waitMs)
    const body = submitBody(model, parameters, options)
    const { run, runId, key } = this.#warn(await submitRun<M>(this.#transport, body, { ...options, headers }))
    requireSuccess(await endOf(this.#transport, runId, { ...options, known: run, key, sinceMs }))
    return this.result<M>(runId, options)
  }

  /** Any number of runs, in requests of at most 1,000. One outcome per item, in their order. */
  async batch<M extends ModelLike = AnyModel>(
    items: readonly BatchItem<M>[],
    options: CallOptions = {},
  ): Promise<BatchOutcome[]> {
    const calls = { timeoutMs: this.#uploadTimeoutMs, ...options }
    const outcomes = await submitBatch(this.#transport, items as readonly BatchItem[], calls)
    for (const outcome of outcomes) if (outcome.ok) this.#warn(outcome.submitted)
    return outcomes
  }

  get(runId: string, options: CallOptions = {}): Promise<Run> {
    return this.#get(runPath(runId), options)
  }

  /** The run as it ended, well or not. Timeout when `waitMs` is given and over. */
  wait(runId: string, options: WaitOptions = {}): Promise<Run> {
    return endOf(this.#transport, runId, options)
  }

  /** Conflict while it has not ended, RunFailed or RunCancelled when it never will have one. */
  result<M extends ModelLike = AnyModel>(run: string | Submitted<M>, options: CallOptions = {}): Promise<ResultOf<M>> {
    return this.#get(`${runPath(typeof run === 'string' ? run : run.runId)}/result`, options)
  }

  /** How many bytes of JSON the result has, without fetching it; null when something between does not say. */
  async resultBytes(runId: string, { signal, timeoutMs }: CallOptions = {}): Promise<number | null> {
    const call = { method: 'HEAD', path: `${runPath(runId)}/result`, repeat: 'always', signal, timeoutMs } as const
    const length = (await this.#transport.send(call)).headers.get('content-length')
    return length === null ? null : Number(length)
  }

  /** Each event once and in order, from the first or behind `after`, until the run has ended; resumes by itself. */
  watch(runId: string, options: WatchOptions = {}): AsyncGenerator<RunEvent, void, void> {
    return watchRun(this.#transport, runId, options)
  }

  /** What its attempts printed up to now. */
  logs(runId: string, options: LogsOptions = {}): AsyncGenerator<LogPiece, void, void> {
    return allLogs(this.#transport, runId, options)
  }

  /** What its attempts printed, and then each piece as it comes, until the run has ended; resumed by itself. */
  followLogs(runId: string, options: FollowLogsOptions = {}): AsyncGenerator<LogPiece, void, void> {
    return followLogs(this.#transport, runId, options)
  }

  /** The places that its result names. */
  async places(runId: string, options: CallOptions = {}): Promise<Place[]> {
    return (await this.#get<{ data: Place[] }>(`${runPath(runId)}/places`, options)).data
  }

  /** The runs that retry it, newest first. */
  async retries(runId: string, options: CallOptions = {}): Promise<RunRetry[]> {
    return (await this.#get<{ data: RunRetry[] }>(`${runPath(runId)}/retries`, options)).data
  }

  /** The files its attempts left. */
  artifacts(runId: string, options: ArtifactsOptions = {}): AsyncGenerator<Artifact, void, void> {
    return allArtifacts(this.#transport, runId, options)
  }

  /** The response, its body not read yet: `.body` is a stream of the bytes, and who stops reading cancels it. */
  download(runId: string, artifact: Pick<Artifact, 'attempt' | 'name'>, options: CallOptions = {}): Promise<Response> {
    return openArtifact(this.#transport, runId, artifact, options)
  }

  /** The events of one run up to now; or those of all runs that a filter lets through, as they happen, resumed by itself. */
  events(runId: string, options?: EventsOptions): AsyncGenerator<RunEvent, void, void>
  events(filter?: FeedFilter, options?: FeedOptions): AsyncGenerator<RunEvent, void, void>
  events(
    which: string | FeedFilter = {},
    options: EventsOptions | FeedOptions = {},
  ): AsyncGenerator<RunEvent, void, void> {
    if (typeof which === 'string') return allEvents(this.#transport, which, options as EventsOptions)
    return followFeed(this.#transport, which, options as FeedOptions)
  }

  /** All pages, newest first unless another order is asked for. */
  list(filter: RunFilter & { order?: ListOrder } = {}, options: CallOptions = {}): AsyncGenerator<Run, void, void> {
    return listRuns(this.#transport, filter, options)
  }

  /** One page of them, and the cursor of the next: null behind the last. A page may be short and still not be the last. */
  listPage(filter: RunFilter = {}, options: RunPageOptions & { order?: ListOrder } = {}): Promise<Page<Run>> {
    return runPage(this.#transport, filter, options)
  }

  /** Its steps: done, under way and to come, as far as they are known. */
  steps(runId: string, options: CallOptions = {}): AsyncGenerator<Step, void, void> {
    return pages<Step>(this.#transport, `${runPath(runId)}/steps`, {}, options)
  }

  /** A waiting run ends at once; a running one is asked to, and `cancel_requested_at` says since when. */
  cancel(runId: string, options: CallOptions = {}): Promise<Run> {
    return this.#post(`${runPath(runId)}/cancel`, {}, options)
  }

  /** For operators: lets a run go that waits for approval. Saying so again changes nothing. */
  approve(runId: string, { reason, ...options }: ApprovalOptions = {}): Promise<Run> {
    return this.#post(`${runPath(runId)}/approve`, { reason }, options)
  }

  /** For operators: cancels a run that waits for approval. */
  reject(runId: string, { reason, ...options }: ApprovalOptions = {}): Promise<Run> {
    return this.#post(`${runPath(runId)}/reject`, { reason }, options)
  }

  /** A new run of the same input; while one is active, that one. */
  async retry(runId: string, options: RetryOptions = {}): Promise<Submitted> {
    const { from, idempotencyKey, signal, timeoutMs } = options
    const key = idempotencyKey === undefined ? newKey() : checkedKey(idempotencyKey)
    const call = { method: 'POST', path: `${runPath(runId)}/retry`, repeat: 'always', key, signal, timeoutMs } as const
    const { body } = await this.#transport.send({ ...call, headers: keyHeader(key), body: { from } })
    return this.#warn(submitted(body as SubmittedRun, key))
  }

  async #get<Got>(path: string, { signal, timeoutMs }: CallOptions): Promise<Got> {
    return (await this.#transport.send({ method: 'GET', path, repeat: 'always', signal, timeoutMs })).body as Got
  }

  async #post<Got>(path: string, body: unknown, { signal, timeoutMs }: CallOptions): Promise<Got> {
    const call = { method: 'POST', path, repeat: 'always', signal, timeoutMs } as const
    return (await this.#transport.send({ ...call, body })).body as Got
  }

  #warn<M extends ModelLike>(submitted: Submitted<M>): Submitted<M> {
    for (const warning of submitted.warnings) this.#onWarning?.(warning, submitted as unknown as Submitted)
    return submitted
  }
}

export type ApprovalOptions = CallOptions & { reason?: string }

export type RetryOptions = CallOptions & { from?: 'start' | 'failed_step'; idempotencyKey?: string }

function runPath(runId: string): string {
  return `/runs/${encodeURIComponent(runId)}`
}

function checkedUrl(url: string): string {
  const { username, password } = new URL(url, 'http://localhost')
  if (username || password) throw new TypeError('give the token as `token`, not inside the url')
  return url.replace(/\/+$/, '')
}

/** Bad characters show here, and not as a connection that fails. */
function checkedHeaders({ token, owner }: HoldfastOptions): Record<string, string> {
  const headers = {
    Accept: 'application/json',
    ...(token && { Authorization: `Bearer ${token}` }),
    ...(owner && { 'Holdfast-Owner': owner }),
  }
  new Headers(headers)
  return headers
}
