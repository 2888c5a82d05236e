/**
 * Counting documents that are done, of their owners and of their batches. A document counts once, which its row
 * decides; the counts are moved in the same transaction, so that of several who count at once each sees what those
 * before it have made of them.
 */

import type pg from 'pg'
import type { Counted } from '../run/spread.ts'

// Sorted, so that two who have the same documents wait for each other and never in a circle.
const COUNT_ONCE = `
WITH done AS MATERIALIZED (
  SELECT r.owner, r.payload_hash, r.batch_id FROM unnest($1::uuid[]) AS f(id) JOIN model_runs r ON r.id = ANY (ARRAY[f.id])
  ORDER BY r.owner, r.payload_hash
)
UPDATE documents d SET counted_at = clock() FROM done
WHERE d.owner = ANY (ARRAY[done.owner]) AND d.payload_hash = ANY (ARRAY[done.payload_hash]) AND d.counted_at IS NULL
RETURNING d.owner, done.batch_id AS "batchId"`

const MOVE = `
INSERT INTO progress_counts AS c (owner, batch_id, done)
SELECT owner, batch_id, more FROM unnest($1::text[], $2::uuid[], $3::bigint[]) AS m(owner, batch_id, more)
ORDER BY owner, batch_id
ON CONFLICT (owner, batch_id) DO UPDATE SET done = c.done + excluded.done
RETURNING owner, batch_id AS "batchId", done`

const WHOLE_OWNER = '00000000-0000-0000-0000-000000000000'

export async function countDocuments(client: pg.ClientBase, runIds: readonly string[]): Promise<Counted[]> {
  if (runIds.length === 0) return []
  const values = [[...new Set(runIds)]]
  const { rows } = await client.query<{ owner: string; batchId: string | null }>({
    name: 'count_documents',
    text: COUNT_ONCE,
    values,
  })
  const moves = new Map<string, { owner: string; batchId: string; more: number }>()
  for (const { owner, batchId } of rows) {
    for (const id of [WHOLE_OWNER, ...(batchId === null ? [] : [batchId])]) {
      const move = moves.get(`${id} ${owner}`) ?? { owner, batchId: id, more: 0 }
      moves.set(`${id} ${owner}`, { ...move, more: move.more + 1 })
    }
  }
  return move(client, [...moves.values()])
}

async function move(
  client: pg.ClientBase,
  moves: readonly { owner: string; batchId: string; more: number }[],
): Promise<Counted[]> {
  if (moves.length === 0) return []
  const values = [moves.map((one) => one.owner), moves.map((one) => one.batchId), moves.map((one) => one.more)]
  const { rows } = await client.query<{ owner: string; batchId: string; done: number }>({
    name: 'move_counts',
    text: MOVE,
    values,
  })
  return rows.map(({ owner, batchId, done }) => {
    const { more } = moves.find((one) => one.owner === owner && one.batchId === batchId)!
    return { owner, batchId: batchId === WHOLE_OWNER ? null : batchId, before: done - more, after: done }
  })
}
