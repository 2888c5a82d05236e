/**
 * Every case in this folder: those of the service against a live API on a real database, those of workers against the
 * reference worker.
 */

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { API_CONFIG, createTestApi, MODEL } from '../../support/api.ts'
import { until } from '../../support/until.ts'
import { playServerCase, type ServerCase } from './play-server-case.ts'
import { ReferenceWorker } from './reference-worker.ts'
import { startScripted, type WorkerCase } from './scripted-server.ts'

const cases = readdirSync(import.meta.dirname)
  .filter((name) => name.endsWith('.json'))
  .map((name) => JSON.parse(readFileSync(join(import.meta.dirname, name), 'utf8')) as ServerCase | WorkerCase)

describe('the service', () => {
  const ofServer = cases.filter((one) => one.kind === 'server')

  test.each(ofServer.map((one) => [one.name, one] as const))('%s', async (_name, one) => {
    const { lease_seconds: leaseSeconds = 60 } = one
    const api = await createTestApi({
      models: one.models.map((model) => ({ ...MODEL, parametersSchema: { type: 'object' }, ...model })),
      config: { ...API_CONFIG, worker: { leaseMs: leaseSeconds * 1_000, pollMs: 50, deadlineGraceMs: 10_000 } },
    })
    // The one that registered the models.
    await api.db.query('DELETE FROM workers')
    const url = await api.app.listen({ host: '127.0.0.1', port: 0 })
    await playServerCase(one, url, {
      async expireLease(runId) {
        await api.db.query(`UPDATE model_runs SET lease_expires_at = clock() - interval '1 s' WHERE id = $1`, [runId])
        await api.store.reclaimExpired({ workerId: 'janitor', limit: 10 })
      },
    })
  })
})

describe('a worker', () => {
  const ofWorkers = cases.filter((one) => one.kind === 'worker')

  test.concurrent.each(ofWorkers.map((one) => [one.name, one] as const))('%s', async (_name, one) => {
    const scripted = await startScripted(one)
    const worker = new ReferenceWorker(scripted.url, scripted.filledCase)
    const ended = worker.run()
    try {
      await until(scripted.done, { what: 'the case is done', timeoutMs: one.within_ms ?? 10_000 })
    } finally {
      worker.stop()
      await ended
      await scripted.close()
    }
    expect(scripted.verdict().failures).toEqual([])
  })
})

test('there are cases for both', () => {
  expect(cases.filter(({ kind }) => kind === 'server').length).toBeGreaterThan(10)
  expect(cases.filter(({ kind }) => kind === 'worker').length).toBeGreaterThan(10)
})
