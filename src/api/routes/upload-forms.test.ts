/** `POST /files` with a form: fields, several files and their batch, refusals of one file and of all, repeats. */

import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { openTestApi, type TestApi } from '../../../test/support/api.ts'
import {
  answerOf,
  blobs,
  FILE_MODELS,
  FORM,
  forgetFiles,
  form,
  type Part,
  raw,
  sha256Of,
  stored,
} from '../../../test/support/sent-files.ts'
import type { UploadAnswer } from '../../contract/file.ts'

let api: TestApi
/** Takes small files only. */
let limited: TestApi
beforeAll(async () => {
  const http = { bodyLimitBytes: 1_000, fileBytesMax: 30 }
  ;[api, limited] = await Promise.all([openTestApi({ models: FILE_MODELS }), openTestApi({ config: { http } })])
})
afterAll(() => Promise.all([api.close(), limited.close()]))
beforeEach(async () => {
  await forgetFiles(api)
  runsBefore = (await api.stored()).runs
})

let runsBefore: number
const newRuns = async () => (await api.stored()).runs - runsBefore

test('a form may hold fields and one file, and has no batch then', async () => {
  const parts: Part[] = [
    ['model', 'reader'],
    ['parameters', '{"language":"de"}'],
    ['title', 'Letter'],
    ['file', 'x', 'a/ü.txt'],
  ]
  const response = await form(api, parts)
  const { batch_id, data } = answerOf(response)
  expect([response.statusCode, batch_id, data[0]]).toMatchObject([201, null, { name: 'ü.txt', batch_id: null }])
  const run = (await api.get(`/runs/${(data[0] as { run_id: string }).run_id}`)).json()
  expect(run).toMatchObject({
    title: 'Letter',
    parameters: { document: sha256Of('x'), language: 'de' },
    batch_id: null,
  })
})

test('several files share a batch, each with a run of its own', async () => {
  const parts: Part[] = [
    ['model', 'reader'],
    ['title', 'Letters'],
    ['file', '1', '1.txt'],
    ['file', '2', '2.txt'],
    ['file', '1', '3.txt'],
  ]
  const { batch_id, data } = answerOf(await form(api, parts))
  expect(data.map((file) => [file.name, 'state' in file && file.state])).toEqual([
    ['1.txt', 'UPLOADED'],
    ['2.txt', 'UPLOADED'],
    ['3.txt', 'DUPLICATE'],
  ])
  expect(data.every((file) => 'batch_id' in file && file.batch_id === batch_id)).toBe(true)
  expect(await api.store.batches.find(batch_id!, 'default')).toMatchObject({ title: 'Letters' })
  expect(await api.store.batches.count(batch_id!, 'default')).toMatchObject({ total: 3, waiting: 2, duplicate: 1 })
  const runs = (await api.get(`/runs?batch_id=${batch_id}`)).json().data
  expect(runs.map(({ title }: { title: string }) => title).sort()).toEqual(['1.txt', '2.txt'])
})

test('one file of several that is refused undoes none of the others', async () => {
  const response = await form(limited, [
    ['file', '1', '1.txt'],
    ['file', '2'.repeat(31), '2.txt'],
    ['file', '3', '3.txt'],
  ])
  const { data } = answerOf(response)
  expect([response.statusCode, data.map(({ name, status, problem }) => [name, status, problem?.code])]).toEqual([
    201,
    [
      ['1.txt', 201, undefined],
      ['2.txt', 413, 'file-too-large'],
      ['3.txt', 201, undefined],
    ],
  ])
  expect(await stored(limited)).toBe(2)
  expect(await blobs(limited)).toHaveLength(2)
})

test('a file above the limit is refused with the limit, and nothing of it stays', async () => {
  const before = await blobs(limited)
  for (const send of [() => raw(limited, 'x'.repeat(31)), () => form(limited, [['file', 'x'.repeat(31), 'a']])]) {
    const response = await send()
    expect(response.json()).toMatchObject({ status: 413, code: 'file-too-large', limit_bytes: 30 })
  }
  expect(await blobs(limited)).toEqual(before)
  expect((await raw(limited, 'x'.repeat(30))).statusCode).toBe(201)
})

test.each<[string, Part[], string]>([
  ['no file', [['model', 'reader']], 'invalid-body'],
  [
    'an unknown field',
    [
      ['modle', 'x'],
      ['file', 'x', 'a'],
    ],
    'invalid-body',
  ],
  [
    'a field twice',
    [
      ['model', 'reader'],
      ['model', 'reader'],
      ['file', 'x', 'a'],
    ],
    'invalid-body',
  ],
  [
    'a field after its file',
    [
      ['file', 'x', 'a'],
      ['model', 'reader'],
    ],
    'invalid-body',
  ],
  ['a file in another field', [['document', 'x', 'a']], 'invalid-body'],
  [
    'a model that is not there',
    [
      ['model', 'nobody'],
      ['file', 'x', 'a'],
      ['file', 'y', 'b'],
    ],
    'unknown-model',
  ],
  [
    'a batch that is none',
    [
      ['batch', 'x'],
      ['file', 'x', 'a'],
    ],
    'invalid-body',
  ],
])('a form with %s is refused and leaves nothing', async (_what, parts, code) => {
  const response = await form(api, parts)
  expect([response.json().code, await stored(api), await blobs(api)]).toEqual([code, 0, []])
})

test.each([
  [
    'without an end',
    FORM['content-type'],
    '--XX\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nhalf',
  ],
  ['without a boundary', 'multipart/form-data', 'x'],
  ['that is none', FORM['content-type'], 'no form at all'],
])('a form %s is refused and leaves nothing', async (_what, type, payload) => {
  const response = await api.app.inject({ method: 'POST', url: '/files', headers: { 'content-type': type }, payload })
  expect([response.statusCode, response.json().code]).toEqual([400, 'invalid-body'])
  expect([await stored(api), await blobs(api)]).toEqual([0, []])
})

test('a field after the second file ends the form there, and the files before it stay', async () => {
  const { data } = answerOf(
    await form(api, [
      ['file', '1', '1'],
      ['file', '2', '2'],
      ['title', 'late'],
      ['file', '3', '3'],
    ]),
  )
  expect(data.map(({ name, status }) => [name, status])).toEqual([
    ['1', 201],
    ['2', 201],
    ['title', 400],
  ])
  expect(await stored(api)).toBe(2)
})

test('a repeat with the same key answers what the first answered, and makes nothing', async () => {
  const key = { 'idempotency-key': 'k1' }
  const parts: Part[] = [
    ['model', 'reader'],
    ['file', '1', '1'],
    ['file', '2', '2'],
  ]
  const first = await form(api, parts, key)
  const again = await form(api, parts, key)
  expect([first.statusCode, again.statusCode]).toEqual([201, 200])
  const without = (answer: UploadAnswer) => ({ ...answer, data: answer.data.map((file) => ({ ...file, status: 0 })) })
  expect(without(answerOf(again))).toEqual(without(answerOf(first)))
  expect([await stored(api), await newRuns(), (await blobs(api)).length]).toEqual([2, 2, 2])
})

test('a repeat of a request that came only half way goes on in the same batch', async () => {
  const key = { 'idempotency-key': 'k2' }
  const half = answerOf(
    await form(
      api,
      [
        ['file', '1', '1'],
        ['file', '2', '2'],
        ['late', ''],
      ],
      key,
    ),
  )
  const whole = answerOf(
    await form(
      api,
      [
        ['file', '1', '1'],
        ['file', '2', '2'],
        ['file', '3', '3'],
      ],
      key,
    ),
  )
  expect(whole.batch_id).toBe(half.batch_id)
  expect(whole.data.map(({ status }) => status)).toEqual([200, 200, 201])
  expect(await api.store.batches.count(whole.batch_id!, 'default')).toMatchObject({ total: 3 })
})

test.each<Record<string, string>>([
  { 'sec-fetch-site': 'cross-site' },
  { 'sec-fetch-site': 'same-site' },
  { origin: 'https://evil.example' },
  { origin: 'null' },
])('a form of a foreign page with %j is refused', async (headers) => {
  const response = await form(api, [['file', 'x', 'a']], headers)
  expect([response.statusCode, response.json().code, await stored(api)]).toEqual([403, 'cross-site-request', 0])
})
