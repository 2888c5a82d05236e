/**
 * A database, an API in this process, and a place for worker processes that a test may kill. The workers find runs by polling, so
 * that nothing here depends on wake-ups.
 */

import { definitionOf, isModel } from '../../src/model/model.ts'
import * as fixtures from '../fixtures/models.ts'
import { openTestApi, type TestApi } from './api.ts'
import { checkHistory } from './history.ts'
import { openPlace, type Place } from './processes.ts'
import { type RunVerbs, runVerbs } from './run-verbs.ts'

export type Chaos = RunVerbs & {
  api: TestApi
  place: Place
  /** Fails when an invariant of the recorded history is broken, or when a process is left. */
  close(): Promise<void>
}

export const CHAOS_LEASE_MS = 1_500

export async function openChaos(settings: Record<string, string> = {}): Promise<Chaos> {
  const api = await openTestApi({ models: Object.values(fixtures).filter(isModel).map(definitionOf) })
  const place = await openPlace({
    DATABASE_URL: api.db.url,
    HOLDFAST_LEASE_SECONDS: String(CHAOS_LEASE_MS / 1_000),
    ...settings,
  })
  return {
    api,
    place,
    ...runVerbs(api, 30_000),
    async close() {
      try {
        const { violations } = await checkHistory(api.db.pool)
        if (violations.length > 0) throw new Error(`the history is broken:\n${violations.join('\n')}`)
      } finally {
        await place.close().finally(() => api.close())
      }
    },
  }
}
