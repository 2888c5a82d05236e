/**
 * Runs the steps of one attempt. A step whose output is durable is not done again: its output is read instead. Any other is tried as often as
 * its options allow, and its output is durable before the step resolves. What a step gives is the same whether it was just done or read
 * back: in both cases it has been JSON.
 *
 * A step may have steps of its own. When one of its tries fails, the names used in it are free for the next try, which finds the outputs
 * committed meanwhile.
 */

import { setTimeout as pause } from 'node:timers/promises'
import type { StepReports, StepState } from '../executor/executor.ts'
import { canonicalText, NotJson } from '../run/canonical.ts'
import { isStepFailure, StepFailure } from '../run/step-failure.ts'
import {
  itemName,
  MAP_NAME_LENGTH_MAX,
  STEP_ITEMS_MAX,
  STEP_NAME_LENGTH_MAX,
  stepNameProblem,
} from '../run/step-names.ts'
import { attemptErrorFrom } from './attempt-error.ts'
import type { Context } from './context.ts'
import { isFatal, RetryError, retryDelaySeconds } from './failure.ts'
import type { AttemptScope } from './scope.ts'
import { mapConcurrently } from './step-map.ts'
import {
  CONCURRENCY_DEFAULT,
  isTriedAgain,
  type MapOptions,
  type StepOptions,
  type StepPolicy,
  stepDelaySeconds,
  stepOptionProblems,
  stepPolicyOf,
} from './step-policy.ts'
import { StepUsage, type UsageEntry } from './step-usage.ts'
import { withinTime } from './within-time.ts'

/** A longer wait that a step asks for by RetryAfter is made by the run: its attempt ends, and the next goes on with the step. */
export const WAIT_INSIDE_SECONDS_MAX = 30
const ERROR_CHARS_MAX = 1_000

/** What steps are called in: the attempt itself, or a try of a step. */
export type Frame = {
  parent: Frame | null
  names: string[]
  isOver: boolean
  /** Whether what is called in it may be called again in this attempt, and so has to find what it committed. */
  canRepeat: boolean
  usage: UsageEntry | null
}

export type StepRunnerOptions = {
  /** The context of a try. */
  contextOf: (frame: Frame, signal: AbortSignal | null) => Context
  /** Whether a RetryError ends the run. */
  isFinal: boolean
}

type Work = (ctx: Context) => unknown

export class StepRunner {
  readonly root: Frame = { parent: null, names: [], isOver: false, canRepeat: false, usage: null }
  readonly #scope: AttemptScope
  readonly #options: StepRunnerOptions
  readonly #reports: StepReports | undefined
  readonly #used = new Set<string>()
  readonly #states = new Map<string, StepState>()
  readonly #usage: StepUsage
  #done: Promise<Map<string, string>> | undefined

  constructor(scope: AttemptScope, options: StepRunnerOptions) {
    this.#scope = scope
    this.#options = options
    this.#reports = scope.steps
    this.#usage = new StepUsage(scope.meter)
  }

  async step(frame: Frame, name: string, work: Work, options?: StepOptions): Promise<unknown> {
    this.#take(frame, name, STEP_NAME_LENGTH_MAX, stepOptionProblems(options))
    const done = await this.#known()
    const known = done.get(name)
    if (known === undefined) return this.#perform(frame, name, work, stepPolicyOf(options))
    if (!frame.canRepeat) done.delete(name)
    return JSON.parse(known)
  }

  async map(
    frame: Frame,
    name: string,
    items: Iterable<unknown>,
    work: (item: unknown, ctx: Context, index: number) => unknown,
    options?: MapOptions,
  ): Promise<unknown[]> {
    this.#take(frame, name, MAP_NAME_LENGTH_MAX, stepOptionProblems(options, true))
    const { concurrency = CONCURRENCY_DEFAULT, ...stepOptions } = options ?? {}
    const policy = stepPolicyOf(stepOptions)
    const list = [...items]
    if (list.length > STEP_ITEMS_MAX)
      throw refused(name, `has ${list.length} items; at most ${STEP_ITEMS_MAX} are accepted`)
    const done = await this.#known()
    const usage = this.#usage.begin(frame.usage)
    const state = this.#begin(name, { done: 0, of: list.length })
    const inner: Frame = { parent: frame, names: frame.names, isOver: false, canRepeat: frame.canRepeat, usage }
    const doItem = async (item: unknown, index: number) => {
      const own = itemName(name, index)
      this.#claim(inner, own)
      const known = done.get(own)
      if (!frame.canRepeat) done.delete(own)
      const output =
        known === undefined
          ? await this.#perform(inner, own, (ctx) => work(item, ctx, index), policy)
          : JSON.parse(known)
      state.items!.done += 1
      return output
    }
    try {
      const results = await mapConcurrently(list, concurrency, doItem)
      const text = canonicalText({ items: list.length })
      if (!done.has(name)) await this.#commit(inner, state, 1, text, usage)
      if (frame.canRepeat) done.set(name, text)
      this.#states.delete(name)
      return results
    } catch (thrown) {
      this.#fail(state, thrown)
      throw thrown
    } finally {
      inner.isOver = true
      this.#usage.end(usage)
    }
  }

  async #perform(frame: Frame, name: string, work: Work, policy: StepPolicy): Promise<unknown> {
    const state = this.#begin(name)
    const usage = this.#usage.begin(frame.usage)
    try {
      const text = await this.#try(frame, state, work, policy, usage)
      await this.#commit(frame, state, state.tries, text, usage)
      this.#states.delete(name)
      if (frame.canRepeat) (await this.#known()).set(name, text)
      return JSON.parse(text)
    } catch (thrown) {
      this.#fail(state, thrown)
      throw thrown
    } finally {
      this.#usage.end(usage)
    }
  }

  /** The text of the output of the first try that went well. */
  async #try(frame: Frame, state: StepState, work: Work, policy: StepPolicy, usage: UsageEntry): Promise<string> {
    for (let tries = 1; ; tries += 1) {
      const inner: Frame = { parent: frame, names: [], isOver: false, canRepeat: true, usage }
      try {
        const output = await withinTime(
          state.name,
          policy.timeoutSeconds,
          () => this.#scope.signal,
          (signal) => work(this.#options.contextOf(inner, signal)),
        )
        frame.names.push(...inner.names)
        return textOf(state.name, output)
      } catch (thrown) {
        for (const name of inner.names) this.#used.delete(name)
        const delaySeconds = this.#delayAfter(thrown, state, policy, tries)
        await pause(delaySeconds * 1_000, undefined, { signal: this.#scope.signal })
        this.#change(state, { state: 'RUNNING', tries: tries + 1 })
      } finally {
        inner.isOver = true
      }
    }
  }

  /** How long to wait before the next try; throws when there is none. */
  #delayAfter(thrown: unknown, state: StepState, policy: StepPolicy, tries: number): number {
    if (this.#scope.abortReason !== null || isPassedOn(thrown)) throw thrown
    const error = attemptErrorFrom(thrown)
    state.lastError = shortError(error)
    if (!isTriedAgain(policy, tries, error.class)) throw new RetryError(state.name, tries, error, this.#options.isFinal)
    this.#change(state, { state: 'WAITING' })
    return error.retryAfterSeconds ?? stepDelaySeconds(policy, tries, Math.random())
  }

  async #commit(
    frame: Frame,
    { name, startedAt }: StepState,
    tries: number,
    outputText: string,
    usage: UsageEntry,
  ): Promise<void> {
    this.#assertOpen(frame, name)
    await this.#reports?.commit({ name, outputText, tries, startedAt, ...this.#usage.of(usage) })
  }

  #known(): Promise<Map<string, string>> {
    this.#done ??= (this.#reports?.done() ?? Promise.resolve([])).then(
      (done) => new Map(done.map(({ name, outputText }) => [name, outputText])),
    )
    return this.#done
  }

  #take(frame: Frame, name: string, lengthMax: number, problems: string[]): void {
    const wrong = stepNameProblem(name, lengthMax)
    if (wrong !== null) throw refused(String(name), `is no name for a step: it ${wrong}`)
    if (problems.length > 0) throw refused(name, `is not defined correctly: ${problems.join('; ')}`)
    this.#claim(frame, name)
  }

  #claim(frame: Frame, name: string): void {
    this.#assertOpen(frame, name)
    if (this.#used.has(name)) throw refused(name, 'is there twice: each step of a run needs a name of its own')
    this.#used.add(name)
    frame.names.push(name)
  }

  /** What an attempt, or a try that took too long, has left running commits nothing. */
  #assertOpen(frame: Frame, name: string): void {
    for (let open: Frame | null = frame; open !== null; open = open.parent) {
      if (open.isOver || this.#scope.isOver) {
        throw new StepFailure(
          'StepOver',
          `the step ${JSON.stringify(name)} comes after the end of what it belongs to`,
          { isFinal: false },
        )
      }
    }
  }

  #begin(name: string, items?: { done: number; of: number }): StepState {
    const state: StepState = {
      name,
      state: 'RUNNING',
      tries: 1,
      startedAt: new Date(),
      lastError: null,
      ...(items && { items }),
    }
    this.#states.set(name, state)
    this.#tell()
    return state
  }

  #change(state: StepState, changes: Partial<StepState>): void {
    Object.assign(state, changes)
    this.#tell()
  }

  /** What was stopped has not failed. */
  #fail(state: StepState, thrown: unknown): void {
    if (this.#scope.abortReason !== null) return
    const isOwn = thrown instanceof RetryError && thrown.step === state.name
    this.#change(state, { state: 'FAILED', ...(!isOwn && { lastError: shortError(attemptErrorFrom(thrown)) }) })
  }

  #tell(): void {
    if (!this.#scope.isOver) this.#reports?.states([...this.#states.values()])
  }
}

/** Trying again cannot help, or has been tried enough already by a step inside. */
function isPassedOn(thrown: unknown): boolean {
  if (typeof thrown !== 'object' || thrown === null) return false
  return isStepFailure(thrown) || thrown instanceof RetryError || isBranded(thrown)
}

function isBranded(thrown: object): boolean {
  try {
    return isFatal(thrown) || (retryDelaySeconds(thrown) ?? 0) > WAIT_INSIDE_SECONDS_MAX
  } catch {
    return false
  }
}

function textOf(name: string, output: unknown): string {
  try {
    return canonicalText(output)
  } catch (thrown) {
    const why = thrown instanceof NotJson ? thrown.message : attemptErrorFrom(thrown).message
    throw new StepFailure(
      'StepOutputNotJson',
      `the output of the step ${JSON.stringify(name)} cannot be stored as JSON: ${why}`,
      {
        isFinal: true,
      },
    )
  }
}

function refused(name: string, why: string): StepFailure {
  return new StepFailure('StepRefused', `the step ${JSON.stringify(name)} ${why}`, { isFinal: true })
}

function shortError({ class: name, message }: { class: string; message: string }): { class: string; message: string } {
  return { class: name, message: message.slice(0, ERROR_CHARS_MAX).toWellFormed() }
}
