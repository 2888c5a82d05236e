/** Resumable uploads: begun, sent in pieces, finished once, and nothing of them seen before or left behind. */

import { randomBytes, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { MODEL, openTestApi } from '../../../test/support/api.ts'
import {
  finishedUpload,
  namesIn,
  openedForUploads as opened,
  READER,
  sha256,
} from '../../../test/support/resumable-uploads.ts'
import { TUS, TUS_BYTES, tusRequests } from '../../../test/support/tus.ts'

/** For tests that leave nothing behind. */
let shared: Awaited<ReturnType<typeof openTestApi>>
beforeAll(async () => {
  shared = await openTestApi({ models: [MODEL, READER] })
})
afterAll(() => shared.close())

test('the service says what it can do of tus', async () => {
  const { api } = await opened({ config: { http: { bodyLimitBytes: 1024, fileBytesMax: 77 } } })
  const { statusCode, headers } = await api.app.inject({ method: 'OPTIONS', url: '/uploads' })
  expect([statusCode, headers['tus-version'], headers['tus-max-size']]).toEqual([204, '1.0.0', '77'])
  expect(headers['tus-extension']).toBe('creation,creation-with-upload,expiration,termination')
})

describe('an upload', () => {
  test('is sent in pieces, seen when the last has come, and leaves one file', async () => {
    const { api, tus } = await opened()
    const begun = await tus.begin(10, { filename: 'a.txt', own: 'thing' })
    expect(begun.statusCode).toBe(201)
    expect(begun.headers['tus-resumable']).toBe('1.0.0')
    const path = begun.headers.location as string
    const sent = await tus.send(path, 0, 'hello ')
    expect([sent.statusCode, sent.headers['upload-offset']]).toEqual([204, '6'])
    const { statusCode, headers } = await tus.head(path)
    expect(statusCode).toBe(200)
    expect(headers).toMatchObject({
      'upload-offset': '6',
      'upload-length': '10',
      'cache-control': 'no-store',
    })
    const metadata = String(headers['upload-metadata']).split(',').toSorted()
    expect(metadata).toEqual(['filename YS50eHQ=', 'own dGhpbmc='])
    expect(Date.parse(headers['upload-expires'] as string)).toBeGreaterThan(Date.now())
    expect((await tus.read(path)).json()).toMatchObject({ received: 6, size: 10, finished: false, upload: null })
    expect((await api.get('/files')).json().data).toEqual([])
    expect((await tus.send(path, 6, 'file')).headers['upload-offset']).toBe('10')
    const upload = await finishedUpload(api, path)
    expect(upload).toMatchObject({ file_id: sha256('hello file'), name: 'a.txt', size: 10, duplicate: false })
    expect((await api.get(`/files/${upload.file_id}`)).body).toBe('hello file')
    expect(await tus.offset(path)).toBe(10)
    expect(await namesIn(api)).toEqual([expect.stringMatching(/\.file$/)])
  })

  test('may bring its bytes when it begins, all of them or some', async () => {
    const { api, tus } = await opened()
    const bring = (length: number, bytes: string) =>
      api.app.inject({
        method: 'POST',
        url: '/uploads',
        headers: { ...TUS_BYTES, 'upload-length': String(length) },
        payload: bytes,
      })
    const all = await bring(3, 'abc')
    expect([all.statusCode, all.headers['upload-offset']]).toEqual([201, '3'])
    expect((await finishedUpload(api, all.headers.location as string)).file_id).toBe(sha256('abc'))
    const some = await bring(5, 'ab')
    expect(some.headers['upload-offset']).toBe('2')
    await tus.send(some.headers.location as string, 2, 'cde')
    expect((await finishedUpload(api, some.headers.location as string)).file_id).toBe(sha256('abcde'))
    expect((await bring(1, 'ab')).json().code).toBe('body-too-large')
  })

  test('without a byte is finished as it begins', async () => {
    expect((await finishedUpload(shared, await tusRequests(shared.app).begun(0))).size).toBe(0)
  })

  test('of a file that the owner has is a duplicate, and its bytes are not kept', async () => {
    const { api, tus } = await opened()
    for (const duplicate of [false, true]) {
      const path = await tus.begun(3)
      await tus.send(path, 0, 'abc')
      expect((await finishedUpload(api, path)).duplicate).toBe(duplicate)
    }
    expect(await namesIn(api)).toHaveLength(1)
  })

  test('with a key is the same upload as another with that key', async () => {
    const { api, tus } = await opened()
    const ids: string[] = []
    for (let time = 0; time < 2; time += 1) {
      const path = await tus.begun(3, { key: 'once' })
      await tus.send(path, 0, 'abc')
      ids.push((await finishedUpload(api, path)).upload_id)
    }
    expect(ids[0]).toBe(ids[1])
    expect((await api.get('/files')).json().data).toHaveLength(1)
  })

  test('is given up with all that came of it', async () => {
    const { api, tus } = await opened()
    const path = await tus.begun(10)
    await tus.send(path, 0, 'hello')
    expect((await tus.remove(path)).statusCode).toBe(204)
    expect(await namesIn(api)).toEqual([])
    for (const answer of [await tus.head(path), await tus.remove(path), await tus.send(path, 5, 'x')])
      expect(answer.statusCode).toBe(404)
  })

  test('that expired is gone', async () => {
    const { api, tus } = await opened({ config: { http: { bodyLimitBytes: 1024, uploadKeepSeconds: 60 } } })
    const path = await tus.begun(10)
    await api.db.shiftClock('61 s')
    expect((await tus.send(path, 0, 'x')).json()).toMatchObject({ status: 404, code: 'upload-not-found' })
  })
})

describe('with a model', () => {
  test('the answer to the last byte, and only that, carries the warnings of its run', async () => {
    const { api, tus } = await opened()
    const limits = { max_concurrent: 1, runs_per_hour: null, runs_per_day: null, cost_per_day: null, cost_per_month: 1 }
    await api.store.quotas.put({ owner: 'default', model: '', together: false }, limits, 'block')
    const path = await tus.begun(3, { filename: 'a.txt', model: 'reader', parameters: '{"pages":2}' })
    expect((await tus.send(path, 0, 'ab')).headers).not.toHaveProperty('holdfast-quota-warnings')
    const { headers } = await tus.send(path, 2, 'c')
    expect(JSON.parse(headers['holdfast-quota-warnings'] as string)).toEqual([
      'Quota warning: 1 of 1 concurrent runs used',
    ])
    expect(headers).not.toHaveProperty('holdfast-cost-limit-warning')
  })

  test('the last byte makes the run, in its batch', async () => {
    const { api, tus } = await opened()
    const batch = randomUUID()
    const path = await tus.begun(3, { filename: 'a.txt', model: 'reader', parameters: '{"pages":2}', batch })
    expect((await api.get(`/batches/${batch}`)).json()).toMatchObject({ total: 0 })
    expect(await api.stored()).toMatchObject({ runs: 0 })
    await tus.send(path, 0, 'abc')
    const { run_id, batch_id, file_id } = await finishedUpload(api, path)
    expect(batch_id).toBe(batch)
    const run = (await api.get(`/runs/${run_id}`)).json()
    expect(run).toMatchObject({ batch_id: batch, parameters: { document: file_id, pages: 2 }, title: 'a.txt' })
    expect(api.hints).toContainEqual({ topic: 'queue:default', runId: run_id })
    expect((await api.get(`/batches/${batch}`)).json()).toMatchObject({ total: 1, waiting: 1 })
    const again = await tus.begun(3, { model: 'reader', parameters: '{"pages":2}', batch })
    await tus.send(again, 0, 'abc')
    expect(await finishedUpload(api, again)).toMatchObject({ duplicate: true, run_id })
    expect((await api.get(`/batches/${batch}`)).json()).toMatchObject({ total: 2, waiting: 1, duplicate: 1 })
  })

  test.each([
    [{ model: 'nobody' }, 404, 'unknown-model'],
    [{ model: 'forecast' }, 422, 'model-takes-no-file'],
    [{ model: 'reader', parameters: '{"pages":0}' }, 422, 'invalid-parameters'],
    [{ model: 'reader', parameters: 'x' }, 400, 'invalid-header'],
    [{ batch: 'x' }, 400, 'invalid-header'],
  ])('%j is refused before a byte is sent', async (metadata, status, code) => {
    const owner = randomUUID()
    const tus = tusRequests(shared.app, { 'holdfast-owner': owner })
    expect((await tus.begin(5, metadata as Record<string, string>)).json()).toMatchObject({ status, code })
    expect(await shared.db.query('SELECT FROM resumable_uploads WHERE owner = $1', [owner])).toEqual([])
  })

  test('the batch of another owner is not there', async () => {
    const tus = tusRequests(shared.app)
    const batch = randomUUID()
    await shared.store.batches.ensure({ id: batch, owner: 'bob', title: null })
    expect((await tus.begin(5, { batch })).json()).toMatchObject({ status: 404, code: 'batch-not-found' })
  })
})

describe('refused is', () => {
  test('another version of the protocol', async () => {
    const [api, tus] = [shared, tusRequests(shared.app)]
    const path = await tus.begun(5)
    for (const version of [undefined, '0.2.2']) {
      const headers = { ...TUS_BYTES, 'upload-offset': '0', ...(version && { 'tus-resumable': version }) }
      if (version === undefined) delete (headers as Record<string, string>)['tus-resumable']
      const answer = await api.app.inject({ method: 'PATCH', url: path, headers, payload: 'x' })
      expect([answer.statusCode, answer.headers['tus-resumable']]).toEqual([412, '1.0.0'])
    }
    expect((await tus.begin(5, {}, { 'tus-resumable': '2.0.0' })).statusCode).toBe(412)
    expect((await api.app.inject({ method: 'DELETE', url: path })).statusCode).toBe(412)
    expect(await tus.offset(path)).toBe(0)
  })

  test('another content type', async () => {
    const tus = tusRequests(shared.app)
    const path = await tus.begun(5)
    expect((await tus.send(path, 0, 'x', { 'content-type': 'text/plain' })).statusCode).toBe(415)
    expect(await tus.offset(path)).toBe(0)
  })

  test('another place than where the upload is', async () => {
    const tus = tusRequests(shared.app)
    const path = await tus.begun(5)
    await tus.send(path, 0, 'abc')
    for (const offset of [0, 2, 4]) {
      expect((await tus.send(path, offset, 'x')).json()).toMatchObject({ status: 409, code: 'upload-offset' })
    }
    expect(await tus.offset(path)).toBe(3)
  })

  test('more than was announced, and more than is allowed', async () => {
    const { api, tus } = await opened({ config: { http: { bodyLimitBytes: 10, fileBytesMax: 20 } } })
    expect((await tus.begin(21)).json()).toMatchObject({ status: 413, code: 'file-too-large' })
    const path = await tus.begun(20)
    expect((await tus.send(path, 0, 'x'.repeat(21))).json()).toMatchObject({ status: 413, code: 'body-too-large' })
    expect(await namesIn(api)).toEqual([])
    expect((await tus.send(path, 0, 'x'.repeat(20))).statusCode).toBe(204)
  })

  test('one upload more than an owner may have open', async () => {
    const { tus } = await opened({ config: { http: { bodyLimitBytes: 1024, uploadsOpenMax: 2 } } })
    const path = await tus.begun(1)
    await tus.begun(1)
    expect((await tus.begin(1)).json()).toMatchObject({ status: 409, code: 'upload-limit' })
    await tus.send(path, 0, 'x')
    expect((await tus.begin(1)).statusCode).toBe(201)
  })
})

test('of many that send the same bytes at once one wins, and nothing of the others is left', async () => {
  const { api, tus } = await opened()
  const path = await tus.begun(2_000)
  const half = randomBytes(1_000)
  const answers = await Promise.all(Array.from({ length: 5 }, () => tus.send(path, 0, half)))
  expect(answers.map(({ statusCode }) => statusCode).toSorted()).toEqual([204, 409, 409, 409, 409])
  expect(await namesIn(api)).toHaveLength(1)
  await tus.send(path, 1_000, half)
  expect((await finishedUpload(api, path)).file_id).toBe(sha256(Buffer.concat([half, half])))
})

test('a wrong id is no upload, in the words for one that is gone', async () => {
  const api = shared
  for (const id of ['x', randomUUID()]) {
    const answer = await api.app.inject({ method: 'GET', url: `/uploads/${id}`, headers: TUS })
    expect(answer.json()).toMatchObject({ status: 404, code: 'upload-not-found' })
  }
})
