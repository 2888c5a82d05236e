/** The verbs of bulk operations, bound to a pool. */

import type pg from 'pg'
import {
  createBulkOperation,
  listBulkItems,
  listBulkOperations,
  readBulkOperation,
  requestBulkCancel,
} from './bulk-operations.ts'
import { failBulkOperation, pauseBulkPage, planBulkPage, recordBulkPage, takeBulkPage } from './bulk-pages.ts'
import type { Bulk } from './ports/bulk.ts'

export function createBulk(pool: pg.Pool, answered: <T>(asked: Promise<T>) => Promise<T>): Bulk {
  return {
    create: (operation, actor) => answered(createBulkOperation(pool, operation, actor)),
    read: (id, sees) => answered(readBulkOperation(pool, id, sees)),
    list: (sees, page) => answered(listBulkOperations(pool, sees, page)),
    items: (id, page) => answered(listBulkItems(pool, id, page)),
    requestCancel: (id, sees) => answered(requestBulkCancel(pool, id, sees)),
    take: (options) => takeBulkPage(pool, options),
    plan: (page) => planBulkPage(pool, page),
    record: (page) => recordBulkPage(pool, page),
    pause: (page) => pauseBulkPage(pool, page),
    fail: (page) => failBulkOperation(pool, page),
  }
}
