/** `PUT /queues/{queue}`: fair share and weights. */

import { expect, test } from 'vitest'
import { createTestApi, type TestApi } from '../../../test/support/api.ts'
import { QueueObject } from '../../contract/directory.ts'

const put = (api: TestApi, payload: unknown, url = '/queues/default') =>
  api.app.inject({ method: 'PUT', url, payload: payload as object })

test('a queue is unfair until it is set, shows what was set, and leaves what is not given as it is', async () => {
  const api = await createTestApi()
  await api.create()
  expect((await api.get('/queues/default')).json()).toMatchObject({ fair_share: false, weights: {} })
  const set = await put(api, { fair_share: true, weights: { ann: 3, ben: 0.5 } })
  expect(set.statusCode).toBe(200)
  expect(QueueObject.parse(set.json())).toMatchObject({ fair_share: true, weights: { ann: 3, ben: 0.5 } })
  expect((await put(api, { weights: { ann: 2 } })).json()).toMatchObject({ fair_share: true, weights: { ann: 2 } })
  expect((await put(api, { fair_share: false })).json()).toMatchObject({ fair_share: false, weights: { ann: 2 } })
  expect((await put(api, { weights: {} })).json()).toMatchObject({ fair_share: false, weights: {} })
})

test('each change is audited, the same again is none', async () => {
  const api = await createTestApi()
  await api.create()
  for (let time = 0; time < 2; time += 1) await put(api, { fair_share: true, weights: { ann: 3 } })
  await put(api, {})
  await put(api, { weights: {} })
  const { events } = await api.store.audit.list({ limit: 10, cursor: null })
  expect(events.map(({ action, target }) => [action, target])).toEqual([
    ['queue.set', 'default'],
    ['queue.set', 'default'],
  ])
})

test('a run that waits in an unfair queue that is made fair is claimed', async () => {
  const api = await createTestApi()
  const { run_id } = await api.create()
  await put(api, { fair_share: true })
  expect((await api.claim()).runId).toBe(run_id)
})

test('what is no setting is refused', async () => {
  const api = await createTestApi()
  await api.create()
  const bodies = [
    { fair_share: 'yes' },
    { weights: { ann: 0 } },
    { weights: { ann: 1e6 } },
    { weights: { '': 1 } },
    { other: 1 },
  ]
  for (const body of bodies) expect((await put(api, body)).statusCode, JSON.stringify(body)).toBe(400)
})

test('a queue that does not exist is 404', async () => {
  const api = await createTestApi()
  await api.create()
  const answer = await put(api, { fair_share: true }, '/queues/typo')
  expect([answer.statusCode, answer.json().code]).toEqual([404, 'queue-not-found'])
})
