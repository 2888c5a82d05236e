/**
 * How users define models; this is what `import ... from 'holdfast'` gives.
 *
 *     export default model({
 *       name: 'double', version: '1',
 *       parameters: z.object({ n: z.number() }),
 *       async run({ n }, ctx) { return { twice: n * 2 } },
 *     })
 *
 * A model's `run` may execute more than once for one run: a worker can die after the work and before it is settled.
 */

import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { ModelDefinition } from '../run/definition.ts'
import type { RetryPolicyInput } from '../run/retry.ts'
import type { Context } from './context.ts'
import { definitionFrom } from './options.ts'
import { parameterCheckOf } from './parameter-check.ts'

export type { AbortReason } from '../executor/executor.ts'
export { seededRandom } from '../run/seed.ts'
export type { Context, Logger } from './context.ts'
export { Fatal, RetryAfter } from './failure.ts'
export { jsonSchema } from './parameter-schema.ts'
export { Aborted } from './scope.ts'

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
  queue?: string
  /** -100 to 100, higher first, 0 when not given. */
  priority?: number
  retry?: RetryPolicyInput
  timeoutSeconds?: number
  /** How long an attempt usually takes; three times this is the timeout when none is set. */
  expectedSeconds?: number
  /** At most this many at once in one worker. */
  concurrency?: number
  /** `process` (the default) runs in a child process; `inline` in the worker itself, for short and trusted work. */
  executor?: 'process' | 'inline'
  /** The result is any JSON value; nothing returned is null. */
  run(parameters: StandardSchemaV1.InferOutput<Schema>, ctx: Context): Result | Promise<Result>
}

export type Model<Schema extends StandardSchemaV1 = StandardSchemaV1, Result = unknown> = {
  readonly [MODEL]: true
  readonly name: string
  readonly version: string
  readonly parameters: Schema
  readonly definition: ModelDefinition
  run(parameters: StandardSchemaV1.InferOutput<Schema>, ctx: Context): Result | Promise<Result>
}

/** Throws a TypeError that lists everything wrong with the options. */
export function model<Schema extends StandardSchemaV1, Result>(
  options: ModelOptions<Schema, Result>,
): Model<Schema, Result> {
  const definition = definitionFrom(options)
  return Object.freeze({
    [MODEL]: true as const,
    name: definition.name,
    version: definition.version,
    parameters: options.parameters,
    definition,
    run: options.run,
  })
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
