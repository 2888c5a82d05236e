/** `ctx`, the second argument of a model's `run`. It may be taken apart by name: nothing in it depends on `this`. */

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
  /** What this attempt has cost so far, for models with a cost; the latest value counts. Throws for what is no amount. */
  cost(amount: number): void
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
  return new AttemptContext({ scope, isFinal }, parameters, null)
}

/** What the context of an attempt and those inside its steps share, each made at its first use. */
type Shared = {
  scope: AttemptScope
  isFinal: boolean
  draw?: () => number
  logger?: Logger
  files?: readonly ContextFile[]
  runner?: StepRunner
}

/** What makes the context inside a step another one: its signal, if it has one of its own, and steps that belong to it. */
type Within = { frame: Frame; signal: AbortSignal | null }

/**
 * Every attempt gets one and most use little of it, so only what is at hand is a property. The rest comes from the prototype and is made
 * when it is asked for, bound to its context. An object with getters and functions of its own takes 4 µs to make, this takes 0.1.
 *
 * No field is private to the language: an object made with this one as its prototype, to replace a part of it, works too.
 */
class AttemptContext implements Context {
  readonly runId: string
  readonly attempt: number
  readonly model: string
  readonly modelVersion: string
  readonly seed: number
  readonly parameters: unknown
  private readonly shared: Shared
  private readonly within: Within | null

  constructor(shared: Shared, parameters: unknown, within: Within | null) {
    const { input } = shared.scope
    this.runId = input.runId
    this.attempt = input.attempt
    this.model = input.model
    this.modelVersion = input.modelVersion
    this.seed = input.seed
    this.parameters = parameters
    this.shared = shared
    this.within = within
  }

  get signal(): AbortSignal {
    return this.within?.signal ?? this.shared.scope.signal
  }

  get logger(): Logger {
    this.shared.logger ??= makeLogger(this.shared.scope)
    return this.shared.logger
  }

  get files(): readonly ContextFile[] {
    this.shared.files ??= contextFiles(this.shared.scope.input.files)
    return this.shared.files
  }

  get file(): Context['file'] {
    return (parameter) => fileOf(this.files, parameter)
  }

  get progress(): Context['progress'] {
    return (value) => this.shared.scope.progress(value)
  }

  get cost(): Context['cost'] {
    return (amount) => this.shared.scope.cost(amount)
  }

  get random(): Context['random'] {
    this.shared.draw ??= seededRandom(this.seed, this.attempt)
    return this.shared.draw
  }

  get step(): Context['step'] {
    const runner = runnerOf(this.shared, this.parameters)
    return (...given: Given) => stepIn(runner, this.within?.frame ?? runner.root, given)
  }

  get map(): Context['map'] {
    const runner = runnerOf(this.shared, this.parameters)
    return (...given: Given) => mapIn(runner, this.within?.frame ?? runner.root, given)
  }
}

function runnerOf(shared: Shared, parameters: unknown): StepRunner {
  const contextOf = (frame: Frame, signal: AbortSignal | null) =>
    new AttemptContext(shared, parameters, { frame, signal })
  shared.runner ??= new StepRunner(shared.scope, { contextOf, isFinal: shared.isFinal })
  return shared.runner
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
