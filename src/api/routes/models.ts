/** Models: what can be run, with which parameters, and whether a live worker offers it now. */

import type { FastifyInstance } from 'fastify'
import {
  type ModelObject,
  ModelParams,
  ModelQuery,
  ModelObject as ModelSchema,
  ModelsAnswer,
} from '../../contract/directory.ts'
import { PAGE_LIMIT_DEFAULT, PageQuery } from '../../contract/page.ts'
import { mergeRetryPolicy, type RetryPolicyInput } from '../../run/retry.ts'
import type { ModelEntry, ModelVersion } from '../../store/ports/directory.ts'
import type { ApiDeps } from '../api.ts'
import { checkedQuery } from '../query.ts'
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

export function modelRoutes(app: FastifyInstance, { store, config }: ApiDeps): void {
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
      queue: definition.queue,
      priority: definition.priority,
      executor: definition.executor,
      retry: retryObject([config.retry, queuePolicies.get(definition.queue) ?? {}, definition.retry]),
      timeout_seconds: definition.timeoutSeconds,
      expected_seconds: definition.expectedSeconds,
      concurrency: definition.concurrency,
      registered_at: shown.registeredAt.toISOString(),
      offered: shown.liveWorkers > 0,
      live_workers: shown.liveWorkers,
      versions: versions.map(versionObject),
    }
  }
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
