/** `POST /files` with a body that is the file: what is stored, duplicates, runs, refusals. */

import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createTestApi, openTestApi, type TestApi } from '../../../test/support/api.ts'
import {
  answerOf,
  blobs,
  FILE_MODELS,
  forgetFiles,
  raw,
  replacePut,
  sha256Of,
  stored,
} from '../../../test/support/sent-files.ts'
import { TOKENS_ONLY, testToken } from '../../../test/support/tokens.ts'
import { BlobStoreFull } from '../../blob/blob.ts'

let api: TestApi
beforeAll(async () => {
  api = await openTestApi({ models: FILE_MODELS })
})
afterAll(() => api.close())
beforeEach(async () => {
  await forgetFiles(api)
  runsBefore = (await api.stored()).runs
})

let runsBefore: number
const newRuns = async () => (await api.stored()).runs - runsBefore

test('a body that is a file is stored under its digest', async () => {
  const response = await raw(api, 'a,b\n', '?name=table.csv')
  expect(response.statusCode).toBe(201)
  const answer = answerOf(response)
  const [file] = answer.data
  expect(answer.batch_id).toBeNull()
  expect(file).toMatchObject({
    status: 201,
    file_id: sha256Of('a,b\n'),
    name: 'table.csv',
    size: 4,
    type: 'text/csv',
    duplicate: false,
    state: 'UPLOADED',
    run_id: null,
    batch_id: null,
    links: { file: `/files/${sha256Of('a,b\n')}`, run: null },
  })
  const { ref } = (await api.store.files.find(sha256Of('a,b\n'), 'default'))!
  expect(Buffer.from(await api.blob.get(ref)).toString()).toBe('a,b\n')
})

test('any content type is a file, JSON and forms of old browsers too, and an empty one', async () => {
  for (const type of ['application/json', 'application/x-www-form-urlencoded', 'text/plain', 'x/y']) {
    const { file_id } = answerOf(await raw(api, `{"of": "${type}"}`, '', { 'content-type': type })).data[0] as never
    expect(file_id).toBe(sha256Of(`{"of": "${type}"}`))
  }
  expect(answerOf(await raw(api, '')).data[0]).toMatchObject({ size: 0, name: 'file', file_id: sha256Of('') })
})

test('the name may come in Content-Disposition', async () => {
  const headers = { 'content-disposition': "attachment; filename*=UTF-8''..%2F..%2Fna%C3%AFve.md" }
  expect(answerOf(await raw(api, '# x', '', headers)).data[0]).toMatchObject({
    name: 'naïve.md',
    type: 'text/markdown',
  })
})

test('the same file again is a duplicate, and its bytes are stored once', async () => {
  await raw(api, 'same', '?name=a.txt')
  const again = answerOf(await raw(api, 'same', '?name=b.txt'))
  expect(again.data[0]).toMatchObject({ status: 201, duplicate: true, state: 'DUPLICATE', name: 'b.txt' })
  expect(await blobs(api)).toHaveLength(1)
  expect(await stored(api)).toBe(2)
})

test('with a model the run is made with the upload, and a duplicate leads to it', async () => {
  const hintsBefore = api.hints.length
  const query = `?name=a.txt&model=reader&parameters=${encodeURIComponent('{"language":"fr"}')}`
  const first = answerOf(await raw(api, 'text', query)).data[0]!
  const run = (await api.get(`/runs/${(first as { run_id: string }).run_id}`)).json()
  expect(run).toMatchObject({
    model: 'reader',
    title: 'a.txt',
    parameters: { document: sha256Of('text'), language: 'fr' },
    status: 'PENDING',
  })
  expect(api.hints.slice(hintsBefore)).toEqual([{ topic: 'queue:default', runId: run.run_id }])
  const again = answerOf(await raw(api, 'text', query.replace('a.txt', 'b.txt'))).data[0]
  expect(again).toMatchObject({ duplicate: true, state: 'DUPLICATE', run_id: run.run_id })
  const events = (await api.get(`/runs/${run.run_id}/events`)).json().data
  expect(events.map(({ type }: { type: string }) => type)).toEqual(['created', 'document.duplicate'])
  expect(await newRuns()).toBe(1)
  expect(answerOf(await raw(api, 'text', '?model=reader')).data[0]).toMatchObject({ duplicate: false, name: 'file' })
})

test('a model that takes a list gets a list of one', async () => {
  const { run_id } = answerOf(await raw(api, 'text', '?model=lister')).data[0] as { run_id: string }
  expect((await api.get(`/runs/${run_id}`)).json().parameters).toEqual({ pages: [sha256Of('text')] })
})

test.each([
  ['?model=nobody', 'unknown-model'],
  ['?model=reader&model_version=9', 'unknown-model-version'],
  ['?model=forecast', 'model-takes-no-file'],
  ['?model=both', 'model-takes-no-file'],
  ['?model=reader&parameters={"language":1}', 'invalid-parameters'],
  [`?model=reader&parameters={"document":"${'0'.repeat(64)}"}`, 'invalid-parameters'],
  ['?model=reader&parameters=[]', 'invalid-body'],
  ['?model=reader&parameters={', 'invalid-json'],
  ['?parameters={}', 'invalid-body'],
  ['?batch=1', 'invalid-query'],
  ['?nam=x', 'invalid-query'],
])('%s is refused with %s before a byte is stored', async (query, code) => {
  let puts = 0
  replacePut(api, (put) => (...given) => {
    puts += 1
    return put(...given)
  })
  const response = await raw(api, 'text', query)
  expect(response.json().code).toBe(code)
  expect([puts, await stored(api)]).toEqual([0, 0])
})

test('a batch that is named is made, or found', async () => {
  const batch = randomUUID()
  for (const text of ['1', '2']) expect(answerOf(await raw(api, text, `?batch=${batch}`)).batch_id).toBe(batch)
  expect(await api.store.batches.count(batch, 'default')).toMatchObject({ total: 2, done: 2 })
})

test('a batch of another owner is not there', async () => {
  const batch = randomUUID()
  await raw(api, '1', `?batch=${batch}`, { 'holdfast-owner': 'ana' })
  const response = await raw(api, '2', `?batch=${batch}`, { 'holdfast-owner': 'bob' })
  expect([response.statusCode, response.json().code, await stored(api)]).toEqual([404, 'batch-not-found', 1])
})

test('a key that was used with another file is refused, and its bytes go', async () => {
  const key = { 'idempotency-key': 'k3' }
  await raw(api, 'one', '', key)
  const response = await raw(api, 'two', '', key)
  expect([response.statusCode, response.json().code]).toEqual([409, 'idempotency-key-reused'])
  expect(await blobs(api)).toHaveLength(1)
})

test('bytes that were lost are replaced by those of the next upload', async () => {
  await raw(api, 'precious')
  const { ref } = (await api.store.files.find(sha256Of('precious'), null))!
  await api.blob.delete(ref)
  expect((await api.get(`/files/${sha256Of('precious')}`)).json().code).toBe('file-missing')
  expect(answerOf(await raw(api, 'precious')).data[0]).toMatchObject({ duplicate: true })
  expect((await api.get(`/files/${sha256Of('precious')}`)).body).toBe('precious')
  expect(await blobs(api)).toHaveLength(1)
})

test('a store that is full is said to be, and nothing is recorded', async () => {
  replacePut(api, () => async (name) => {
    throw new BlobStoreFull(name)
  })
  const response = await raw(api, 'x')
  expect([response.statusCode, response.json().code, await stored(api)]).toEqual([507, 'storage-full', 0])
})

test('uploads and their bytes are counted and logged', async () => {
  const api = await createTestApi({ models: FILE_MODELS })
  await raw(api, 'four', '', { 'x-request-id': 'req-1' })
  await raw(api, 'four')
  const text = (await api.get('/metrics')).body
  for (const line of ['uploads_total 2', 'upload_duplicates_total 1', 'upload_bytes_total 8'])
    expect(text).toContain(line)
  const line = api.logLines.find(({ msg }) => msg === 'upload accepted')
  expect(line).toMatchObject({
    request_id: 'req-1',
    file_id: sha256Of('four'),
    bytes: 4,
    duplicate: false,
    owner: 'default',
  })
})

test('owners have their own files, and digests open no doors', async () => {
  const api = await createTestApi({ models: FILE_MODELS, config: { access: TOKENS_ONLY } })
  const [ana, bob] = [
    await testToken(api.store, 'submitter', { owner: 'ana' }),
    await testToken(api.store, 'submitter', { owner: 'bob' }),
  ]
  await raw(api, 'secret', '?model=reader&name=a.md', ana.headers)
  expect((await api.get(`/files/${sha256Of('secret')}`, bob.headers)).statusCode).toBe(404)
  const own = answerOf(await raw(api, 'secret', '?model=reader&name=a.txt', bob.headers)).data[0]
  expect(own).toMatchObject({ duplicate: false, state: 'UPLOADED', type: 'text/plain' })
  expect((await api.stored()).runs).toBe(2)
  expect(await blobs(api)).toHaveLength(1)
})

test('a file that one has is handed in again without its bytes: the same answers, once per key, and nothing is lost', async () => {
  const again = (query: string, headers = {}) =>
    api.app.inject({ method: 'POST', url: `/files/${sha256Of('text')}/uploads${query}`, headers })
  expect((await again('')).json()).toMatchObject({ status: 404, code: 'no-such-file' })
  await raw(api, 'text', '?name=a.txt')
  expect(answerOf(await again('?name=b.txt')).data[0]).toMatchObject({
    name: 'b.txt',
    state: 'DUPLICATE',
    type: 'text/plain',
  })

  const batch = randomUUID()
  const key = { 'idempotency-key': 'again-1' }
  const first = await again(`?model=reader&batch=${batch}`, key)
  expect([first.statusCode, answerOf(first).data[0]]).toMatchObject([
    201,
    { duplicate: false, batch_id: batch, name: 'b.txt' },
  ])
  const repeated = await again(`?model=reader&batch=${batch}`, key)
  expect([repeated.statusCode, answerOf(repeated).data[0]]).toMatchObject([200, { duplicate: false, batch_id: batch }])
  expect(answerOf(await again('?model=reader')).data[0]).toMatchObject({ state: 'DUPLICATE' })
  expect(await newRuns()).toBe(1)

  expect((await again('?model=nobody')).json()).toMatchObject({ code: 'unknown-model' })
  expect((await again('?model=both')).json()).toMatchObject({ code: 'model-takes-no-file' })
  const { ref } = (await api.store.files.find(sha256Of('text'), 'default'))!
  expect(Buffer.from(await api.blob.get(ref)).toString()).toBe('text')
  expect((await again('', { 'holdfast-owner': 'other' })).statusCode).toBe(404)
  await api.blob.delete(ref)
  expect((await again('')).statusCode).toBe(404)
})
