/**
 * Keeps worker processes alive under `holdfast start`: one that ends is replaced, after a pause that grows while it keeps ending soon.
 * The workers speak over an IPC channel only to hand over their metrics; all facts are in Postgres.
 */

import { type ChildProcess, fork } from 'node:child_process'
import { flushCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'
import type { Log } from '../telemetry/log.ts'
import type { MetricsExport } from '../telemetry/metrics.ts'

const PROGRAM = fileURLToPath(new URL('../../bin/holdfast.js', import.meta.url))
/** Room for the objects of many short runs at once, so that those in flight are not copied at every collection of garbage. */
export const WORKER_FLAGS = ['--max-semi-space-size=64']
const SOON_MS = 10_000
const PAUSE_MS_MAX = 30_000
const METRICS_WAIT_MS = 1_000
const READY_WAIT_MS = 15_000

/** What a worker process says once it has registered its models and takes runs. */
export type ReadyMessage = { type: 'ready' }
export type MetricsRequest = { type: 'metrics'; id: number }
export type MetricsReply = { type: 'metrics'; id: number; metrics: MetricsExport }

export class Supervisor {
  readonly #children = new Set<ChildProcess>()
  readonly #log: Log
  readonly #env: NodeJS.ProcessEnv
  #stopping = false
  #timers = new Set<NodeJS.Timeout>()
  #requests = 0
  #onFirstSign: () => void = () => {}

  constructor(options: { log: Log; env: NodeJS.ProcessEnv }) {
    this.#log = options.log
    this.#env = options.env
  }

  get pids(): number[] {
    return [...this.#children].flatMap((child) => (child.pid === undefined ? [] : [child.pid]))
  }

  /** Resolves when a worker is ready or the first one failed: before that the API would not know a single model. */
  async start(count: number): Promise<void> {
    if (count === 0) return
    let timer: NodeJS.Timeout | undefined
    const firstSign = new Promise<void>((resolve) => {
      this.#onFirstSign = resolve
      timer = setTimeout(resolve, READY_WAIT_MS)
    })
    // What this process has compiled, the workers need not.
    flushCompileCache()
    for (let index = 0; index < count; index += 1) this.#spawn(0)
    await firstSign
    clearTimeout(timer)
  }

  #spawn(failures: number): void {
    const startedAt = performance.now()
    const child = fork(PROGRAM, ['worker'], {
      env: this.#env,
      execArgv: WORKER_FLAGS,
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    this.#children.add(child)
    child.on('error', (error) => this.#log.error({ err: error }, 'a worker process could not be started'))
    child.on('message', (message: ReadyMessage | MetricsReply) => {
      if (message.type === 'ready') this.#onFirstSign()
    })
    child.on('exit', (code, signal) => {
      this.#children.delete(child)
      this.#onFirstSign()
      if (this.#stopping) return
      const next = performance.now() - startedAt < SOON_MS ? failures + 1 : 0
      const pauseMs = next === 0 ? 0 : Math.min(PAUSE_MS_MAX, 250 * 2 ** next)
      this.#log.warn(
        { worker_pid: child.pid, code, signal, pause_ms: pauseMs },
        'a worker process ended; another takes its place',
      )
      const timer = setTimeout(() => {
        this.#timers.delete(timer)
        this.#spawn(next)
      }, pauseMs)
      this.#timers.add(timer)
    })
  }

  /** What the workers have counted; one that does not answer in time is left out. */
  async metrics(): Promise<MetricsExport[]> {
    const answers = await Promise.all([...this.#children].map((child) => this.#ask(child)))
    return answers.filter((answer) => answer !== null)
  }

  #ask(child: ChildProcess): Promise<MetricsExport | null> {
    const id = ++this.#requests
    return new Promise((resolve) => {
      const finish = (answer: MetricsExport | null) => {
        clearTimeout(timer)
        child.off('message', onMessage)
        resolve(answer)
      }
      const onMessage = (message: ReadyMessage | MetricsReply) => {
        if (message.type === 'metrics' && message.id === id) finish(message.metrics)
      }
      const timer = setTimeout(() => finish(null), METRICS_WAIT_MS)
      child.on('message', onMessage)
      if (!child.connected) return finish(null)
      child.send({ type: 'metrics', id } satisfies MetricsRequest, (error) => error && finish(null))
    })
  }

  async stop(): Promise<void> {
    this.#stopping = true
    for (const timer of this.#timers) clearTimeout(timer)
    await Promise.all(
      [...this.#children].map(
        (child) =>
          new Promise<void>((resolve) => {
            child.once('exit', () => resolve())
            if (child.exitCode !== null || child.signalCode !== null) resolve()
            child.kill('SIGTERM')
          }),
      ),
    )
  }
}
