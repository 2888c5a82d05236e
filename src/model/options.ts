/**
 * Checks what a user passes to `model({...})`, once, where it is written: an unknown option is refused with the nearest name, and
 * every problem is told in one error. Answers the definition the service registers.
 */

import { closest } from 'fastest-levenshtein'
import { type CostDefinition, costProblems } from '../run/cost.ts'
import type { JsonSchema, ModelDefinition } from '../run/definition.ts'
import { facetProblems, isPath, PATH_WANTED } from '../run/facets.ts'
import { isResultPath, notParameters } from '../run/hash-names.ts'
import {
  MODEL_NAME,
  MODEL_NAME_WANTED,
  MODEL_SECONDS_MAX,
  MODEL_VERSION,
  MODEL_VERSION_WANTED,
  PRIORITY_MAX,
  QUEUE_NAME,
  QUEUE_NAME_WANTED,
} from '../run/model-names.ts'
import { checkRetryPolicy, type RetryPolicyInput } from '../run/retry.ts'
import { type RunsPerKey, runsPerKeyProblems } from '../run/runs-per-key.ts'
import { misplacedFiles } from './misplaced-files.ts'
import { statedJsonSchema } from './parameter-schema.ts'

const OPTION_NAMES = [
  'name',
  'version',
  'description',
  'parameters',
  'ignoreInHash',
  'volatile',
  'facets',
  'places',
  'queue',
  'priority',
  'retry',
  'timeoutSeconds',
  'expectedSeconds',
  'concurrency',
  'runsPerKey',
  'cost',
  'executor',
  'run',
]
const EXECUTORS = ['process', 'inline']

type Loose = Record<string, unknown>

/** Throws a TypeError that lists everything wrong with the options. */
export function definitionFrom(options: Loose): ModelDefinition {
  if (typeof options !== 'object' || options === null) throw new TypeError('model() takes an object of options')
  const label = typeof options.name === 'string' ? `the model ${options.name}` : 'a model'
  const problems = [...unknownOptions(options), ...identityProblems(options), ...settingProblems(options)]
  problems.push(...searchProblems(options), ...keyProblems(options))
  let parametersSchema: JsonSchema = {}
  try {
    parametersSchema = statedJsonSchema(options.parameters)
    problems.push(...hashProblems(options.ignoreInHash, parametersSchema), ...volatileProblems(options.volatile))
    problems.push(
      ...costProblems(options.cost, parametersSchema).map(({ at, detail }) => `cost${at && `.${at}`}: ${detail}`),
    )
    problems.push(...misplacedFiles(parametersSchema).map(({ pointer, detail }) => `parameters: ${pointer}: ${detail}`))
  } catch (error) {
    problems.push((error as Error).message)
  }
  if (problems.length > 0) throw new TypeError(`${label} is not defined correctly:\n- ${problems.join('\n- ')}`)
  return {
    name: options.name as string,
    version: (options.version as string | undefined) ?? '1',
    description: (options.description as string | undefined) ?? null,
    parametersSchema,
    ignoreInHash: [...((options.ignoreInHash as string[] | undefined) ?? [])],
    volatile: [...((options.volatile as string[] | undefined) ?? [])],
    ...(options.facets !== undefined && { facets: { ...(options.facets as Record<string, string>) } }),
    ...(options.places !== undefined && { places: options.places as string }),
    queue: (options.queue as string | undefined) ?? 'default',
    priority: (options.priority as number | undefined) ?? 0,
    executor: (options.executor as string | undefined) ?? 'process',
    retry: { ...(options.retry as RetryPolicyInput | undefined) },
    timeoutSeconds: (options.timeoutSeconds as number | undefined) ?? null,
    expectedSeconds: (options.expectedSeconds as number | undefined) ?? null,
    concurrency: (options.concurrency as number | undefined) ?? null,
    ...(options.cost !== undefined && { cost: { ...(options.cost as CostDefinition) } }),
    ...(options.runsPerKey !== undefined && { runsPerKey: { ...(options.runsPerKey as RunsPerKey) } }),
  }
}

function unknownOptions(options: Loose): string[] {
  return Object.keys(options)
    .filter((name) => !OPTION_NAMES.includes(name))
    .map((name) => `${name}: there is no such option; the nearest is ${closest(name, OPTION_NAMES)}`)
}

function identityProblems(options: Loose): string[] {
  const { name, version, description, run } = options
  const problems: string[] = []
  if (typeof name !== 'string' || !MODEL_NAME.test(name)) {
    problems.push(`name: ${shown(name)} must be ${MODEL_NAME_WANTED}`)
  }
  if (version !== undefined && (typeof version !== 'string' || !MODEL_VERSION.test(version))) {
    problems.push(`version: ${shown(version)} must be a text of ${MODEL_VERSION_WANTED}`)
  }
  if (description !== undefined && typeof description !== 'string') problems.push('description: must be a text')
  // Without it the model is made of steps, which are named after the options.
  if ('run' in options && typeof run !== 'function') problems.push('run: must be a function of (parameters, ctx)')
  return problems
}

function settingProblems(options: Loose): string[] {
  const { queue, priority, executor, concurrency, retry } = options
  const problems: string[] = []
  if (queue !== undefined && (typeof queue !== 'string' || !QUEUE_NAME.test(queue))) {
    problems.push(`queue: ${shown(queue)} must be ${QUEUE_NAME_WANTED}`)
  }
  if (priority !== undefined && !(Number.isInteger(priority) && Math.abs(priority as number) <= PRIORITY_MAX)) {
    problems.push(`priority: ${shown(priority)} must be a whole number from -${PRIORITY_MAX} to ${PRIORITY_MAX}`)
  }
  if (executor !== undefined && !EXECUTORS.includes(executor as string)) {
    problems.push(`executor: ${shown(executor)} must be one of ${EXECUTORS.join(', ')}`)
  }
  if (concurrency !== undefined && !(Number.isInteger(concurrency) && (concurrency as number) >= 1)) {
    problems.push(`concurrency: ${shown(concurrency)} must be a whole number of 1 or more`)
  }
  for (const name of ['timeoutSeconds', 'expectedSeconds']) {
    const seconds = options[name]
    if (seconds === undefined) continue
    if (typeof seconds !== 'number' || !(seconds > 0 && seconds <= MODEL_SECONDS_MAX)) {
      problems.push(`${name}: ${shown(seconds)} must be above 0 and at most ${MODEL_SECONDS_MAX}`)
    }
  }
  if (retry !== undefined) problems.push(...checkRetryPolicy(retry).map((problem) => `retry: ${problem}`))
  return problems
}

function hashProblems(ignoreInHash: unknown, schema: JsonSchema): string[] {
  if (ignoreInHash === undefined) return []
  if (!isTexts(ignoreInHash)) return ['ignoreInHash: must be a list of parameter names']
  return notParameters(ignoreInHash, schema).map(
    ({ name, nearest }) => `ignoreInHash: ${shown(name)} is no parameter; the nearest is ${nearest}`,
  )
}

function volatileProblems(volatile: unknown): string[] {
  if (volatile === undefined) return []
  const wellFormed = isTexts(volatile) && volatile.every(isResultPath)
  return wellFormed ? [] : ['volatile: must be a list of result names, a dot reaching inside: metrics.runtime_seconds']
}

function searchProblems({ facets, places }: Loose): string[] {
  const problems = facetProblems(facets).map(
    ({ name, detail }) => `facets${name === null ? '' : `.${name}`}: ${detail}`,
  )
  if (places !== undefined && !isPath(places)) problems.push(`places: ${PATH_WANTED}`)
  return problems
}

function keyProblems({ runsPerKey }: Loose): string[] {
  return runsPerKeyProblems(runsPerKey).map(
    ({ name, detail }) => `runsPerKey${name === null ? '' : `.${name}`}: ${detail}`,
  )
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
}

function shown(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value) : String(value)
}
