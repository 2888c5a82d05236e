/** From the body of `PUT /models/{name}/{version}` to the definition of a model that remote workers run. */

import { type ModelBody, ModelVersionParams } from '../contract/directory.ts'
import { schemaProblems } from '../model/schema-problems.ts'
import { costProblems } from '../run/cost.ts'
import { costFrom, costPointer } from '../run/cost-names.ts'
import type { ModelDefinition } from '../run/definition.ts'
import { type FieldError, Refusal } from '../run/errors.ts'
import { facetProblems, isPath, PATH_WANTED } from '../run/facets.ts'
import { isResultPath, notParameters } from '../run/hash-names.ts'
import { jsonPointer } from '../run/json-pointer.ts'
import { checkRetryPolicy, type RetryPolicyInput } from '../run/retry.ts'
import { type RunsPerKey, runsPerKeyProblems } from '../run/runs-per-key.ts'
import { forbidden, type Principal } from './principal.ts'

/** Throws a Refusal that names everything at fault. */
export function remoteDefinition(
  names: { name: string; version: string },
  body: ModelBody,
  principal: Principal,
): ModelDefinition {
  const definition: ModelDefinition = {
    ...names,
    description: body.description ?? null,
    parametersSchema: body.parameters_schema,
    ignoreInHash: body.ignore_in_hash ?? [],
    volatile: body.volatile ?? [],
    ...(body.facets && { facets: body.facets }),
    ...(body.places && { places: body.places }),
    queue: body.queue ?? 'default',
    priority: body.priority ?? 0,
    executor: 'remote',
    retry: retryOf(body),
    timeoutSeconds: body.timeout_seconds ?? null,
    expectedSeconds: body.expected_seconds ?? null,
    concurrency: body.concurrency ?? null,
    ...(body.cost && { cost: costFrom(body.cost) }),
    ...(body.runs_per_key && { runsPerKey: runsPerKeyOf(body.runs_per_key) }),
  }
  const errors = [...nameErrors(names), ...definitionErrors(definition)]
  if (errors.length > 0) {
    const detail = errors.map((error) => `${error.pointer} ${error.detail}`).join('; ')
    throw new Refusal('invalid-body', `The model cannot be registered: ${detail}.`, { errors })
  }
  if (principal.queues?.includes(definition.queue) === false) throw queueNotAllowed(principal, definition.queue)
  return definition
}

export function queueNotAllowed({ role }: Principal, queue: string): Refusal {
  return forbidden(role, 'admin', `register models of the queue ${queue}`)
}

function nameErrors(names: { name: string; version: string }): FieldError[] {
  const parsed = ModelVersionParams.safeParse(names)
  if (parsed.success) return []
  return parsed.error.issues.map(({ path, message }) => ({
    pointer: '',
    detail: `the ${String(path[0])} in the path ${message}`,
  }))
}

function definitionErrors(definition: ModelDefinition): FieldError[] {
  const { parametersSchema, ignoreInHash, volatile, facets, places, retry, runsPerKey, cost } = definition
  return [
    ...schemaProblems(parametersSchema).map(({ pointer, detail }) => ({
      pointer: `/parameters_schema${pointer}`,
      detail,
    })),
    ...notParameters(ignoreInHash, parametersSchema).map(({ index, nearest }) => ({
      pointer: `/ignore_in_hash/${index}`,
      detail: `is no parameter; the nearest is ${nearest}`,
    })),
    ...volatile.flatMap((path, index) =>
      isResultPath(path) ? [] : [{ pointer: `/volatile/${index}`, detail: 'must be names between dots' }],
    ),
    ...facetProblems(facets).map(({ name, detail }) => ({
      pointer: name === null ? '/facets' : jsonPointer(['facets', name]),
      detail,
    })),
    ...(places === undefined || isPath(places) ? [] : [{ pointer: '/places', detail: PATH_WANTED }]),
    ...runsPerKeyProblems(runsPerKey).map(({ name, detail }) => ({
      pointer: name === null ? '/runs_per_key' : `/runs_per_key/${name}`,
      detail,
    })),
    ...costProblems(cost, parametersSchema).map(({ at, detail }) => ({ pointer: costPointer(at), detail })),
    ...checkRetryPolicy(retry).map((detail) => ({ pointer: '/retry', detail })),
  ]
}

function runsPerKeyOf(given: NonNullable<ModelBody['runs_per_key']>): RunsPerKey {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as RunsPerKey
}

function retryOf({ retry }: ModelBody): RetryPolicyInput {
  if (!retry) return {}
  const policy: RetryPolicyInput = {
    maxAttempts: retry.max_attempts,
    backoff: retry.backoff,
    baseDelaySeconds: retry.base_delay_seconds,
    maxDelaySeconds: retry.max_delay_seconds,
    factor: retry.factor,
    delaysSeconds: retry.delays_seconds,
    jitter: retry.jitter,
    retryOn: retry.retry_on,
    noRetryOn: retry.no_retry_on,
  }
  return Object.fromEntries(Object.entries(policy).filter(([, value]) => value !== undefined))
}
