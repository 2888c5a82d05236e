/** `ctx`, the second argument of a model's `run`. Everything in it may be taken apart: nothing depends on `this`. */

import { seededRandom } from '../run/seed.ts'
import { type ContextFile, contextFiles, fileOf } from './context-files.ts'
import type { AttemptScope } from './scope.ts'
import type { MapOptions, StepOptions } from './step-policy.ts'
import { type Frame, StepRunner } from './step-runner.ts'

export type Logger = {
  debug(message: string, fields?: Record<string, unknown>): void
  info(message: string, fields?: Record<string, unknown>): void
  warn(message: string, fields?: Record<string, unknown>): void
  error(message: string, fields?: Record<string, unknown>): void
}

export type Context<Parameters = unknown> = {
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
  /** The files among the parameters, each as a local copy whose bytes were checked. */
  readonly files: readonly ContextFile[]
  /** The one file of a parameter; throws a Fatal when it has none. */
  file(parameter: string): ContextFile
  /** The latest value is shown while the attempt runs: any JSON, such as `{ done: 3, of: 10 }`. Cheap to call often. */
  progress(value: unknown): void
  /** From 0 up to 1, seeded by the run's seed and the attempt: a repeated attempt does not repeat its bad luck. */
  random(): number
  /** The parameters of the run, as `run` or the first step gets them. */
  readonly parameters: Parameters
  /**
   * A part of the work whose output is durable: a later attempt of the run gets it instead of doing the step again. The output is any
   * JSON, and what comes back has been JSON. One step per name in a run.
   */
  step<Output>(
    name: string,
    work: (ctx: Context<Parameters>) => Output,
    options?: StepOptions,
  ): Promise<Awaited<Output>>
  /** Does each item as a step of its own (`pages[0]`, `pages[1]` …), some at once; the results are in the order of the items. */
  map<Item, Output>(
    name: string,
    items: Iterable<Item>,
    work: (item: Item, ctx: Context<Parameters>, index: number) => Output,
    options?: MapOptions,
  ): Promise<Awaited<Output>[]>
}

/** `isFinal`: whether a step that failed for good ends the run. */
export function makeContext(scope: AttemptScope, parameters: unknown, isFinal: boolean): Context {
  const { runId, attempt, model, modelVersion, seed } = scope.input
  let draw: (() => number) | undefined
  let logger: Logger | undefined
  let files: readonly ContextFile[] | undefined
  let runner: StepRunner | undefined
  const steps = () => {
    runner ??= new StepRunner(scope, { contextOf, isFinal })
    return runner
  }
  const allFiles = () => {
    files ??= contextFiles(scope.input.files)
    return files
  }
  const context: Context = {
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
    get files() {
      return allFiles()
    },
    file: (parameter) => fileOf(allFiles(), parameter),
    progress: (value) => scope.progress(value),
    random: () => {
      draw ??= seededRandom(seed, attempt)
      return draw()
    },
    parameters,
    step: (...given) => stepIn(steps(), steps().root, given),
    map: (...given) => mapIn(steps(), steps().root, given),
  }
  return context

  /** The same context inside a step: with its own signal, if it has one, and steps that belong to it. */
  function contextOf(frame: Frame, signal: AbortSignal | null): Context {
    const own: PropertyDescriptorMap = {
      step: { enumerable: true, value: (...given: Given) => stepIn(steps(), frame, given) },
      map: { enumerable: true, value: (...given: Given) => mapIn(steps(), frame, given) },
      ...(signal && { signal: { enumerable: true, value: signal } }),
    }
    return Object.create(context, own) as Context
  }
}

type Given = unknown[]

function stepIn(runner: StepRunner, frame: Frame, given: Given): Promise<never> {
  const [name, work, options] = given as [string, (ctx: Context) => unknown, StepOptions?]
  return runner.step(frame, name, work, options) as Promise<never>
}

function mapIn(runner: StepRunner, frame: Frame, given: Given): Promise<never> {
  const [name, items, work, options] = given as [string, Iterable<unknown>, () => unknown, MapOptions?]
  return runner.map(frame, name, items, work, options) as Promise<never>
}

function makeLogger(scope: AttemptScope): Logger {
  return {
    debug: (message, fields) => scope.log('debug', message, fields),
    info: (message, fields) => scope.log('info', message, fields),
    warn: (message, fields) => scope.log('warn', message, fields),
    error: (message, fields) => scope.log('error', message, fields),
  }
}
