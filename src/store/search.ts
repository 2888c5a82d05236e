/** The part of the store that finds runs, on connections of its own: a slow search cannot keep other reads waiting. */

import type pg from 'pg'
import { groupFailures } from './group-failures.ts'
import { listRetries } from './list-retries.ts'
import type { Search } from './ports/search.ts'
import { readPlaces } from './read-places.ts'
import { searchRuns } from './search-runs.ts'

export function createSearch(pool: pg.Pool, answered: <T>(asked: Promise<T>) => Promise<T>): Search {
  return {
    page: (filter, page) => answered(searchRuns(pool, filter, page)),
    failures: (request) => answered(groupFailures(pool, request)),
    places: (runId) => answered(readPlaces(pool, runId)),
    retries: (runId) => answered(listRetries(pool, runId)),
  }
}
