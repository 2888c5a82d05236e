import { expect, test } from 'vitest'
import { createTestApi } from '../../test/support/api.ts'
import { readSse } from '../../test/support/sse.ts'
import { TOKENS_ONLY, testToken } from '../../test/support/tokens.ts'

const QUICK = { pollMs: 10, heartbeatMs: 20 }

test('a stream ends when its token is revoked', async () => {
  const api = await createTestApi({ config: { access: TOKENS_ONLY, events: QUICK } })
  const url = await api.app.listen({ port: 0, host: '127.0.0.1' })
  const admin = await testToken(api.store, 'admin')
  const viewer = await testToken(api.store, 'viewer')
  const reader = await readSse(`${url}/events`, viewer.headers)
  await expect.poll(() => reader.comments.length).toBeGreaterThan(1)
  expect(reader.isEnded()).toBe(false)
  const headers = { authorization: admin.headers.authorization }
  expect((await api.app.inject({ method: 'DELETE', url: `/tokens/${viewer.id}`, headers })).statusCode).toBeLessThan(
    300,
  )
  await reader.ends()
})

test('a stream opened without a token ends when tokens come to be needed', async () => {
  const api = await createTestApi({ config: { events: QUICK } })
  const url = await api.app.listen({ port: 0, host: '127.0.0.1' })
  const reader = await readSse(`${url}/events`)
  await expect.poll(() => reader.comments.length).toBeGreaterThan(1)
  await testToken(api.store, 'admin')
  await reader.ends()
})

test('a stream has the events of the runs its caller may see, and of no others', async () => {
  const api = await createTestApi({ config: { access: TOKENS_ONLY, events: QUICK } })
  const url = await api.app.listen({ port: 0, host: '127.0.0.1' })
  const [ana, bob] = [
    await testToken(api.store, 'submitter', { owner: 'ana' }),
    await testToken(api.store, 'submitter', { owner: 'bob' }),
  ]
  const reader = await readSse(`${url}/events`, ana.headers)
  await expect.poll(() => reader.lastId()).not.toBe('')
  const hidden = await api.create({ dedupe: 'off' }, bob.headers)
  const shown = await api.create({ dedupe: 'off' }, ana.headers)
  expect((await reader.has(1)).map(({ data }) => data.run_id)).toEqual([shown.run_id])
  for (const path of ['events', 'attempts', 'steps', 'logs', 'events?after=0']) {
    expect((await api.get(`/runs/${hidden.run_id}/${path}`, ana.headers)).statusCode).toBe(404)
  }
  const accept = { ...ana.headers, accept: 'text/event-stream' }
  expect((await api.get(`/runs/${hidden.run_id}/events`, accept)).statusCode).toBe(404)
  expect((await api.get(`/runs/${hidden.run_id}`, { ...ana.headers, prefer: 'wait=20' })).statusCode).toBe(404)
  reader.close()
})
