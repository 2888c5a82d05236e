import { expect, test } from 'vitest'
import { createTestApi } from '../../test/support/api.ts'
import { namesEtag } from './etag.ts'

test.each([
  ['W/"a"', true],
  ['"a"', true],
  ['"b", W/"a"', true],
  ['*', true],
  ['"b"', false],
  ['a', false],
  [undefined, false],
])('If-None-Match %s names W/"a": %s', (header, named) => {
  expect(namesEtag(header, 'W/"a"')).toBe(named)
})

test('a run that has not changed is 304 without a body, and 200 with another tag once it has', async () => {
  const { create, get, claim, store, beat } = await withBeat()
  const { run_id } = await create()
  const tags = new Set<string>()
  async function isNew(): Promise<boolean> {
    const response = await get(`/runs/${run_id}`, { 'if-none-match': [...tags].join(', ') })
    expect(response.headers['cache-control']).toBe('private, no-cache')
    expect(response.headers.etag).toMatch(/^W\/"[\w-]+"$/)
    if (response.statusCode === 304) expect(response.body).toBe('')
    tags.add(response.headers.etag as string)
    return response.statusCode === 200
  }
  expect(await isNew()).toBe(true)
  expect(await isNew()).toBe(false)
  await store.setQueuePaused('default', true)
  expect(await isNew()).toBe(true)
  await store.setQueuePaused('default', false)
  const lease = await claim()
  expect(await isNew()).toBe(true)
  await store.saveProgress([{ ...lease, progress: 0.5 }])
  expect(await isNew()).toBe(true)
  await beat(run_id)
  expect(await isNew()).toBe(false)
})

async function withBeat() {
  const api = await createTestApi()
  const renew = 'UPDATE model_runs SET lease_expires_at = lease_expires_at + interval $$1 minute$$ WHERE id = $1'
  return { ...api, beat: (runId: string) => api.db.query(renew, [runId]) }
}
