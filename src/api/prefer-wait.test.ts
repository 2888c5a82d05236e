import type { FastifyRequest } from 'fastify'
import { expect, test } from 'vitest'
import { BODY, createTestApi, type TestApi } from '../../test/support/api.ts'
import { until } from '../../test/support/until.ts'
import { preferredWaitSeconds } from './prefer-wait.ts'

const RESULT = { result: { ref: 'inline', hash: 'f'.repeat(64), text: '{}' } }
const QUICK = { config: { events: { pollMs: 10 } } }

test.each([
  ['wait=5', 5],
  ['wait="5"', 5],
  ['respond-async, wait=7; foo=bar', 7],
  ['wait=9999999', 60],
  ['WAIT = 0', 0],
  ['wait=3, wait=4', 3],
  ['wait=-1', null],
  ['wait=soon', null],
  ['waits=3', null],
  [undefined, null],
])('Prefer: %s means %s seconds', (prefer, seconds) => {
  expect(preferredWaitSeconds({ headers: { prefer } } as unknown as FastifyRequest)).toBe(seconds)
})

/** Resolves when a request waits: the follower asks the database only then. */
async function someoneWaits({ db }: TestApi): Promise<void> {
  await until(
    async () => {
      const sql = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE '%feed'`
      return (await db.query(sql)).length > 0
    },
    { what: 'the feed is followed' },
  )
}

test('a submit that prefers to wait is answered 201 when the run has ended', async () => {
  const api = await createTestApi(QUICK)
  const answer = api.submit(BODY, { prefer: 'wait=30' })
  await someoneWaits(api)
  const lease = await api.claim()
  await api.settle(lease, RESULT)
  const response = await answer
  expect(response.statusCode).toBe(201)
  expect(response.headers['preference-applied']).toBe('wait=30')
  expect(response.headers.location).toBe(`/runs/${lease.runId}`)
  expect(response.json()).toMatchObject({ status: 'SUCCEEDED', idempotent_hit: false, attempts: [{ attempt: 1 }] })
})

test('a submit whose run has not ended in time is answered 201 with the state reached', async () => {
  const api = await createTestApi(QUICK)
  const response = await api.submit(BODY, { prefer: 'wait=0' })
  expect(response.statusCode).toBe(201)
  expect(response.headers['preference-applied']).toBe('wait=0')
  expect(response.json()).toMatchObject({ status: 'PENDING' })
})

test('a read waits until the run has ended, and of an ended one not at all', async () => {
  const api = await createTestApi(QUICK)
  const { run_id } = await api.create()
  const lease = await api.claim()
  const answer = api.get(`/runs/${run_id}`, { prefer: 'wait=30' })
  await someoneWaits(api)
  await api.settle(lease, RESULT)
  expect((await answer).json()).toMatchObject({ status: 'SUCCEEDED' })
  const again = await api.get(`/runs/${run_id}`, { prefer: 'wait=30' })
  expect(again.headers['preference-applied']).toBe('wait=30')
})

test('with If-None-Match a read waits until the run is another one', async () => {
  const api = await createTestApi(QUICK)
  const { run_id } = await api.create()
  const { etag } = (await api.get(`/runs/${run_id}`)).headers as { etag: string }
  const unchanged = await api.get(`/runs/${run_id}`, { prefer: 'wait=0', 'if-none-match': etag })
  expect(unchanged.statusCode).toBe(304)
  const answer = api.get(`/runs/${run_id}`, { prefer: 'wait=30', 'if-none-match': etag })
  await someoneWaits(api)
  await api.claim()
  const changed = await answer
  expect(changed.statusCode).toBe(200)
  expect(changed.json().status).toBe('RUNNING')
})

test('waiting for a run that is not there ends at once', async () => {
  const api = await createTestApi(QUICK)
  const response = await api.get('/runs/01890a0b-0c0d-7000-8000-000000000000', { prefer: 'wait=30' })
  expect(response.statusCode).toBe(404)
})

test('closing the service answers those who wait', async () => {
  const api = await createTestApi(QUICK)
  const { run_id } = await api.create()
  const answer = api.get(`/runs/${run_id}`, { prefer: 'wait=30' })
  await someoneWaits(api)
  await api.app.close()
  expect((await answer).json()).toMatchObject({ status: 'PENDING' })
})
