/**
 * The Ray executor: one Ray job per attempt, over the Jobs REST API.
 *
 * The submission id is made from run and attempt, and the attempt is noted in the store before Ray is asked, so that neither a lost reply nor
 * a dead worker makes a second job: whoever holds the lease finds the job by its id. Clusters are known by name; their
 * addresses and tokens come from the operator's configuration and never from a model or a run.
 */

import { createHash, randomBytes } from 'node:crypto'
import { newTicket, SECRET_BYTES } from '../run/attempt-token.ts'
import type { ModelDefinition } from '../run/definition.ts'
import type { AbortReason, AttemptInput, AttemptReports, Executor, ExternalRef, Handle, Outcome } from './executor.ts'
import { zipFolder } from './folder-zip.ts'
import { Pause } from './pause.ts'
import { RayAttempt, type RayTimings } from './ray-attempt.ts'
import type { RayClient } from './ray-client.ts'
import { folderOf, submissionIdOf, submissionOf, whyNotOnRay } from './ray-spec.ts'
import { stopJob } from './ray-stop.ts'
import { type AttemptName, sweepRayJobs } from './ray-sweep.ts'

export type RayOptions = {
  /** The first one is the default unless one is named so. */
  clusters: ReadonlyMap<string, RayClient>
  definitionOf: (model: string, version: string) => ModelDefinition | undefined
  serviceUrl: string
  installation: string
  timings: RayTimings
  /** A job costs the head node a process of about 85 MB. */
  jobsMax: number
  /** Asked about jobs that may be orphans; without it nothing is swept. */
  isCurrent?: (attempt: AttemptName) => Promise<boolean>
  sweepEveryMs?: number
  onSwept?: (stopped: AttemptName & { cluster: string }) => void
  /** Drained when the executor stops. */
  pools?: readonly { stop(): Promise<void> }[]
}

/** Of a package, by Ray's own limit for a request. */
const PACKAGE_BYTES_MAX = 95 * 1_048_576
const STOP_LOST_MS = 60_000
const SWEEP_EVERY_MS = 60_000

export class RayExecutor implements Executor {
  readonly name = 'ray'
  readonly #options: RayOptions
  readonly #attempts = new Set<RayAttempt>()
  readonly #stopping = new Set<Promise<unknown>>()
  readonly #sweeper: NodeJS.Timeout | undefined
  #sweep: Promise<unknown> = Promise.resolve()
  #stopped = false

  constructor(options: RayOptions) {
    this.#options = options
    const { isCurrent, sweepEveryMs = SWEEP_EVERY_MS } = options
    if (isCurrent) this.#sweeper = setInterval(() => void this.#sweepNow(isCurrent), sweepEveryMs).unref()
  }

  room(): number {
    return Math.max(0, this.#options.jobsMax - this.#attempts.size)
  }

  async submit(input: AttemptInput, reports: AttemptReports): Promise<Handle> {
    const { engine } = reports
    if (this.#stopped) throw new Error('the ray executor has been stopped')
    if (!engine) throw new Error('the ray executor needs a worker that can hand attempts over')
    const definition = this.#options.definitionOf(input.model, input.modelVersion)
    const whyNot = definition ? whyNotOnRay(definition) : 'this worker does not offer it'
    if (!definition || whyNot) throw new Error(`${input.model}@${input.modelVersion} cannot run on Ray: ${whyNot}`)
    const { cluster, client } = this.#clusterOf(definition.ray?.cluster)
    const archive = await packageOf(definition)
    const { ticket, hash } = newTicket(randomBytes(SECRET_BYTES))
    const { serviceUrl, installation } = this.#options
    const submission = submissionOf(definition, input, {
      serviceUrl,
      installation,
      ticket,
      packageName: archive?.name ?? null,
    })
    const ref = { cluster, submission_id: submission.submission_id }
    await engine.handOver(ref, hash)
    const prepare = async () => {
      if (archive && !(await client.hasPackage(archive.name))) await client.putPackage(archive.name, archive.bytes)
    }
    return this.#follow(client, input, ref, reports, { submission, ticket, prepare })
  }

  async adopt(input: AttemptInput, ref: ExternalRef, reports: AttemptReports): Promise<Handle> {
    const { client, cluster } = this.#clusterOf(String(ref.cluster))
    return this.#follow(client, input, { ...ref, cluster, submission_id: submissionIdOf(input) }, reports, null)
  }

  watch(handle: Handle): Promise<Outcome> {
    return (handle as RayAttempt).outcome
  }

  cancel(handle: Handle, reason: AbortReason): Promise<void> {
    return (handle as RayAttempt).cancel(reason)
  }

  /** Jobs that still run go on; whoever takes their leases adopts them. */
  async stop(): Promise<void> {
    this.#stopped = true
    clearInterval(this.#sweeper)
    for (const attempt of this.#attempts) attempt.leave('the worker has stopped')
    await Promise.all([...this.#attempts].map(({ outcome }) => outcome))
    await Promise.all([...this.#stopping, this.#sweep, ...(this.#options.pools ?? []).map((pool) => pool.stop())])
    for (const client of this.#options.clusters.values()) client.close()
  }

  #clusterOf(name: string | undefined): { cluster: string; client: RayClient } {
    const { clusters } = this.#options
    const cluster = name ?? (clusters.has('default') ? 'default' : [...clusters.keys()][0]!)
    const client = clusters.get(cluster)
    if (client) return { cluster, client }
    throw new Error(
      `there is no Ray cluster named ${cluster}; HOLDFAST_RAY_CLUSTERS has ${[...clusters.keys()].join(', ')}`,
    )
  }

  #follow(
    client: RayClient,
    input: AttemptInput,
    ref: ExternalRef & { cluster: string; submission_id: string },
    reports: AttemptReports,
    placing: ConstructorParameters<typeof RayAttempt>[0]['placing'],
  ): Handle {
    const attempt = new RayAttempt({ input, ref, reports, client, timings: this.#options.timings, placing })
    this.#attempts.add(attempt)
    void attempt.outcome.then(({ status }) => {
      this.#attempts.delete(attempt)
      if (status === 'lost') this.#stopLost(client, ref.submission_id)
    })
    return attempt
  }

  /** Code that Ray lost sight of may still run, and an attempt that was given up must not go on for ever. */
  #stopLost(client: RayClient, id: string): void {
    const pause = new Pause()
    const stopping = stopJob(client, id, { pause, withinMs: STOP_LOST_MS, isLeft: () => this.#stopped }).catch(() => {})
    this.#stopping.add(stopping)
    void stopping.then(() => this.#stopping.delete(stopping))
  }

  async #sweepNow(isCurrent: (attempt: AttemptName) => Promise<boolean>): Promise<void> {
    await this.#sweep
    const { clusters, installation, onSwept } = this.#options
    this.#sweep = sweepRayJobs({ clusters, installation, isCurrent, onStopped: onSwept }).catch(() => {})
  }
}

async function packageOf(definition: ModelDefinition): Promise<{ name: string; bytes: Buffer } | null> {
  const folder = folderOf(definition)
  if (folder === null) return null
  const bytes = await zipFolder(folder, PACKAGE_BYTES_MAX)
  // Ray takes a package's name as its identity, so the name is made from the content.
  return { name: `_ray_pkg_${createHash('sha256').update(bytes).digest('hex').slice(0, 32)}.zip`, bytes }
}
