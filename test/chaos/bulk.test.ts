/** An API process killed in the middle of a bulk operation: another one finishes it, with each run retried once. */

import { expect, it, onTestFinished } from 'vitest'
import { createTestApi } from '../support/api.ts'
import { openPlace } from '../support/processes.ts'
import { until } from '../support/until.ts'

it('a bulk retry whose API is killed is finished by another one, and every run has one retry', async () => {
  const api = await createTestApi()
  const place = await openPlace({})
  onTestFinished(() => place.close())
  const old = await Promise.all(Array.from({ length: 20 }, () => api.create({ dedupe: 'off' })))
  for (const { run_id } of old) await api.store.cancel(run_id)

  const process = place.runScript(new URL('../fixtures/api-dies-in-bulk.ts', import.meta.url), [api.db.url])
  const { url } = await process.says('listening')
  const response = await fetch(`${url}/bulk`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ action: 'retry', filter: { model: 'forecast', status: 'CANCELLED' } }),
  })
  const { operation_id: id } = (await response.json()) as { operation_id: string }
  expect(await process.exited).toMatchObject({ signal: 'SIGKILL' })
  expect(await api.stored()).toMatchObject({ runs: 40 })
  expect(await api.store.bulk.read(id, null)).toMatchObject({ state: 'RUNNING', counts: {} })

  await api.db.shiftClock('2 minutes')
  await api.app.listen({ host: '127.0.0.1', port: 0 })
  const done = await until(
    async () => {
      const operation = await api.store.bulk.read(id, null)
      return operation?.state === 'DONE' && operation
    },
    { what: 'the operation is done' },
  )
  expect(done.counts).toEqual({ retried: 20 })
  const [row] = await api.db.query('SELECT count(*) AS runs, count(DISTINCT retry_of) AS retried FROM model_runs')
  expect(row).toEqual({ runs: 40, retried: 20 })
})
