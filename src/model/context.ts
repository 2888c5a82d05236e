/** `ctx`, the second argument of a model's `run`. Everything in it may be taken apart: nothing depends on `this`. */

import { seededRandom } from '../run/seed.ts'
import type { AttemptScope } from './scope.ts'

export type Logger = {
  debug(message: string, fields?: Record<string, unknown>): void
  info(message: string, fields?: Record<string, unknown>): void
  warn(message: string, fields?: Record<string, unknown>): void
  error(message: string, fields?: Record<string, unknown>): void
}

export type Context = {
  readonly runId: string
  /** 1 for the first attempt of the run. */
  readonly attempt: number
  readonly model: string
  readonly modelVersion: string
  /** The seed of the run, the same in each of its attempts. */
  readonly seed: number
  /** Fires on cancel, timeout, lost lease and shutdown; its reason is an `Aborted` that says which. */
  readonly signal: AbortSignal
  readonly logger: Logger
  /** The latest value is shown while the attempt runs: any JSON, such as `{ done: 3, of: 10 }`. Cheap to call often. */
  progress(value: unknown): void
  /** From 0 up to 1, seeded by the run's seed and the attempt: a repeated attempt does not repeat its bad luck. */
  random(): number
}

export function makeContext(scope: AttemptScope): Context {
  const { runId, attempt, model, modelVersion, seed } = scope.input
  let draw: (() => number) | undefined
  let logger: Logger | undefined
  return {
    runId,
    attempt,
    model,
    modelVersion,
    seed,
    get signal() {
      return scope.signal
    },
    get logger() {
      logger ??= makeLogger(scope)
      return logger
    },
    progress: (value) => scope.progress(value),
    random: () => {
      draw ??= seededRandom(seed, attempt)
      return draw()
    },
  }
}

function makeLogger(scope: AttemptScope): Logger {
  return {
    debug: (message, fields) => scope.log('debug', message, fields),
    info: (message, fields) => scope.log('info', message, fields),
    warn: (message, fields) => scope.log('warn', message, fields),
    error: (message, fields) => scope.log('error', message, fields),
  }
}
