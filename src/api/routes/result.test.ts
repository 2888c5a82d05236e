import { expect, test } from 'vitest'
import { createTestApi } from '../../../test/support/api.ts'
import { BlobStoreUnavailable, refOf } from '../../blob/blob.ts'
import { sha256 } from '../../run/canonical.ts'

const TEXT = '{"b":1,"ä":[1.5,"x"]}'
const HASH = sha256(TEXT)

test('an inline result is sent as stored, with its hash as strong ETag', async () => {
  const { create, claim, settle, get } = await createTestApi()
  const { links } = await create()
  await settle(await claim(), { result: { ref: 'inline', hash: HASH, text: TEXT } })
  const response = await get(links.result)
  expect(response.statusCode).toBe(200)
  expect(response.body).toBe(TEXT)
  expect(response.headers).toMatchObject({ 'content-type': 'application/json; charset=utf-8', etag: `"${HASH}"` })
  expect((await get(links.result, { 'if-none-match': `"${HASH}"` })).statusCode).toBe(304)
})

test('a large result is sent from the blob store', async () => {
  const { create, claim, settle, get, blob } = await createTestApi()
  const { links } = await create()
  const { ref } = await blob.put('large.json', Buffer.from(TEXT))
  await settle(await claim(), { result: { ref, hash: HASH, text: null } })
  const response = await get(links.result)
  expect(response.headers['content-type']).toBe('application/json; charset=utf-8')
  expect(response.body).toBe(TEXT)
})

test('a result whose bytes are gone is a 500 that says so', async () => {
  const { create, claim, settle, get } = await createTestApi()
  const { links } = await create()
  await settle(await claim(), { result: { ref: refOf('gone.json'), hash: HASH, text: null } })
  const response = await get(links.result)
  expect(response.statusCode).toBe(500)
  expect(response.json().code).toBe('result-missing')
})

test.each([
  ['cut off', TEXT.slice(0, -1)],
  ['changed', TEXT.replace(/[0-9]/, (digit) => `${(Number(digit) + 1) % 10}`)],
  ['empty', ''],
])('a result whose bytes were %s is told and never sent', async (_, damaged) => {
  const { create, claim, settle, get, blob } = await createTestApi()
  const { links } = await create()
  const { ref } = await blob.put('damaged.json', Buffer.from(damaged))
  await settle(await claim(), { result: { ref, hash: HASH, text: null } })
  const response = await get(links.result)
  expect([response.statusCode, response.json().code]).toEqual([500, 'result-missing'])
  expect(response.json().detail).toContain('damaged')
})

test('a store of results that does not answer is told as such, and the run keeps its result', async () => {
  const { create, claim, settle, get, blob } = await createTestApi()
  const { links } = await create()
  const { ref } = await blob.put('later.json', Buffer.from(TEXT))
  await settle(await claim(), { result: { ref, hash: HASH, text: null } })
  const { get: read } = blob
  blob.get = () => Promise.reject(new BlobStoreUnavailable('S3: SlowDown'))
  const response = await get(links.result)
  expect([response.statusCode, response.json().code]).toEqual([503, 'storage-unavailable'])
  blob.get = read
  expect((await get(links.result)).body).toBe(TEXT)
})

test('until the run has succeeded the result is 409 with the status of the run', async () => {
  const { create, claim, get } = await createTestApi()
  const { links } = await create()
  const pending = await get(links.result)
  expect(pending.statusCode).toBe(409)
  expect(pending.json()).toMatchObject({
    code: 'run-not-complete',
    run_status: 'PENDING',
    status: 409,
    retryable: true,
  })
  await claim()
  expect((await get(links.result)).json()).toMatchObject({ code: 'run-not-complete', run_status: 'RUNNING' })
})

test('a failed run has no result', async () => {
  const { create, claim, settle, get } = await createTestApi()
  const { links } = await create()
  await settle(await claim(), { kind: 'fail', error: { class: 'Boom', message: 'secret text', stack: null } })
  const response = await get(links.result)
  expect(response.statusCode).toBe(409)
  expect(response.json()).toMatchObject({ code: 'run-failed', run_status: 'FAILED', retryable: false })
})

test('a cancelled run has no result', async () => {
  const { create, get, store } = await createTestApi()
  const { links, run_id } = await create()
  await store.cancel(run_id)
  expect((await get(links.result)).json()).toMatchObject({ code: 'run-cancelled', run_status: 'CANCELLED' })
})

test.each(['x', '01890a0b-0c0d-7000-8000-000000000000'])('the result of the unknown run %s is 404', async (id) => {
  const { get } = await createTestApi()
  const response = await get(`/runs/${id}/result`)
  expect(response.statusCode).toBe(404)
  expect(response.json().code).toBe('run-not-found')
})
