/** Workers tell who they are and which models they offer; the API validates from these definitions. */

import type pg from 'pg'
import type { ModelDefinition } from '../run/definition.ts'
import { publicDefinition } from '../run/public-definition.ts'
import type { RegisteredModel, WorkerRegistration } from './store.ts'

const REGISTER_WORKER = `
INSERT INTO workers (worker_id, host, pid, version, queues, models, concurrency, queue_limits, model_limits)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
ON CONFLICT (worker_id) DO UPDATE SET last_seen_at = clock(), stopped_at = NULL,
  queues = excluded.queues, models = excluded.models, concurrency = excluded.concurrency,
  queue_limits = excluded.queue_limits, model_limits = excluded.model_limits`

// A definition that did not change is not written again, so that registration says when a version was first seen.
const REGISTER_MODELS = `
INSERT INTO models (name, version, definition)
SELECT d->>'name', d->>'version', d FROM unnest($1::jsonb[]) AS d ORDER BY 1, 2
ON CONFLICT (name, version) DO UPDATE SET definition = excluded.definition, updated_at = clock()
WHERE models.definition <> excluded.definition`

const REGISTER_QUEUES = `INSERT INTO queues (queue) SELECT unnest($1::text[]) ORDER BY 1 ON CONFLICT DO NOTHING`

const FIND_MODEL = `
SELECT version, definition, registered_at FROM models WHERE name = $1 AND ($2::text IS NULL OR version = $2)
ORDER BY registered_at DESC FETCH FIRST 1 ROW WITH TIES`

/** Of versions registered together, 10 comes after 9. */
const versionOrder = new Intl.Collator('en', { numeric: true })

export async function registerWorker(pool: pg.Pool, worker: WorkerRegistration): Promise<void> {
  const models = [...worker.models, ...(worker.declared ?? [])]
  const queues = [...new Set([...worker.queues, ...models.map((model) => model.queue)])]
  // How a worker runs a model stays with the worker: there are paths and secrets in it.
  await pool.query(REGISTER_MODELS, [models.map((model) => JSON.stringify(publicDefinition(model)))])
  await pool.query(REGISTER_QUEUES, [queues])
  await pool.query(REGISTER_WORKER, [
    worker.workerId,
    worker.host,
    worker.pid,
    worker.version,
    worker.queues,
    worker.models.map((model) => `${model.name}@${model.version}`),
    worker.concurrency,
    JSON.stringify(worker.queueLimits ?? {}),
    JSON.stringify(modelLimits(worker.models)),
  ])
}

function modelLimits(models: ModelDefinition[]): Record<string, number> {
  const limited = models.filter(({ concurrency }) => concurrency !== null)
  return Object.fromEntries(limited.map(({ name, version, concurrency }) => [`${name}@${version}`, concurrency!]))
}

export async function workerStopped(pool: pg.Pool, workerId: string): Promise<void> {
  await pool.query('UPDATE workers SET stopped_at = clock() WHERE worker_id = $1', [workerId])
}

export async function forgetDeadWorkers(pool: pg.Pool, afterMs: number): Promise<number> {
  const { rowCount } = await pool.query(
    `DELETE FROM workers WHERE last_seen_at < clock() - $1 * interval '1 millisecond'`,
    [afterMs],
  )
  return rowCount ?? 0
}

export async function findModel(pool: pg.Pool, name: string, version: string | null): Promise<RegisteredModel | null> {
  const { rows } = await pool.query<{ version: string; definition: ModelDefinition; registered_at: Date }>(FIND_MODEL, [
    name,
    version,
  ])
  const row = rows.toSorted((a, b) => versionOrder.compare(a.version, b.version)).at(-1)
  return row ? { definition: row.definition, registeredAt: row.registered_at } : null
}

export async function listModelNames(pool: pg.Pool): Promise<string[]> {
  const { rows } = await pool.query<{ name: string }>('SELECT DISTINCT name FROM models ORDER BY name')
  return rows.map((row) => row.name)
}
