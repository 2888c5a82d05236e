/**
 * How users define models; this is what `import ... from 'holdfast'` gives.
 *
 *     export default model({
 *       name: 'double', version: '1',
 *       parameters: z.object({ n: z.number() }),
 *       async run({ n }, ctx) { return { twice: n * 2 } },
 *     })
 *
 * A model's `run` may execute more than once for one run: a worker can die after the work and before it is settled. A model made of steps
 * does each step whose output is durable only once:
 *
 *     export default model({ name: 'report', parameters: z.object({ day: z.string() }) })
 *       .step('load', ({ day }, ctx) => rowsOf(day))
 *       .step('sum', (rows, ctx) => ({ total: sumOf(rows) }))
 */

import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { CostDefinition } from '../run/cost.ts'
import type { ModelDefinition } from '../run/definition.ts'
import type { RetryPolicyInput } from '../run/retry.ts'
import type { RunsPerKey } from '../run/runs-per-key.ts'
import { STEPS_MAX, stepNameProblem } from '../run/step-names.ts'
import type { Context } from './context.ts'
import { definitionFrom } from './options.ts'
import { parameterCheckOf } from './parameter-check.ts'
import { type StepOptions, stepOptionProblems } from './step-policy.ts'

export type { AbortReason } from '../executor/executor.ts'
export { seededRandom } from '../run/seed.ts'
export type { Context, Logger } from './context.ts'
export type { ContextFile } from './context-files.ts'
export { Fatal, RetryAfter, RetryError } from './failure.ts'
export { fileId } from './file-id.ts'
export { jsonSchema } from './parameter-schema.ts'
export { Aborted } from './scope.ts'
export type { MapOptions, StepBackoff, StepOptions } from './step-policy.ts'

const MODEL = Symbol.for('holdfast.model')

export type ModelOptions<Schema extends StandardSchemaV1, Result> = {
  name: string
  /** Runs keep the version they were submitted with; '1' when not given. */
  version?: string
  description?: string
  /** Any Standard Schema that can state itself as JSON Schema, or `jsonSchema({...})`. */
  parameters: Schema
  /** Parameters that do not make another input: left out of the payload hash. */
  ignoreInHash?: string[]
  /** Parts of the result that may differ between equal runs: left out of the result hash. A dot reaches inside. */
  volatile?: string[]
  /** Name → path into the result: what runs are found by, as `GET /runs?facet=language:fr`. Arrays give several values. */
  facets?: Record<string, string>
  /** Path to the array of places in the result, each `{latitude, longitude, label?}`: what maps are searched by. */
  places?: string
  queue?: string
  /** -100 to 100, higher first, 0 when not given. */
  priority?: number
  retry?: RetryPolicyInput
  timeoutSeconds?: number
  /** How long an attempt usually takes; three times this is the timeout when none is set. */
  expectedSeconds?: number
  /** At most this many at once in one worker. */
  concurrency?: number
  /**
   * At most so many active runs for each key, wherever they run: `{ key: '/customer' }` is one run for each customer. Others wait (`queue`),
   * are refused (`refuse`) or take the place of older ones (`cancel_older`), as `mode` says.
   */
  runsPerKey?: RunsPerKey
  /**
   * What a run costs: `estimate` is a number or a CEL expression over `parameters`, held when the run is submitted; its end replaces it by what
   * `ctx.cost` said, or the time of its attempts at `ratePerSecond`.
   */
  cost?: CostDefinition
  /** `process` (the default) runs in a child process; `inline` in the worker itself, for short and trusted work. */
  executor?: 'process' | 'inline'
  /** The result is any JSON value; nothing returned is null. */
  run(
    parameters: StandardSchemaV1.InferOutput<Schema>,
    ctx: Context<StandardSchemaV1.InferOutput<Schema>>,
  ): Result | Promise<Result>
}

export type Model<Schema extends StandardSchemaV1 = StandardSchemaV1, Result = unknown> = {
  readonly [MODEL]: true
  readonly name: string
  readonly version: string
  readonly parameters: Schema
  readonly definition: ModelDefinition
  run(
    parameters: StandardSchemaV1.InferOutput<Schema>,
    ctx: Context<StandardSchemaV1.InferOutput<Schema>>,
  ): Result | Promise<Result>
}

/** The output of one step is the input of the next; that of the last is the result. Each call gives a new model. */
export type SteppedModel<Schema extends StandardSchemaV1, Result> = Model<Schema, Result> & {
  step<Output>(
    name: string,
    work: (input: Result, ctx: Context<StandardSchemaV1.InferOutput<Schema>>) => Output,
    options?: StepOptions,
  ): SteppedModel<Schema, Awaited<Output>>
}

/** A model that has nothing to do yet. The input of its first step are the parameters. */
export type ModelStart<Schema extends StandardSchemaV1> = Omit<Model<Schema>, 'run'> & {
  step<Output>(
    name: string,
    work: (input: StandardSchemaV1.InferOutput<Schema>, ctx: Context<StandardSchemaV1.InferOutput<Schema>>) => Output,
    options?: StepOptions,
  ): SteppedModel<Schema, Awaited<Output>>
}

/** Throws a TypeError that lists everything wrong with the options. Without `run` the model is made of steps. */
export function model<Schema extends StandardSchemaV1, Result>(
  options: ModelOptions<Schema, Result>,
): Model<Schema, Result>
export function model<Schema extends StandardSchemaV1>(
  options: Omit<ModelOptions<Schema, unknown>, 'run'> & { run?: never },
): ModelStart<Schema>
export function model(options: Partial<ModelOptions<StandardSchemaV1, unknown>>): object {
  const definition = definitionFrom(options)
  const facts = factsOf(definition, options.parameters!)
  return Object.freeze('run' in options ? { ...facts, run: options.run } : { ...facts, step: stepAfter(facts, []) })
}

type Facts = Omit<Model, 'run'>
type StepDefinition = {
  name: string
  work: (input: unknown, ctx: Context) => unknown
  options: StepOptions | undefined
}

function factsOf(definition: ModelDefinition, parameters: StandardSchemaV1): Facts {
  return { [MODEL]: true, name: definition.name, version: definition.version, parameters, definition }
}

function stepAfter(facts: Facts, steps: readonly StepDefinition[]) {
  return (name: string, work: StepDefinition['work'], options?: StepOptions) => {
    const problems = stepProblems(steps, name, work, options)
    if (problems.length > 0) {
      throw new TypeError(
        `the step ${JSON.stringify(name)} of the model ${facts.name} is not defined correctly:\n- ${problems.join('\n- ')}`,
      )
    }
    const all = [...steps, { name, work, options }]
    const more = factsOf({ ...facts.definition, steps: all.map((step) => step.name) }, facts.parameters)
    return Object.freeze({ ...more, run: runOf(all), step: stepAfter(more, all) })
  }
}

function stepProblems(steps: readonly StepDefinition[], name: string, work: unknown, options: unknown): string[] {
  const wrong = stepNameProblem(name)
  const problems = wrong === null ? [] : [`its name ${wrong}`]
  if (steps.some((step) => step.name === name)) problems.push('there is a step of this name already')
  if (steps.length >= STEPS_MAX) problems.push(`a model has at most ${STEPS_MAX} steps`)
  if (typeof work !== 'function') problems.push('it needs a function of (input, ctx)')
  return [...problems, ...stepOptionProblems(options)]
}

function runOf(steps: readonly StepDefinition[]): Model['run'] {
  return async (parameters, ctx) => {
    let value: unknown = parameters
    for (const { name, work, options } of steps) {
      const input = value
      value = await ctx.step(name, (own) => work(input, own), options)
    }
    return value
  }
}

export function isModel(value: unknown): value is Model {
  return typeof value === 'object' && value !== null && MODEL in value
}

/** What the service registers. Throws when the stated JSON Schema is none. */
export function definitionOf(model: Model): ModelDefinition {
  try {
    parameterCheckOf(model.definition.parametersSchema)
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new TypeError(`the model ${model.name} has parameters whose JSON Schema does not compile: ${why}`, { cause })
  }
  return model.definition
}
