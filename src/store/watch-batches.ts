/**
 * Watching batches: one in which nothing has come for a while is counted, under the lock of its watch. When nothing of
 * it waits or runs, it is complete, once for each total; otherwise the watch goes, and the next end brings it back. An
 * end that is spread meanwhile waits for the lock.
 */

import type pg from 'pg'
import { completedId, type NewFact } from '../run/fact.ts'
import { countBatch } from './count-batch.ts'
import { inTransaction } from './in-transaction.ts'
import { isConnectionLost } from './pg-errors.ts'
import { writeFacts } from './write-facts.ts'

const TAKE = `
SELECT batch_id AS "batchId", owner FROM batch_watches WHERE due_at <= clock() ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED`

const DESCRIBE = `
SELECT (SELECT title FROM batches WHERE id = $1) AS title,
  EXISTS (SELECT FROM file_uploads WHERE batch_id = $1 AND owner = $2) AS "hasDocuments"`

const DROP = `DELETE FROM batch_watches WHERE batch_id = $1`

/** A batch that cannot be counted now holds up no other. */
const POSTPONE = `UPDATE batch_watches SET due_at = clock() + interval '5 minutes' WHERE batch_id = $1`

type Watch = { batchId: string; owner: string }

/** How many were looked at. */
export async function watchBatches(pool: pg.Pool, limit: number): Promise<number> {
  let looked = 0
  for (; looked < limit; looked += 1) if (!(await lookAtOne(pool))) break
  return looked
}

async function lookAtOne(pool: pg.Pool): Promise<boolean> {
  let watch: Watch | undefined
  try {
    const isFound = await inTransaction(pool, async (client) => {
      watch = (await client.query<Watch>(TAKE)).rows[0]
      if (!watch) return false
      const fact = await completed(client, watch)
      await writeFacts(client, { facts: fact ? [fact] : [], isSpread: false })
      await client.query(DROP, [watch.batchId])
      return true
    })
    return isFound!
  } catch (error) {
    if (!watch || isConnectionLost(error)) throw error
    await pool.query(POSTPONE, [watch.batchId])
    return true
  }
}

async function completed(client: pg.PoolClient, { batchId, owner }: Watch): Promise<NewFact | null> {
  const { total, ...counts } = await countBatch(client, batchId, owner)
  if (total === 0 || counts.waiting > 0 || counts.running > 0) return null
  const { rows } = await client.query<{ title: string | null; hasDocuments: boolean }>(DESCRIBE, [batchId, owner])
  const { title, hasDocuments } = rows[0]!
  const data = { title, counts: { total, ...counts }, has_documents: hasDocuments }
  return { id: completedId(batchId, total), kind: 'batch.completed', owner, runId: null, batchId, data }
}
