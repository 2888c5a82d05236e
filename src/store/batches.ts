/** The verbs of batches, bound to their pool. */

import type pg from 'pg'
import { countBatch } from './count-batch.ts'
import { ensureBatch, findBatch } from './find-batch.ts'
import { listBatches } from './list-batches.ts'
import type { Batches } from './ports/batches.ts'

type Answered = <T>(asked: Promise<T>) => Promise<T>

export function createBatches(pool: pg.Pool, answered: Answered): Batches {
  return {
    ensure: (batch) => answered(ensureBatch(pool, batch)),
    find: (id, owner) => answered(findBatch(pool, id, owner)),
    count: (id, owner) => answered(countBatch(pool, id, owner)),
    list: (filter) => answered(listBatches(pool, filter)),
  }
}
