/**
 * One attempt as a Kubernetes Job, from the worker's side: placed once, followed by looking, stopped when asked, ended once.
 *
 * It is a loop of steps. Each step may fail because Kubernetes or the database does not answer; then nothing is concluded and the step comes again.
 * What the program itself said is the truth, then what it left in its log or termination message, only then what Kubernetes says.
 * When the lease is lost or the worker stops, the Job is left as it is: whoever has the lease next goes on with it.
 */

import { abortedOutcome } from '../model/run-attempt.ts'
import type { AbortReason, AttemptInput, AttemptReports, ExternalRef, Handle, Outcome } from './executor.ts'
import type { KubernetesClient } from './kubernetes-client.ts'
import { isOf, podSelector } from './kubernetes-job.ts'
import { KubernetesLogs } from './kubernetes-logs.ts'
import type { Job } from './kubernetes-objects.ts'
import { KubernetesPlacing, type PlacingOptions } from './kubernetes-placing.ts'
import { type Facts, mayRun, type Verdict, verdictOf } from './kubernetes-verdict.ts'
import { findOutcome } from './outcome-line.ts'
import { Pause } from './pause.ts'
import { Timer } from './timer.ts'

export type KubernetesRef = ExternalRef & {
  namespace: string
  job: string
  uid?: string
  pod?: string
  logs_until?: string
}

export type KubernetesTimings = {
  /** Longest time between two looks, hints or no hints. */
  pollMs: number
  /** Between two looks at something that is being deleted. */
  stopPollMs: number
  /** First wait when there was no answer; it doubles. */
  retryMs: number
  /** How long a Job must be gone before its attempt is lost. */
  lostAfterMs: number
  /** How long a pod may be unable to start before its attempt fails. */
  stuckMs: number
  /** How long an attempt whose time is over may take to stop. */
  timeoutGraceMs: number
  /** How long to wait at the end for the last lines of the log. */
  logFinishMs: number
}

export type KubernetesAttemptOptions = {
  client: KubernetesClient
  input: AttemptInput
  ref: KubernetesRef
  reports: AttemptReports
  timings: KubernetesTimings
  logBytesMax: number
  placing: PlacingOptions
}

const RETRY_MS_MAX = 15_000
const DELETE_AGAIN_MS = 5_000
const NOTE_LOGS_MS = 10_000

export class KubernetesAttempt implements Handle {
  readonly runId: string
  readonly attempt: number
  readonly outcome: Promise<Outcome>
  readonly #options: KubernetesAttemptOptions
  readonly #placing: KubernetesPlacing
  readonly #pause = new Pause()
  readonly #deadline: Timer
  #ref: KubernetesRef
  #left: string | null = null
  #stopping: { outcome: Outcome; confirmByMs: number } | null = null
  #deletedAtMs = Number.NEGATIVE_INFINITY
  #logs: KubernetesLogs | null = null
  #notedAtMs = Number.NEGATIVE_INFINITY
  #missingSinceMs: number | null = null
  #stuckSinceMs: number | null = null
  #why = ''
  #troubles = 0

  constructor(options: KubernetesAttemptOptions) {
    const { input, ref, reports, timings } = options
    this.runId = input.runId
    this.attempt = input.attempt
    this.#options = options
    this.#ref = ref
    this.#placing = new KubernetesPlacing(options.client, input, ref, options.placing)
    this.#deadline = new Timer(input.timeoutMs, () => {
      this.#stopWith(abortedOutcome('timeout', input.timeoutMs), timings.timeoutGraceMs)
    })
    const unlisten = reports.engine?.onJobOutcome(() => this.hint())
    this.outcome = this.#run().finally(() => {
      this.#deadline.stop()
      this.#logs?.close()
      unlisten?.()
    })
  }

  /** Something may have changed: look now. */
  hint(): void {
    this.#pause.end()
  }

  async cancel(reason: AbortReason): Promise<void> {
    if (reason === 'lease-lost' || reason === 'shutdown') this.leave(`the worker let go of it (${reason})`)
    else this.#stopWith(abortedOutcome(reason, this.#options.input.timeoutMs), Number.POSITIVE_INFINITY)
    await this.outcome
  }

  /** Stops looking at the Job, which goes on. */
  leave(why: string): void {
    this.#left ??= why
    this.#pause.end()
  }

  /** The first reason stays. */
  #stopWith(outcome: Outcome, confirmMs: number): void {
    this.#stopping ??= { outcome, confirmByMs: performance.now() + confirmMs }
    this.#pause.end()
  }

  async #run(): Promise<Outcome> {
    for (;;) {
      if (this.#left !== null) return { status: 'unreachable', reason: this.#left }
      try {
        const outcome = await this.#step()
        if (outcome) return outcome
        this.#troubles = 0
      } catch (error) {
        this.#troubles += 1
        if (this.#troubles === 1) {
          this.#options.reports.log('warn', `${(error as Error).message}; asking again until there is an answer`)
        }
      }
      await this.#pause.wait(this.#waitMs())
    }
  }

  #waitMs(): number {
    const { pollMs, retryMs, stopPollMs, lostAfterMs, stuckMs } = this.#options.timings
    let ms = pollMs
    if (this.#troubles > 0) ms = Math.min(RETRY_MS_MAX, retryMs * 2 ** Math.min(this.#troubles, 20))
    else if (this.#stopping) return stopPollMs
    else if (this.#missingSinceMs !== null) ms = Math.min(pollMs, lostAfterMs / 4)
    else if (this.#stuckSinceMs !== null) ms = Math.min(pollMs, stuckMs / 4)
    return ms * (0.75 + 0.25 * Math.random())
  }

  async #step(): Promise<Outcome | null> {
    if (this.#stopping) return this.#stop(this.#stopping)
    if (!this.#placing.isDone) {
      const refused = await this.#placing.place()
      if (refused && !this.#placing.mayBeThere) return refused
      if (refused) {
        this.#stopWith(refused, Number.POSITIVE_INFINITY)
        return null
      }
    }
    const said = await this.#said()
    if (said) {
      // Of a program that was faster than our first look, the log is still there.
      if (this.#logs === null) await this.#findLogs().catch(() => {})
      return this.#end(said)
    }
    const facts = await this.#look()
    const verdict = verdictOf(facts, this.#options.input.timeoutMs)
    if (verdict.phase !== 'missing') this.#missingSinceMs = null
    if (verdict.phase !== 'waiting' || verdict.stuck === null) this.#stuckSinceMs = null
    if (verdict.phase === 'missing') return this.#missing()
    if (verdict.phase === 'waiting') return this.#waiting(verdict, facts.job)
    if (verdict.phase === 'running') return this.#running(verdict.pod, facts.job)
    if (verdict.pod !== null) this.#followLogs(verdict.pod)
    return this.#end((await this.#said()) ?? null, verdict.outcome)
  }

  /** A Job of this name that belongs to something else is none of ours, wherever it came from. */
  async #look(): Promise<Facts> {
    const { client, input } = this.#options
    const { namespace, job: name } = this.#ref
    const [job, pods] = await Promise.all([
      client.getJob(namespace, name),
      client.listPods(namespace, podSelector(input)),
    ])
    return { job: job && isOf(job, input) ? job : null, pods: pods.items }
  }

  async #missing(): Promise<Outcome | null> {
    this.#missingSinceMs ??= performance.now()
    if (performance.now() - this.#missingSinceMs < this.#options.timings.lostAfterMs) return null
    const { namespace, job } = this.#ref
    // Should it come back, it is to stop.
    await this.#options.client.deleteJob(namespace, job, this.#ref.uid).catch(() => false)
    return { status: 'lost', reason: `Kubernetes has no Job ${namespace}/${job} any more and no pod of it` }
  }

  async #waiting(verdict: Verdict & { phase: 'waiting' }, job: Job | null): Promise<Outcome | null> {
    const { reports, timings } = this.#options
    if (verdict.why !== this.#why) {
      this.#why = verdict.why
      reports.log('info', `waiting: ${verdict.why}`)
    }
    // That a new ticket cannot be noted now does not keep the clock from running.
    if (verdict.needsTicket && job) await this.#placing.renewTicket().catch(() => {})
    if (verdict.stuck === null) return null
    this.#stuckSinceMs ??= performance.now()
    if (!verdict.hopeless && performance.now() - this.#stuckSinceMs < timings.stuckMs) return null
    this.#stopWith({ status: 'failed', error: verdict.stuck }, Number.POSITIVE_INFINITY)
    return null
  }

  async #running(pod: string, job: Job | null): Promise<null> {
    this.#followLogs(pod)
    const isNew = this.#ref.pod !== pod
    const until = this.#logs?.until ?? this.#ref.logs_until
    const isLate = until !== this.#ref.logs_until && performance.now() - this.#notedAtMs > NOTE_LOGS_MS
    if (!isNew && !isLate) return null
    const uid = job?.metadata.uid
    const better: KubernetesRef = { ...this.#ref, pod, ...(uid && { uid }), ...(until && { logs_until: until }) }
    await this.#options.reports.engine?.alive(better)
    this.#ref = better
    this.#notedAtMs = performance.now()
    return null
  }

  async #findLogs(): Promise<void> {
    const verdict = verdictOf(await this.#look(), this.#options.input.timeoutMs)
    if ('pod' in verdict && verdict.pod !== null) this.#followLogs(verdict.pod)
  }

  #followLogs(pod: string): void {
    if (this.#logs?.pod === pod) return
    this.#logs?.close()
    const { client, reports, timings, logBytesMax } = this.#options
    this.#logs = new KubernetesLogs({
      client,
      namespace: this.#ref.namespace,
      pod,
      since: this.#ref.pod === pod ? (this.#ref.logs_until ?? null) : null,
      bytesMax: logBytesMax,
      timings: { retryMs: timings.retryMs, finishMs: timings.logFinishMs },
      onText: (text) => reports.output?.('stdout', text),
    })
  }

  /** `said` by the program's callback, else by the line in its log, else what Kubernetes has to say. */
  async #end(said: Outcome | null, otherwise?: Outcome): Promise<Outcome> {
    await this.#logs?.finish()
    if (said) return said
    const { ticket } = this.#placing
    const line = ticket !== null && this.#logs ? findOutcome(this.#logs.outcomeText, ticket) : null
    return line ?? otherwise ?? { status: 'unreachable', reason: 'the Job has not ended' }
  }

  async #said(): Promise<Outcome | null> {
    return (await this.#options.reports.engine?.jobOutcome()) ?? null
  }

  /** Deletes the Job and waits until its pods are gone. A success that came first stands, and so does what it cost. */
  async #stop({ outcome, confirmByMs }: { outcome: Outcome; confirmByMs: number }): Promise<Outcome | null> {
    const { client } = this.#options
    const { namespace } = this.#ref
    if (!this.#placing.mayBeThere) return outcome
    const { job, pods } = await this.#look()
    const live = pods.filter(mayRun)
    if (job === null && live.length === 0) {
      const said = await this.#said()
      if (said?.status === 'succeeded') return said
      if (said?.status === 'failed' && said.cost !== undefined) this.#options.reports.cost?.(said.cost)
      return outcome
    }
    if (performance.now() - this.#deletedAtMs > DELETE_AGAIN_MS) {
      const { name, uid, deletionTimestamp } = job?.metadata ?? {}
      if (name && !deletionTimestamp) await client.deleteJob(namespace, name, uid)
      // Pods without their Job are what a deletion by hand can leave behind.
      if (job === null) await Promise.all(live.map((pod) => client.deletePod(namespace, pod.metadata.name)))
      this.#deletedAtMs = performance.now()
    }
    return performance.now() > confirmByMs ? outcome : null
  }
}
