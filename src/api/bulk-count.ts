/** Counts what a bulk operation would touch, page by page, no further than a cap and no longer than a few seconds. */

import { BULK_COUNT_MAX, type BulkCount } from '../contract/bulk.ts'
import type { RunFilter, Search } from '../store/ports/search.ts'

const PAGE_SIZE = 1_000
const COUNT_MS_MAX = 3_000

export async function countRuns(search: Search, filter: RunFilter, countMax = BULK_COUNT_MAX): Promise<BulkCount> {
  const giveUpAt = performance.now() + COUNT_MS_MAX
  let count = 0
  let cursor: string | null = null
  do {
    const limit = Math.min(PAGE_SIZE, countMax - count)
    const page = await search.page(filter, { limit, cursor, order: 'created_at_asc' })
    count += page.runs.length
    cursor = page.nextCursor
  } while (cursor !== null && count < countMax && performance.now() < giveUpAt)
  return { count, capped: cursor !== null }
}
