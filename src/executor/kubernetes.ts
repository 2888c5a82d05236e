/**
 * The kubernetes executor: one Job per attempt, in a cluster that the operator has named.
 *
 * Where an attempt goes is committed before Kubernetes is asked, and the name of its Job follows from run and attempt, so that neither a lost reply nor
 * the death of this worker makes a second Job. The program in the pod trades its ticket for the parameters and says itself how it ended:
 * see docs/executors/kubernetes.md.
 */

import { randomBytes } from 'node:crypto'
import { newTicket, SECRET_BYTES } from '../run/attempt-token.ts'
import type { KubernetesSpec, ModelDefinition } from '../run/definition.ts'
import type { AbortReason, AttemptInput, AttemptReports, Executor, ExternalRef, Handle, Outcome } from './executor.ts'
import { KubernetesAttempt, type KubernetesRef, type KubernetesTimings } from './kubernetes-attempt.ts'
import type { KubernetesClient } from './kubernetes-client.ts'
import { jobManifest, jobName, ownSelector } from './kubernetes-job.ts'
import { KubernetesLookout } from './kubernetes-lookout.ts'
import type { PlacingOptions } from './kubernetes-placing.ts'
import { type AttemptName, sweepJobs } from './kubernetes-sweep.ts'

export type KubernetesOptions = {
  client: KubernetesClient
  /** All that this worker knows of a model. */
  specOf: (model: string, version: string) => ModelDefinition | undefined
  /** Where pods reach the API. */
  serviceUrl: string
  /** Tells the Jobs of several services in one namespace apart. */
  installation: string
  /** For models that name none; without it, the connection's own. */
  namespace?: string | null
  /** Others that models name, where left behind Jobs are looked for too. */
  namespaces?: string[]
  /** Jobs in flight at once, from this worker. */
  jobsMax: number
  /** How long a finished Job stays to be looked at. */
  keepSeconds?: number
  /** Between SIGTERM and SIGKILL for a pod that is stopped. */
  graceSeconds?: number
  /** More of what a pod prints is not fetched. */
  logBytesMax?: number
  timings?: Partial<KubernetesTimings>
  /** Whether an attempt is the open one of its run. With it, Jobs that nobody waits for any more are found and deleted. */
  isCurrent?: (attempt: AttemptName) => Promise<boolean>
  onSwept?: (swept: AttemptName & { namespace: string }) => void
  sweepEveryMs?: number
}

const SWEEP_EVERY_MS = 60_000

const TIMINGS: KubernetesTimings = {
  pollMs: 30_000,
  stopPollMs: 500,
  retryMs: 250,
  lostAfterMs: 300_000,
  stuckMs: 120_000,
  timeoutGraceMs: 5_000,
  logFinishMs: 3_000,
}

export class KubernetesExecutor implements Executor {
  readonly name = 'kubernetes'
  readonly #options: KubernetesOptions
  readonly #timings: KubernetesTimings
  readonly #attempts = new Set<KubernetesAttempt>()
  readonly #lookouts = new Map<string, KubernetesLookout>()
  readonly #sweeper: NodeJS.Timeout | undefined
  #sweep: Promise<unknown> = Promise.resolve()
  #isStopped = false

  constructor(options: KubernetesOptions) {
    this.#options = options
    this.#timings = { ...TIMINGS, ...options.timings }
    const { isCurrent, sweepEveryMs = SWEEP_EVERY_MS } = options
    if (isCurrent) this.#sweeper = setInterval(() => void this.#sweepNow(isCurrent), sweepEveryMs).unref()
  }

  async submit(input: AttemptInput, reports: AttemptReports): Promise<Handle> {
    const definition = this.#options.specOf(input.model, input.modelVersion)
    const spec = definition?.kubernetes
    if (!spec) throw new Error(`the model ${input.model}@${input.modelVersion} does not say how to run on Kubernetes`)
    const { engine } = reports
    if (!engine) throw new Error('the kubernetes executor needs a worker that keeps track of engines')
    const { ticket, hash } = newTicket(randomBytes(SECRET_BYTES))
    const ref: KubernetesRef = { namespace: this.#namespaceOf(spec), job: jobName(input) }
    await engine.handOver(ref, hash)
    return this.#start(input, ref, reports, ticket)
  }

  async adopt(input: AttemptInput, ref: ExternalRef, reports: AttemptReports): Promise<Handle> {
    const { namespace, job } = ref
    if (typeof namespace !== 'string' || job !== jobName(input)) {
      throw new Error(`${JSON.stringify(ref)} does not name the Job of attempt ${input.attempt}`)
    }
    return this.#start(input, { ...ref, namespace, job }, reports, null)
  }

  watch(handle: Handle): Promise<Outcome> {
    return (handle as KubernetesAttempt).outcome
  }

  cancel(handle: Handle, reason: AbortReason): Promise<void> {
    return (handle as KubernetesAttempt).cancel(reason)
  }

  room(): number {
    return this.#isStopped ? 0 : Math.max(0, this.#options.jobsMax - this.#attempts.size)
  }

  /** Jobs that are still there go on; whoever gets their lease next finds them. */
  async stop(): Promise<void> {
    this.#isStopped = true
    for (const attempt of this.#attempts) attempt.leave('the worker stops')
    clearInterval(this.#sweeper)
    await Promise.all([...[...this.#attempts].map(({ outcome }) => outcome), this.#sweep])
    for (const lookout of this.#lookouts.values()) lookout.close()
    this.#options.client.close()
  }

  #start(input: AttemptInput, ref: KubernetesRef, reports: AttemptReports, ticket: string | null): Handle {
    if (this.#isStopped) throw new Error('the kubernetes executor has been stopped')
    const { client, logBytesMax = 2 * 1_048_576 } = this.#options
    const placing: PlacingOptions = {
      manifest: this.#manifestOf(input, ref.job),
      ticket,
      wasSeen: ref.uid !== undefined,
      handOver: async (hash) => reports.engine?.handOver(ref, hash),
    }
    const timings = this.#timings
    const attempt = new KubernetesAttempt({ client, input, ref, reports, timings, logBytesMax, placing })
    const unfollow = this.#lookout(ref.namespace).follow(ref.job, () => attempt.hint())
    this.#attempts.add(attempt)
    void attempt.outcome.finally(() => {
      unfollow()
      this.#attempts.delete(attempt)
    })
    return attempt
  }

  #manifestOf(input: AttemptInput, name: string): object | null {
    const { specOf, serviceUrl: url, installation, keepSeconds = 3_600, graceSeconds = 10 } = this.#options
    const definition = specOf(input.model, input.modelVersion)
    if (!definition?.kubernetes) return null
    const { kubernetes } = definition
    return jobManifest({
      name,
      input,
      definition: { ...definition, kubernetes },
      installation,
      url,
      keepSeconds,
      graceSeconds,
    })
  }

  #namespaceOf(spec: KubernetesSpec): string {
    return spec.namespace ?? this.#options.namespace ?? this.#options.client.namespace
  }

  async #sweepNow(isCurrent: (attempt: AttemptName) => Promise<boolean>): Promise<void> {
    await this.#sweep
    if (this.#isStopped) return
    const { client, installation, namespace, namespaces: others = [], onSwept } = this.#options
    const namespaces = new Set([namespace ?? client.namespace, ...others, ...this.#lookouts.keys()])
    this.#sweep = sweepJobs({ client, installation, namespaces, isCurrent, onSwept })
  }

  #lookout(namespace: string): KubernetesLookout {
    const known = this.#lookouts.get(namespace)
    if (known) return known
    const { client, installation } = this.#options
    const { pollMs, retryMs } = this.#timings
    const timings = { relistMs: pollMs * 10, retryMs }
    const lookout = new KubernetesLookout(client, namespace, ownSelector(installation), timings)
    this.#lookouts.set(namespace, lookout)
    return lookout
  }
}
