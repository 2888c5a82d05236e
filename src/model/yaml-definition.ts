/**
 * From one declared model to its definition: what the keys mean together, with every path made absolute. Tells what does not fit, each with
 * the path of the key at fault.
 */

import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { costProblems } from '../run/cost.ts'
import { costFrom, costPointer } from '../run/cost-names.ts'
import type { CommandSpec, ModelDefinition, PythonSpec } from '../run/definition.ts'
import { facetProblems, isPath, PATH_WANTED } from '../run/facets.ts'
import { isResultPath, notParameters } from '../run/hash-names.ts'
import { jsonPointer } from '../run/json-pointer.ts'
import { checkRetryPolicy, type RetryPolicyInput } from '../run/retry.ts'
import { type RunsPerKey, runsPerKeyProblems } from '../run/runs-per-key.ts'
import { schemaProblems } from './schema-problems.ts'
import { kubernetesOf, rayOf } from './yaml-engines.ts'
import type { YamlModel } from './yaml-schema.ts'

/** `at` is a JSON pointer from the model. */
export type Misfit = { at: string; detail: string; ofKey?: boolean }
export type Defined = { definition: ModelDefinition; misfits: Misfit[] }

const NEVER_PASSED_ON = ['DATABASE_URL', 'REDIS_URL']
/** Keys that say how a command is run. */
const COMMAND_KEYS = ['inherit_environment', 'secrets', 'stdin', 'result', 'fatal_exit_codes', 'outputs'] as const

/** Relative paths start at `from`, the folder of the file. */
export function defineYamlModel(model: YamlModel, from: string): Defined {
  const executors = model.executors ?? (model.executor ? [model.executor] : model.command ? ['command'] : [])
  const executor = model.executor ?? executors[0]
  const retry = retryOf(model)
  const folder = folderOf(model, executors, from)
  const definition: ModelDefinition = {
    name: model.name,
    version: model.version ?? '1',
    description: model.description ?? null,
    parametersSchema: model.parameters,
    ignoreInHash: model.ignore_in_hash ?? [],
    volatile: model.volatile ?? [],
    ...(model.facets && { facets: model.facets }),
    ...(model.places !== undefined && { places: model.places }),
    queue: model.queue ?? 'default',
    priority: model.priority ?? 0,
    executor: executor ?? 'remote',
    ...(executors.length > 1 && { executors: [...new Set(executors)] }),
    retry,
    timeoutSeconds: model.timeout_seconds ?? null,
    expectedSeconds: model.expected_seconds ?? null,
    concurrency: model.concurrency ?? null,
    ...(model.cost && { cost: costFrom(model.cost) }),
    ...(model.runs_per_key && { runsPerKey: definedOnly(model.runs_per_key) }),
    ...(model.command && { command: commandOf(model, model.command, folder, from) }),
    ...(model.python && { python: pythonOf(model.python, folder) }),
    ...(executors.includes('ray') && { ray: rayOf(model.ray, model.resources) }),
    ...(model.kubernetes && { kubernetes: kubernetesOf(model.kubernetes, model.resources) }),
  }
  const misfits = [
    ...executorMisfits(model, executor, executors),
    ...environmentMisfits(model),
    ...folderMisfits(model, folder),
    ...schemaProblems(model.parameters).map(({ pointer, detail }) => ({
      at: `/parameters${pointer}`,
      detail,
      ofKey: true,
    })),
    ...hashMisfits(definition),
    ...costProblems(definition.cost, model.parameters).map(({ at, detail }) => ({ at: costPointer(at), detail })),
    ...searchMisfits(model),
    ...runsPerKeyProblems(model.runs_per_key).map(({ name, detail }) => ({
      at: name === null ? '/runs_per_key' : `/runs_per_key/${name}`,
      detail,
    })),
    ...checkRetryPolicy(retry).map((detail) => ({ at: '/retry', detail: snakeCase(detail) })),
  ]
  return { definition, misfits }
}

function executorMisfits(model: YamlModel, executor: string | undefined, executors: readonly string[]): Misfit[] {
  const misfits: Misfit[] = []
  const has = (name: string) => executors.includes(name)
  if (executor === undefined) {
    misfits.push({ at: '', detail: 'says neither a command nor an executor: there is nothing to run' })
    return misfits
  }
  if (!has(executor)) misfits.push({ at: '/executor', detail: `${executor} is not one of executors` })
  if (has('remote') && executors.length > 1) {
    misfits.push({ at: '/executors', detail: 'remote stands alone; a remote worker may lease a model of any executor' })
  }
  if (has('command') && !model.command) misfits.push({ at: '', detail: 'the executor command needs the key command' })
  if (has('ray') && !model.command && !model.python) {
    misfits.push({ at: '', detail: 'the executor ray needs the key command or python' })
  }
  if (has('kubernetes') && !model.kubernetes) {
    misfits.push({ at: '', detail: 'the executor kubernetes needs the key kubernetes, with an image' })
  }
  const used: [key: keyof YamlModel, by: string[]][] = [
    ['command', ['command', 'ray', 'kubernetes']],
    ['python', ['ray', 'kubernetes', 'remote']],
    ['ray', ['ray']],
    ['kubernetes', ['kubernetes']],
    ['resources', ['command', 'ray', 'kubernetes']],
    ['folder', ['command', 'ray', 'remote']],
    ['environment', ['command', 'ray', 'kubernetes']],
  ]
  for (const [key, by] of used) {
    if (model[key] === undefined || by.some(has)) continue
    misfits.push({
      at: `/${key}`,
      ofKey: true,
      detail: `${key} is for ${by.join(' or ')}, and this is ${executors.join(', ')}`,
    })
  }
  const elsewhere = executors.filter((name) => name === 'ray' || name === 'kubernetes')
  if (model.inherit_environment && elsewhere.length > 0) {
    const detail = `${elsewhere.join(' and ')} cannot pass on variables of the worker`
    misfits.push({ at: '/inherit_environment', ofKey: true, detail })
  }
  const programKeys = [...COMMAND_KEYS, 'environment'] as const
  for (const key of model.command ? [] : programKeys) {
    if (model[key] === undefined) continue
    misfits.push({ at: `/${key}`, ofKey: true, detail: `${key} goes with a command, and there is none` })
  }
  return misfits
}

function environmentMisfits({
  environment = {},
  secrets = {},
  inherit_environment: inherited = [],
}: YamlModel): Misfit[] {
  const misfits: Misfit[] = []
  const places: [name: string, at: string][] = [
    ...Object.keys(environment).map((name): [string, string] => [name, `/environment/${name}`]),
    ...Object.keys(secrets).map((name): [string, string] => [name, `/secrets/${name}`]),
    ...inherited.map((name, index): [string, string] => [name, `/inherit_environment/${index}`]),
  ]
  const seen = new Map<string, string>()
  for (const [name, at] of places) {
    const other = seen.get(name)
    seen.set(name, at)
    if (other) misfits.push({ at, ofKey: true, detail: `${name} is set twice, here and under ${other.split('/')[1]}` })
    if (name.startsWith('HOLDFAST_')) {
      misfits.push({ at, ofKey: true, detail: `${name} is one of the names the service itself gives to programs` })
    }
    if (at.startsWith('/inherit_') && NEVER_PASSED_ON.includes(name)) {
      misfits.push({ at, detail: `${name} holds a credential of the service and is never passed on` })
    }
  }
  return misfits
}

function folderMisfits(model: YamlModel, folder: string | undefined): Misfit[] {
  if (folder === undefined) return []
  const misfits: Misfit[] = []
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
    misfits.push({ at: '/folder', detail: `there is no folder ${folder}` })
  }
  if (workingDir(model)) {
    const detail = `Ray would get two folders, this and ${folder}; keep one (folder: null leaves ours out)`
    misfits.push({ at: '/ray/runtime_env/working_dir', detail })
  }
  return misfits
}

function workingDir({ ray }: YamlModel): boolean {
  return ray?.runtime_env?.working_dir !== undefined
}

function hashMisfits({ ignoreInHash, volatile, parametersSchema }: ModelDefinition): Misfit[] {
  return [
    ...notParameters(ignoreInHash, parametersSchema).map(({ index, name, nearest }) => ({
      at: `/ignore_in_hash/${index}`,
      detail: `${JSON.stringify(name)} is no parameter; the nearest is ${nearest}`,
    })),
    ...volatile.flatMap((path, index) => {
      if (isResultPath(path)) return []
      return [{ at: `/volatile/${index}`, detail: 'must be names between dots: metrics.seconds' }]
    }),
  ]
}

function searchMisfits({ facets, places }: YamlModel): Misfit[] {
  const misfits: Misfit[] = facetProblems(facets).map(({ name, detail }) => ({
    at: name === null ? '/facets' : jsonPointer(['facets', name]),
    detail,
  }))
  return places === undefined || isPath(places) ? misfits : [...misfits, { at: '/places', detail: PATH_WANTED }]
}

function definedOnly(given: NonNullable<YamlModel['runs_per_key']>): RunsPerKey {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as RunsPerKey
}

function folderOf(model: YamlModel, executors: readonly string[], from: string): string | undefined {
  const isUsed = executors.some((name) => name !== 'kubernetes') && (model.command ?? model.python)
  if (!isUsed || model.folder === null) return undefined
  // A job on Ray that brings its own files needs none of ours.
  if (model.folder === undefined && workingDir(model) && !executors.includes('command')) return undefined
  return resolve(from, model.folder ?? '.')
}

function commandOf(model: YamlModel, argv: string[], folder: string | undefined, from: string): CommandSpec {
  const secrets = Object.entries(model.secrets ?? {}).map(([name, file]) => [name, resolve(from, file)])
  return {
    argv,
    ...(folder !== undefined && { folder }),
    ...(model.environment && { env: model.environment }),
    ...(model.inherit_environment && { envNames: model.inherit_environment }),
    ...(model.secrets && { secrets: Object.fromEntries(secrets) }),
    ...(model.result && { result: model.result }),
    ...(model.fatal_exit_codes && { fatalExitCodes: model.fatal_exit_codes }),
    ...(model.resources?.memory_mb && { memoryMb: model.resources.memory_mb }),
    ...(model.stdin !== undefined && { stdin: model.stdin }),
    ...(model.outputs && { outputs: model.outputs }),
  }
}

function pythonOf(callable: string, folder: string | undefined): PythonSpec {
  return { callable, ...(folder !== undefined && { folder }) }
}

function retryOf({ retry = {} }: YamlModel): RetryPolicyInput {
  const camelCased = Object.entries(retry).map(([name, value]) => [camelCase(name), value])
  return Object.fromEntries(camelCased) as RetryPolicyInput
}

function camelCase(name: string): string {
  return name.replace(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase())
}

/** The words of our own checks use the names of code. */
function snakeCase(text: string): string {
  return text.replace(/\b[a-z]+(?:[A-Z][a-z]+)+\b/g, (name) =>
    name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
  )
}
