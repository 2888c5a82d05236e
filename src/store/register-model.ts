/** A remote worker's programmer registers a model by hand; nothing of our own workers is replaced that way. */

import type pg from 'pg'
import type { ModelDefinition } from '../run/definition.ts'
import { publicDefinition } from '../run/public-definition.ts'
import type { Actor } from './ports/audit.ts'
import type { ModelRegistered } from './ports/directory.ts'

// A row that was not there before has never been updated: its xmax is 0. A definition that did not change is not written again.
const REGISTER_MODEL = `
WITH written AS (
  INSERT INTO models (name, version, definition) VALUES ($1, $2, $3::jsonb)
  ON CONFLICT (name, version) DO UPDATE SET definition = excluded.definition, updated_at = clock()
  WHERE models.definition <> excluded.definition AND models.definition->>'executor' = 'remote'
    AND ($8::text[] IS NULL OR models.definition->>'queue' = ANY($8))
  RETURNING name, version, (xmax = 0) AS created
), queue AS (
  INSERT INTO queues (queue) SELECT $4 FROM written ON CONFLICT DO NOTHING
), audited AS (
  INSERT INTO audit_events (actor_token, actor_owner, action, target, data, request_id)
  SELECT $5, $6, CASE WHEN created THEN 'model.register' ELSE 'model.change' END, name || '@' || version,
    jsonb_build_object('definition', $3::jsonb), $7 FROM written
)
SELECT created FROM written`

const COMPARE_MODEL = `
SELECT definition->>'executor' AS executor, definition->>'queue' AS queue, definition = $3::jsonb AS is_same
FROM models WHERE name = $1 AND version = $2`

export async function registerModel(
  pool: pg.Pool,
  model: ModelDefinition,
  queues: string[] | null,
  actor: Actor,
): Promise<ModelRegistered> {
  const { name, version, queue } = model
  const definition = JSON.stringify(publicDefinition(model))
  const written = await pool.query<{ created: boolean }>(REGISTER_MODEL, [
    name,
    version,
    definition,
    queue,
    actor.tokenId,
    actor.owner,
    actor.requestId,
    queues,
  ])
  const [row] = written.rows
  if (row) return row.created ? 'created' : 'changed'
  type Found = { executor: string; queue: string; is_same: boolean }
  const { rows } = await pool.query<Found>(COMPARE_MODEL, [name, version, definition])
  const [found] = rows
  if (!found) throw new Error(`the model ${name}@${version} vanished while it was registered`)
  return found.is_same ? 'same' : { executor: found.executor, queue: found.queue }
}
