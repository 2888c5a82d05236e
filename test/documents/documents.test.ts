/** The small version of `npm run chaos:documents`: a few documents, a few killed workers, and everything is counted. */

import { expect, it, onTestFinished } from 'vitest'
import { createTestDatabase } from '../support/database.ts'
import { openPlace } from '../support/processes.ts'
import { documentChaos } from './chaos.ts'

it('no document is lost, done twice or miscounted while workers are killed, and no committed step runs again', async () => {
  const db = await createTestDatabase()
  const place = await openPlace({
    DATABASE_URL: db.url,
    HOLDFAST_LEASE_SECONDS: '1.5',
    HOLDFAST_CONCURRENCY: '1',
  })
  onTestFinished(async () => {
    await place.close()
    await db.drop()
  })
  const options = {
    count: 48,
    kills: 4,
    apiKills: 0,
    seed: 1,
    workers: 2,
    batchSize: 30,
    uploads: 4,
    duplicates: 0.05,
    broken: 0.1,
    timeoutMs: 150_000,
  }
  const { violations, ...figures } = await documentChaos({ pool: db.pool, place }, options, () => {})
  expect(violations).toEqual([])
  expect(figures).toMatchObject({ documents: 48, done: 41, error: 5, duplicate: 2 })
  expect(figures.kills['between a step and its commit']).toBeGreaterThan(0)
  expect(figures.attempts).toBeGreaterThan(46)
}, 180_000)
