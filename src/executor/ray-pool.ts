/**
 * Keeps one Ray pool running: a long-lived Ray job (`holdfast_ray_pool.py`) whose actors take runs of one queue by the protocol of remote
 * workers. The pool holds no state of ours: when it dies its leases expire, and it is started again, with growing pauses while it keeps dying.
 *
 * Each start is a generation with a number of its own in the submission id. Several supervisors agree by it: the second to submit a
 * generation finds it there. A pool with other models or another size than wanted is drained once its successor runs.
 */

import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { ModelDefinition } from '../run/definition.ts'
import { zipFiles, zipFolder } from './folder-zip.ts'
import { Pause } from './pause.ts'
import { isOver, type RayClient, type RayJob, RayRefused, type RaySubmission, RayUnreachable } from './ray-client.ts'
import { stopJob } from './ray-stop.ts'

export type RayPoolOptions = {
  client: RayClient
  queue: string
  actors: number
  /** Those with a Python callable; others cannot run in a pool. */
  models: ModelDefinition[]
  serviceUrl: string
  installation: string
  /** On the nodes of the cluster. */
  tokenFile: string | null
  checkEveryMs?: number
  /** How long runs may take to end when the pool is stopped. */
  drainMs?: number
  restartMs?: { first: number; max: number }
  onEvent?: (message: string, fields: Record<string, unknown>) => void
}

/** A constant, like that of jobs. */
const ENTRYPOINT = 'exec python3 -m holdfast_ray_pool'
const PROGRAMS = ['holdfast.py', 'holdfast_ray_pool.py']
const PYTHON = new URL('../../python/', import.meta.url)
const PACKAGE_BYTES_MAX = 95 * 1_048_576
/** Beyond the time for runs to end: for the program itself. */
const STOP_EXTRA_MS = 15_000
/** A pool that lived this long is healthy, and its next death is a first one. */
const HEALTHY_MS = 60_000
/** The files of the models are packed this often, to see whether they changed. */
const KNOWN_MS = 30_000

export class RayPool {
  readonly #options: RayPoolOptions
  readonly #pause = new Pause()
  readonly #done: Promise<void>
  #stopping = false
  #deaths = 0
  #startedAtMs = 0
  #known: Wanted | null = null
  #knownAtMs = 0

  constructor(options: RayPoolOptions) {
    this.#options = options
    this.#done = this.#run()
  }

  /** Drains the pool: runs may end, the rest is handed back. */
  async stop(): Promise<void> {
    this.#stopping = true
    this.#pause.end()
    await this.#done
    const jobs = await this.#jobs().catch(() => [])
    await Promise.all(jobs.filter((job) => !isOver(job)).map((job) => this.#drain(job)))
  }

  async #run(): Promise<void> {
    const { checkEveryMs = 5_000, onEvent, models } = this.#options
    if (models.length === 0) return onEvent?.('there is no remote model with a Python callable for this Ray pool', {})
    while (!this.#stopping) {
      let waitMs = checkEveryMs
      try {
        waitMs = (await this.#check()) ?? checkEveryMs
      } catch (error) {
        onEvent?.('the Ray pool could not be looked after; trying again', { reason: (error as Error).message })
      }
      if (!this.#stopping) await this.#pause.wait(waitMs)
    }
  }

  /** Answers how long to wait before the next look, if not as usual. */
  async #check(): Promise<number | null> {
    const { wanted, packages } = await this.#wanted()
    const jobs = await this.#jobs()
    const alive = jobs.filter((job) => !isOver(job))
    const current = alive.find(({ metadata }) => metadata?.config === wanted)
    if (current) {
      const old = alive.filter((job) => job !== current)
      if (current.status === 'RUNNING') await Promise.all(old.map((job) => this.#drain(job)))
      return null
    }
    if (this.#startedAtMs > 0) {
      const pauseMs = this.#pauseAfterDeath()
      this.#options.onEvent?.('the Ray pool ended; starting it again', {
        queue: this.#options.queue,
        pause_ms: pauseMs,
      })
      this.#startedAtMs = 0
      return pauseMs
    }
    await this.#start(Math.max(0, ...jobs.map(generationOf)) + 1, wanted, packages)
    return null
  }

  #pauseAfterDeath(): number {
    const { first, max } = this.#options.restartMs ?? { first: 1_000, max: 60_000 }
    this.#deaths = performance.now() - this.#startedAtMs > HEALTHY_MS ? 1 : this.#deaths + 1
    return Math.min(max, first * 2 ** Math.min(this.#deaths - 1, 20)) * (0.75 + 0.5 * Math.random())
  }

  async #start(generation: number, config: string, packages: Package[]): Promise<void> {
    const { client, queue, onEvent } = this.#options
    for (const { name, bytes } of packages) if (!(await client.hasPackage(name))) await client.putPackage(name, bytes)
    const submission = this.#submission(generation, config, packages)
    try {
      await client.submit(submission)
    } catch (error) {
      if (!(error instanceof RayRefused || error instanceof RayUnreachable)) throw error
      // It may be there all the same, or another supervisor was quicker. If not, the next look starts it.
      if ((await client.job(submission.submission_id)) === null) throw error
    }
    this.#startedAtMs = performance.now()
    onEvent?.('the Ray pool was started', { queue, submission_id: submission.submission_id })
  }

  #submission(generation: number, config: string, packages: Package[]): RaySubmission {
    const { queue, actors, models, serviceUrl, installation, tokenFile, drainMs = 30_000 } = this.#options
    // Two installations may share a cluster, and their queues may have the same names.
    const id = `pool-${queue}-${installation.slice(0, 8)}-${generation}`
    const settings = {
      name: id,
      queue,
      actors,
      token_file: tokenFile,
      drain_seconds: drainMs / 1_000,
      models: models.map(({ name, version, python }) => ({ name, version, callable: python!.callable })),
    }
    return {
      entrypoint: ENTRYPOINT,
      submission_id: id,
      runtime_env: {
        py_modules: packages.map(({ name }) => `gcs://${name}`),
        env_vars: {
          HOLDFAST_URL: serviceUrl,
          HOLDFAST_RAY_POOL: JSON.stringify(settings),
          // Ray kills what has not ended this long after its SIGTERM; it would be three seconds.
          RAY_JOB_STOP_WAIT_TIME_S: String(Math.ceil((drainMs + STOP_EXTRA_MS) / 1_000)),
        },
      },
      metadata: { holdfast: installation, pool: queue, config },
    }
  }

  async #wanted(): Promise<Wanted> {
    if (this.#known === null || performance.now() - this.#knownAtMs > KNOWN_MS) {
      this.#known = await this.#work()
      this.#knownAtMs = performance.now()
    }
    return this.#known
  }

  async #work(): Promise<Wanted> {
    const { actors, models, serviceUrl } = this.#options
    const folders = new Set(models.flatMap(({ python }) => python?.folder ?? []))
    const programs = await Promise.all(
      PROGRAMS.map(async (name) => ({ name, content: await readFile(new URL(name, PYTHON)) })),
    )
    const archives = [await zipFiles(programs)]
    for (const folder of folders) archives.push(await zipFolder(folder, PACKAGE_BYTES_MAX))
    const packages = archives.map((bytes) => ({ name: `_ray_pkg_${sha256(bytes).slice(0, 32)}.zip`, bytes }))
    const names = models.map(({ name, version, python }) => `${name}@${version}=${python?.callable}`)
    const facts = JSON.stringify([actors, serviceUrl, names, packages.map(({ name }) => name)])
    return { wanted: sha256(facts).slice(0, 16), packages }
  }

  async #jobs(): Promise<RayJob[]> {
    const { client, queue, installation } = this.#options
    const all = await client.jobs()
    return all.filter(({ metadata }) => metadata?.holdfast === installation && metadata.pool === queue)
  }

  async #drain(job: RayJob): Promise<void> {
    const { client, drainMs = 30_000 } = this.#options
    const withinMs = drainMs + STOP_EXTRA_MS + 5_000
    await stopJob(client, job.submission_id!, { pause: new Pause(), withinMs, isLeft: () => false })
  }
}

type Package = { name: string; bytes: Buffer }
type Wanted = { wanted: string; packages: Package[] }

function generationOf({ submission_id }: RayJob): number {
  return Number(/-(\d+)$/.exec(submission_id ?? '')?.[1] ?? 0)
}

function sha256(data: Buffer | string): string {
  return createHash('sha256').update(data).digest('hex')
}
