/**
 * The process executor, the default: the model's function in a child of a warm pool. Running out of memory, a crash or an endless loop
 * ends the attempt and not the worker, and the children die with a killed worker.
 *
 * No child is started before the first attempt. An attempt that finds all children busy waits in line, and its time runs.
 */

import { childEnvironment } from './child-environment.ts'
import type { AbortReason, AttemptInput, AttemptReports, Executor, Handle, Outcome } from './executor.ts'
import { Pool } from './pool.ts'
import { ProcessAttempt } from './process-attempt.ts'

export type ProcessOptions = {
  /** The modules that export the models, as for `loadModels`. */
  modules: string[]
  /** The folder relative modules start from, and the children's working folder. */
  from: string
  childrenMax: number
  /** Of resident memory per child; a child that does nothing needs about 100. */
  memoryLimitMb: number
  /** The environment children may inherit from; only an allow-list of it is passed on. */
  env?: Readonly<Record<string, string | undefined>>
  /** Names passed on from `env` in addition. */
  envNames?: string[]
  /** Options of Node for the children, such as `--import`. */
  execArgv?: string[]
  /** Where children keep compiled code; they start in half the time and with less memory from the second on. */
  compileCacheFolder?: string
  /** How long an attempt may take to stop once its time is over. */
  timeoutGraceMs?: number
  /** How long a child may take to load the models. */
  startMs?: number
  idleMs?: number
  idleKept?: number
}

export class ProcessExecutor implements Executor {
  readonly name = 'process'
  readonly #pool: Pool
  readonly #attempts = new Set<ProcessAttempt>()
  readonly #timeoutGraceMs: number
  #lastId = 0
  #stopped = false

  constructor(options: ProcessOptions) {
    const { modules, from, memoryLimitMb } = options
    this.#timeoutGraceMs = options.timeoutGraceMs ?? 5_000
    this.#pool = new Pool({
      child: {
        setup: { modules, from, memoryLimitMb },
        env: {
          ...childEnvironment(options.env ?? {}, options.envNames),
          ...(options.compileCacheFolder && { NODE_COMPILE_CACHE: options.compileCacheFolder }),
        },
        execArgv: options.execArgv ?? [],
      },
      childrenMax: options.childrenMax,
      startMs: options.startMs ?? 60_000,
      idleMs: options.idleMs ?? 60_000,
      idleKept: options.idleKept ?? 1,
    })
  }

  /** Children that have not ended. */
  get childCount(): number {
    return this.#pool.size
  }

  async submit(input: AttemptInput, reports: AttemptReports): Promise<Handle> {
    if (this.#stopped) throw new Error('the process executor has been stopped')
    const attempt = new ProcessAttempt(++this.#lastId, input, reports, this.#pool, this.#timeoutGraceMs)
    this.#attempts.add(attempt)
    void attempt.outcome.then(() => this.#attempts.delete(attempt))
    return attempt
  }

  watch(handle: Handle): Promise<Outcome> {
    return (handle as ProcessAttempt).outcome
  }

  async cancel(handle: Handle, reason: AbortReason, graceMs: number): Promise<void> {
    const attempt = handle as ProcessAttempt
    attempt.abort(reason, graceMs)
    await attempt.outcome
  }

  /** Attempts that still run are killed. */
  async stop(): Promise<void> {
    this.#stopped = true
    for (const attempt of this.#attempts) attempt.abort('shutdown', 0)
    await this.#pool.stop()
  }
}
