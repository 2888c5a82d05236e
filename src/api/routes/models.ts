/** Models: what can be run, with which parameters, and whether a live worker offers it now. */

import type { FastifyInstance } from 'fastify'
import {
  ModelBody,
  type ModelObject,
  ModelParams,
  ModelQuery,
  ModelObject as ModelSchema,
  ModelsAnswer,
  ModelVersionParams,
} from '../../contract/directory.ts'
import { PAGE_LIMIT_DEFAULT, PageQuery } from '../../contract/page.ts'
import { allowedExecutors } from '../../run/allowed-executors.ts'
import type { ModelDefinition } from '../../run/definition.ts'
import { Refusal } from '../../run/errors.ts'
import { mergeRetryPolicy, type RetryPolicyInput } from '../../run/retry.ts'
import type { ModelEntry, ModelVersion } from '../../store/ports/directory.ts'
import type { ApiDeps } from '../api.ts'
import { checkedBody } from '../body.ts'
import { actorOf, principalOf } from '../principal.ts'
import { checkedQuery } from '../query.ts'
import { queueNotAllowed, remoteDefinition } from '../remote-definition.ts'
import type { RouteDoc } from '../route-doc.ts'
import { sendJson } from '../send-json.ts'
import { unknownModel, unknownVersion } from '../unknown-model.ts'

const LIST_DOC: RouteDoc = {
  summary: 'List the models',
  description: 'In the order of their names, each in its newest version.',
  tag: 'models',
  query: PageQuery,
  answers: { 200: { description: 'A page of models.', schema: ModelsAnswer } },
  refusals: ['invalid-query'],
}

const READ_DOC: RouteDoc = {
  summary: 'Read a model',
  description: 'With the JSON Schema of its parameters, in the newest version or the one asked for.',
  tag: 'models',
  params: ModelParams,
  query: ModelQuery,
  answers: { 200: { description: 'The model.', schema: ModelSchema } },
  refusals: ['invalid-query', 'unknown-model', 'unknown-model-version'],
}

const ONE = { description: 'The model as it is registered now.', schema: ModelSchema }

const REGISTER_DOC: RouteDoc = {
  summary: 'Register a model for remote workers',
  description:
    'So that runs of it can be submitted; its executor is `remote`. The same again changes nothing, another definition of the same version ' +
    'replaces the one before and is audited. A version that our own workers registered is refused.',
  tag: 'models',
  params: ModelVersionParams,
  body: ModelBody,
  answers: {
    200: { ...ONE, description: 'It was registered before; its definition is now this one.' },
    201: {
      ...ONE,
      description: 'It is registered for the first time.',
      headers: { Location: 'The path of the model.' },
    },
  },
  refusals: ['model-registered-otherwise'],
}

export function modelRoutes(app: FastifyInstance, { store, config, log }: ApiDeps): void {
  app.get('/models', { config: { role: 'viewer', doc: LIST_DOC } }, async (request, reply) => {
    const { limit = PAGE_LIMIT_DEFAULT, cursor = null } = checkedQuery(request, PageQuery)
    const [page, queuePolicies] = await Promise.all([store.directory.models({ limit, cursor }), readQueuePolicies()])
    const data = page.items.map((entry) => modelObject(entry, queuePolicies))
    return sendJson(reply, { data, next_cursor: page.nextCursor })
  })

  app.get('/models/:name', { config: { role: 'viewer', doc: READ_DOC } }, async (request, reply) => {
    const { name } = request.params as { name: string }
    const version = checkedQuery(request, ModelQuery).version ?? null
    const entry = await store.directory.model(name, version)
    if (entry) return sendJson(reply, modelObject(entry, await readQueuePolicies()))
    const newest = version === null ? null : await store.directory.model(name, null)
    if (newest) throw unknownVersion({ model: name, model_version: version }, newest.shown.version)
    throw unknownModel(name, await store.listModelNames())
  })

  app.put(
    '/models/:name/:version',
    { config: { role: 'worker', body: 'required', doc: REGISTER_DOC } },
    async (request, reply) => {
      const names = request.params as { name: string; version: string }
      const principal = principalOf(request)
      const definition = remoteDefinition(names, checkedBody(request, ModelBody), principal)
      const registered = await store.directory.registerModel(definition, principal.queues ?? null, actorOf(request))
      if (typeof registered === 'object') {
        if (registered.executor !== 'remote') throw registeredOtherwise(names, registered.executor)
        throw queueNotAllowed(principal, registered.queue)
      }
      if (registered !== 'same')
        log.info({ request_id: request.id, ...names }, `model ${registered} for remote workers`)
      const { name, version } = names
      const entry = await store.directory.model(name, version)
      if (!entry) throw unknownVersion({ model: name, model_version: version }, version)
      if (registered === 'created') {
        reply.code(201).header('Location', `/models/${encodeURIComponent(name)}?version=${encodeURIComponent(version)}`)
      }
      return sendJson(reply, modelObject(entry, await readQueuePolicies()))
    },
  )

  async function readQueuePolicies(): Promise<Map<string, RetryPolicyInput>> {
    return new Map((await store.readQueues()).map(({ queue, retry }) => [queue, retry]))
  }

  function modelObject(entry: ModelEntry, queuePolicies: Map<string, RetryPolicyInput>): ModelObject {
    const { definition, shown, versions } = entry
    return {
      name: entry.name,
      version: shown.version,
      description: definition.description,
      parameters_schema: definition.parametersSchema,
      ignore_in_hash: definition.ignoreInHash,
      volatile: definition.volatile,
      facets: definition.facets ?? {},
      places: definition.places ?? null,
      queue: definition.queue,
      priority: definition.priority,
      executor: definition.executor,
      executors: allowedExecutors(definition),
      steps: definition.steps ?? [],
      retry: retryObject([config.retry, queuePolicies.get(definition.queue) ?? {}, definition.retry]),
      timeout_seconds: definition.timeoutSeconds,
      expected_seconds: definition.expectedSeconds,
      concurrency: definition.concurrency,
      runs_per_key: runsPerKeyObject(definition),
      cost: costObject(definition),
      registered_at: shown.registeredAt.toISOString(),
      offered: shown.liveWorkers > 0,
      live_workers: shown.liveWorkers,
      versions: versions.map(versionObject),
    }
  }
}

function registeredOtherwise({ name, version }: { name: string; version: string }, executor: string): Refusal {
  const detail = `${name}@${version} is registered by workers that run it on the executor ${executor}; it was left as it is.`
  return new Refusal('model-registered-otherwise', detail, { extra: { executor } })
}

function versionObject({ version, registeredAt, liveWorkers }: ModelVersion): ModelObject['versions'][number] {
  return {
    version,
    registered_at: registeredAt.toISOString(),
    offered: liveWorkers > 0,
    live_workers: liveWorkers,
  }
}

function retryObject([global, queue, model]: [
  RetryPolicyInput,
  RetryPolicyInput,
  RetryPolicyInput,
]): ModelObject['retry'] {
  const policy = mergeRetryPolicy(global, queue, model)
  return {
    max_attempts: policy.maxAttempts,
    backoff: policy.backoff,
    base_delay_seconds: policy.baseDelaySeconds,
    max_delay_seconds: policy.maxDelaySeconds,
    factor: policy.factor,
    delays_seconds: policy.delaysSeconds,
    jitter: policy.jitter,
    retry_on: policy.retryOn,
    no_retry_on: policy.noRetryOn,
  }
}

function costObject({ cost }: Pick<ModelDefinition, 'cost'>): ModelObject['cost'] {
  if (!cost) return null
  const { estimate, ratePerSecond = null, onFailure = 'actual', onCancel = 'actual', currency = null } = cost
  return { estimate, rate_per_second: ratePerSecond, on_failure: onFailure, on_cancel: onCancel, currency }
}

function runsPerKeyObject({ runsPerKey }: Pick<ModelDefinition, 'runsPerKey'>): ModelObject['runs_per_key'] {
  if (!runsPerKey) return null
  const { key, limit = 1, mode = 'queue', scope = 'owner' } = runsPerKey
  return { key, limit, mode, scope }
}
