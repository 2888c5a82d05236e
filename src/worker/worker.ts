/**
 * A worker: takes runs, executes them, settles them, and takes back what dead workers left.
 *
 * Four loops join the ports: the poller claims whenever a slot is free, the janitor tidies each second, progress and logs are written each second,
 * statistics every five; the heartbeat has its own thread. What happens when a worker dies: its heartbeats stop, its leases expire, and the
 * janitor of any other worker takes its runs back (`janitor.ts`), or adopts those that go on in an engine. Stopping gracefully: no more
 * claims, running work may end within the grace, the rest is aborted and released so that another worker starts it at once; work
 * in engines goes on, and its leases are let go of so that another worker adopts it at once.
 */

import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import type { Executor } from '../executor/executor.ts'
import type { ModelDefinition } from '../run/definition.ts'
import { mergeRetryPolicy, type RetryPolicy, type RetryPolicyInput } from '../run/retry.ts'
import type { Lease, Store } from '../store/store.ts'
import type { Log } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { Subscription, Topic, Wakeup } from '../wakeup/wakeup.ts'
import type { AdoptedJob } from './attempt.ts'
import type { AttemptDeps } from './attempt-deps.ts'
import { type ClaimGroup, claimGroups } from './claim-groups.ts'
import { createFlagOverdue } from './flag-overdue.ts'
import { createPlaces, type Places } from './give-places.ts'
import { Heartbeat, type HeldClaim, monotonicMs } from './heartbeat.ts'
import {
  cleanAttempts,
  cleanKeys,
  endUnconfirmedCancels,
  forgetWorkers,
  type JanitorDeps,
  reclaimExpiredLeases,
} from './janitor.ts'
import { JobOutcomes } from './job-outcomes.ts'
import type { KeepResultOptions } from './keep-result.ts'
import { LogWriter } from './log-writer.ts'
import type { Loop } from './loop.ts'
import { ProgressWriter } from './progress.ts'
import { registrationOf } from './registration.ts'
import { createStatsRoller, STATS_EVERY_MS } from './roll-stats.ts'
import { Slots } from './slots.ts'
import { createStageFiles, type InputFolder, type StageFiles } from './stage-files.ts'
import { StepStateWriter } from './step-states.ts'
import { createSuccessLog } from './success-log.ts'
import { createTidyCosts } from './tidy-costs.ts'
import { createTidyQuotas } from './tidy-quotas.ts'
import { Underway } from './underway.ts'
import { watchedLoop } from './watched-loop.ts'
import type { WorkerSettings } from './worker-settings.ts'

export type { WorkerSettings } from './worker-settings.ts'

export type WorkerDeps = {
  store: Store
  wakeup: Wakeup
  executors: Executor[]
  definitions: ModelDefinition[]
  /** Registered as well, and left to others. */
  declared?: ModelDefinition[]
  results: KeepResultOptions
  /** Where input files are copied to; without it, models that take files cannot be run here. */
  inputFolder?: InputFolder
  heartbeatThread: { url: URL; data: Record<string, unknown> }
  version: string
  log: Log
  metrics: Metrics
  settings: WorkerSettings
}

/** More than this in one statement gains nothing and holds its locks longer. */
const CLAIM_MAX = 1_000
const PROGRESS_EVERY_MS = 1_000
const QUEUES_EVERY_MS = 5_000
const RARE_DUTY_EVERY_MS = 60_000
/** Every so many rounds the janitor looks for overdue runs. */
const OVERDUE_PER_TICK = 5
const ADOPT_MAX = 100
const LOG_BYTES_MAX = 1024 * 1024

export class Worker {
  readonly id = `${hostname()}:${process.pid}:${randomUUID().slice(0, 8)}`
  readonly #deps: WorkerDeps
  readonly #log: Log
  readonly #slots: Slots
  readonly #underway: Underway
  readonly #executors: Map<string, Executor>
  readonly #definitions: Map<string, ModelDefinition>
  readonly #groups: ClaimGroup[]
  /** Executors that hand their work to an engine. */
  readonly #engines: string[]
  readonly #jobOutcomes: JobOutcomes
  readonly #stageFiles: StageFiles | null
  readonly #letGo: Lease[] = []
  readonly #progress: ProgressWriter
  readonly #logs: LogWriter
  readonly #stepStates: StepStateWriter
  readonly #poller: Loop
  readonly #janitor: Loop
  readonly #flagOverdue: ReturnType<typeof createFlagOverdue>
  readonly #tidyCosts = createTidyCosts()
  readonly #tidyQuotas = createTidyQuotas()
  readonly #progressLoop: Loop
  readonly #statsLoop: Loop
  readonly #placesLoop: Loop
  readonly #places: Places
  #queuePolicies = new Map<string, RetryPolicyInput>()
  #heartbeat: Heartbeat | null = null
  #subscription: Subscription | null = null
  #queuesReadAt = Number.NEGATIVE_INFINITY
  #rareDutyAt = 0
  #stopping: Promise<void> | null = null

  constructor(deps: WorkerDeps) {
    const { settings } = deps
    this.#deps = deps
    this.#log = deps.log
    this.#executors = new Map(deps.executors.map((executor) => [executor.name, executor]))
    this.#definitions = new Map(
      deps.definitions.map((definition) => [`${definition.name}@${definition.version}`, definition]),
    )
    this.#slots = new Slots(
      settings.concurrency,
      settings.queues,
      deps.definitions.map(({ name, version, concurrency }) => ({ model: name, version, limit: concurrency })),
    )
    this.#groups = claimGroups(deps.definitions, deps.executors, (name) => this.#underway.placing(name))
    this.#engines = deps.executors.filter((executor) => executor.adopt).map(({ name }) => name)
    this.#jobOutcomes = new JobOutcomes(deps.store.attempts)
    this.#stageFiles = createStageFiles(deps, deps.results.blob)
    this.#progress = new ProgressWriter(deps.store)
    this.#logs = new LogWriter(deps.store.attemptLogs)
    this.#stepStates = new StepStateWriter(deps.store.steps)
    this.#underway = new Underway({
      attempts: this.#depsOfAttempts(),
      store: deps.store,
      onOver: (leases, claim) => this.#over(leases, claim),
      onLetGo: (lease) => this.#letGoOf(lease, true),
    })
    deps.metrics.onRunsInFlight(() => this.running)
    this.#poller = this.#loop('poller', settings.pollMs, () => this.#poll())
    this.#flagOverdue = createFlagOverdue(OVERDUE_PER_TICK * settings.janitorMs)
    this.#janitor = this.#loop('janitor', settings.janitorMs, () => this.#tidy())
    this.#progressLoop = this.#loop('progress', PROGRESS_EVERY_MS, async () => {
      await Promise.all([this.#progress.write(), this.#logs.write(), this.#stepStates.write()])
      return 'wait'
    })
    const keyed = deps.definitions.filter(({ runsPerKey }) => runsPerKey)
    this.#places = createPlaces({ ...deps, everyMs: settings.janitorMs, keyed })
    this.#placesLoop = this.#loop('places', settings.janitorMs, this.#places.tick)
    // A worker that starts has better things to do first.
    this.#statsLoop = this.#loop('stats', STATS_EVERY_MS, createStatsRoller({ ...deps, workerId: this.id }), true)
  }

  get running(): number {
    return this.#slots.taken
  }

  async start(): Promise<void> {
    const { store, wakeup, settings, heartbeatThread, log } = this.#deps
    await store.registerWorker(registrationOf(this.#deps, this.id))
    this.#heartbeat = new Heartbeat({
      thread: heartbeatThread,
      workerId: this.id,
      leaseMs: settings.leaseMs,
      deadlineGraceMs: settings.deadlineGraceMs,
      loopSilenceMs: settings.loopSilenceMs,
      onLost: (leases) => this.#underway.abort(leases, 'lease-lost'),
      onCancelRequested: (leases) => this.#underway.abort(leases, 'cancelled'),
      onRenewed: () => this.#deps.metrics.heartbeatDone(),
      onFailure: (message) => log.warn({ worker_id: this.id, reason: message }, 'heartbeat failed; trying again'),
    })
    await this.#heartbeat.ready
    const topics: Topic[] = [
      `worker:${this.id}`,
      'keys',
      ...settings.queues.map(({ queue }) => `queue:${queue}` as const),
    ]
    this.#subscription = await wakeup.subscribe(topics, (topic) => this.#onHint(topic))
    for (const loop of [this.#poller, this.#janitor, this.#progressLoop, this.#statsLoop, this.#placesLoop])
      loop.start()
    log.info(
      {
        worker_id: this.id,
        queues: settings.queues,
        concurrency: settings.concurrency,
        models: [...this.#definitions.keys()],
      },
      'worker started',
    )
  }

  /** Two steps: finish what can be finished within the grace, then hand the rest back. Calling it again changes nothing. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop()
    return this.#stopping
  }

  async #stop(): Promise<void> {
    const { settings, store, executors } = this.#deps
    this.#log.info({ worker_id: this.id, running: this.running }, 'worker stopping: no more claims')
    await Promise.all([this.#poller, this.#janitor, this.#statsLoop, this.#placesLoop].map((loop) => loop.stop()))
    this.#underway.letGo()
    if (!(await this.#underway.ended(settings.shutdownGraceMs))) {
      this.#underway.abortAll()
      if (!(await this.#underway.ended(settings.cancelGraceMs + 5_000))) {
        this.#underway.giveUp()
        this.#log.warn({ worker_id: this.id, running: this.running }, 'some work did not stop; its leases will lapse')
      }
    }
    // Until here a cancel could still reach the work that was left to finish.
    await this.#subscription?.close()
    await this.#progressLoop.stop()
    await this.#heartbeat?.stop()
    // Once more: a heartbeat that was under way may have extended a lease after it was let go of.
    await Promise.all(this.#letGo.map((lease) => this.#letGoOf(lease)))
    await Promise.all(executors.map((executor) => executor.stop()))
    await this.#stageFiles?.close()
    await store.workerStopped(this.id).catch(() => {})
    this.#log.info({ worker_id: this.id }, 'worker stopped')
  }

  #onHint(topic: Topic): void {
    if (topic.startsWith('worker:')) {
      this.#heartbeat?.beatNow()
      // Jobs are asked about again anyway; a hint only makes it sooner.
      this.#jobOutcomes.hint().catch(() => {})
    } else if (topic !== 'keys') this.#poller.wake()
    else if (this.#places.keysAsked()) this.#placesLoop.wake()
  }

  async #poll(): Promise<'again' | 'wait'> {
    await this.#readQueuePolicies()
    // In turns, so that no group can always take the last slots.
    if (this.#groups.length > 1) this.#groups.push(this.#groups.shift()!)
    let more = false
    for (const group of this.#groups) more = (await this.#claim(group)) || more
    return more ? 'again' : 'wait'
  }

  /** Answers whether there may be more. */
  async #claim(group: ClaimGroup): Promise<boolean> {
    const room = group.within(this.#slots.room())
    const slots = Math.min(room.slots, CLAIM_MAX)
    if (slots <= 0 || room.models.length === 0) return false
    const takenAtMs = monotonicMs()
    const leases = await this.#deps.store.claim({
      workerId: this.id,
      leaseMs: this.#deps.settings.leaseMs,
      ...room,
      slots,
      ...(this.#engines.length > 0 && { engines: this.#engines }),
    })
    if (leases.length === 0) return false
    const claim = this.#heartbeat!.add(takenAtMs, leases)
    // A full answer means there may be more, and where limits cross a claim may leave some behind. A slot that frees up wakes
    // the poller by itself.
    const limited = [...room.queues, ...room.models].some((line) => line.room !== null)
    const more = limited || leases.length === slots
    this.#slots.take(leases)
    // When a claim was cut to its size and slots are left, the next one goes out first and the database need not wait for us.
    if (leases.length === CLAIM_MAX && room.slots > CLAIM_MAX) this.#underway.startNextTurn(leases, claim)
    else this.#underway.start(leases, claim)
    return more
  }

  /** Takes over jobs of dead workers. They run anyway, so neither slots nor the room of an engine are asked for. */
  async #adopt(): Promise<boolean> {
    if (this.#engines.length === 0) return false
    const takenAtMs = monotonicMs()
    const adopted = await this.#deps.store.attempts.adoptExpired({
      workerId: this.id,
      leaseMs: this.#deps.settings.leaseMs,
      executors: this.#engines,
      limit: ADOPT_MAX,
      models: this.#deps.definitions.map(({ name, version }) => ({ model: name, version })),
    })
    if (adopted.length === 0) return false
    const claim = this.#heartbeat!.add(takenAtMs, adopted)
    for (const { externalRef, holderBefore, remainingSeconds, ...lease } of adopted) {
      const job: AdoptedJob = { externalRef, remainingSeconds }
      this.#log.info({ worker_id: this.id, run_id: lease.runId, holder_before: holderBefore }, 'lease adopted')
      this.#slots.take([lease])
      this.#underway.adopt(lease, job, claim)
    }
    // A cancel may have been asked for while nobody listened.
    this.#heartbeat!.beatNow()
    return adopted.length === ADOPT_MAX
  }

  #over(leases: Lease[], claim: HeldClaim): void {
    this.#heartbeat?.end(claim, leases)
    this.#slots.give(leases)
    this.#poller.wake()
    if (this.#places.ended(leases)) this.#placesLoop.wake()
  }

  async #letGoOf(lease: Lease, isFirst = false): Promise<void> {
    if (isFirst) this.#letGo.push(lease)
    await this.#deps.store.attempts.letGo(lease).catch((error: Error) => {
      this.#log.warn(
        { err: error, worker_id: this.id, run_id: lease.runId },
        'could not let go of a lease; it will lapse',
      )
    })
  }

  async #tidy(): Promise<'again' | 'wait'> {
    const deps: JanitorDeps = {
      workerId: this.id,
      store: this.#deps.store,
      hint: (topic, runId) => this.#deps.wakeup.hint(topic, runId),
      cancelConfirmMs: this.#deps.settings.cancelConfirmMs,
      adoptMs: this.#deps.settings.adoptMs,
      logKeepMs: this.#deps.settings.logKeepMs,
      log: this.#log,
      metrics: this.#deps.metrics,
    }
    const duties = [() => this.#adopt(), reclaimExpiredLeases, endUnconfirmedCancels, cleanKeys, this.#flagOverdue]
    duties.push(this.#tidyCosts, this.#tidyQuotas)
    if (performance.now() >= this.#rareDutyAt) {
      this.#rareDutyAt = performance.now() + RARE_DUTY_EVERY_MS
      duties.push(forgetWorkers, cleanAttempts)
    }
    let more = false
    for (const duty of duties) more = (await duty(deps)) || more
    return more ? 'again' : 'wait'
  }

  async #readQueuePolicies(): Promise<void> {
    if (performance.now() - this.#queuesReadAt < QUEUES_EVERY_MS) return
    this.#queuesReadAt = performance.now()
    const queues = await this.#deps.store.readQueues()
    this.#queuePolicies = new Map(queues.map(({ queue, retry }) => [queue, retry]))
  }

  #policyOf(queue: string, definition: ModelDefinition | undefined): RetryPolicy {
    return mergeRetryPolicy(this.#deps.settings.retry, this.#queuePolicies.get(queue) ?? {}, definition?.retry ?? {})
  }

  #depsOfAttempts(): AttemptDeps {
    const { store, results, metrics, settings } = this.#deps
    return {
      workerId: this.id,
      store,
      executorOf: (name) => this.#executors.get(name),
      definitionOf: (model, version) => this.#definitions.get(`${model}@${version}`),
      policyOf: (queue, definition) => this.#policyOf(queue, definition),
      results,
      stageFiles: this.#stageFiles,
      cancelGraceMs: settings.cancelGraceMs,
      saveProgress: (lease, value) => this.#progress.note(lease, value),
      recordUsage: (fence, usage) => store.attempts.recordUsage(fence, usage),
      recordArtifacts: (fence, artifacts) => store.artifacts.record(fence, artifacts),
      engines: { attempts: store.attempts, outcomes: this.#jobOutcomes },
      steps: { steps: store.steps, states: this.#stepStates },
      logs: { writer: this.#logs, bytesMax: settings.logBytesMax ?? LOG_BYTES_MAX },
      redactWords: settings.redactWords,
      log: this.#log,
      logSuccess: createSuccessLog(this.#log, this.id),
      metrics,
    }
  }

  #loop(name: string, everyMs: number, tick: () => Promise<'again' | 'wait'>, waitFirst = false): Loop {
    return watchedLoop({ name, everyMs, tick, waitFirst }, { ...this.#deps, workerId: this.id })
  }
}
