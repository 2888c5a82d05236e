/** An upload becomes one file, whoever dies on the way to it and however many try. */

import { describe, expect, test } from 'vitest'
import { createTestApi } from '../../test/support/api.ts'
import { finishedUpload, namesIn, openedForUploads as opened, sha256 } from '../../test/support/resumable-uploads.ts'
import { tusRequests } from '../../test/support/tus.ts'
import { until } from '../../test/support/until.ts'

describe('a service that dies while it makes the file', () => {
  const dies = () => Promise.reject(new Error('the process died here'))

  test.each([
    ['before the parts are joined', 'put'],
    ['before the upload is accepted', 'accept'],
    ['after the upload is accepted', 'finish'],
    ['before the parts are deleted', 'delete'],
  ])('%s: the next question finishes it, once', async (_when, where) => {
    let isDying = true
    const { api, tus } = await opened({
      store: (store) => ({
        ...store,
        files: {
          ...store.files,
          accept: (upload) => (isDying && where === 'accept' ? dies() : store.files.accept(upload)),
        },
        resumableUploads: {
          ...store.resumableUploads,
          finish: (...args) => (isDying && where === 'finish' ? dies() : store.resumableUploads.finish(...args)),
        },
      }),
    })
    const { put, delete: remove } = api.blob
    api.blob.put = (name, bytes) =>
      isDying && where === 'put' && name.endsWith('.file') ? dies() : put.call(api.blob, name, bytes)
    api.blob.delete = (ref) => (isDying && where === 'delete' ? dies() : remove.call(api.blob, ref))
    const path = await tus.begun(6, { model: 'reader' })
    await tus.send(path, 0, 'abc')
    const last = await tus.send(path, 3, 'def')
    expect(last.statusCode).toBe(where === 'delete' ? 204 : 500)
    if (where !== 'delete') expect((await tus.head(path)).statusCode).toBe(500)
    isDying = false
    expect(await tus.offset(path)).toBe(6)
    expect(await finishedUpload(api, path)).toMatchObject({ file_id: sha256('abcdef'), duplicate: false })
    expect(await api.stored()).toMatchObject({ runs: 1 })
    expect((await api.get('/files')).json().data).toHaveLength(1)
    const names = await namesIn(api)
    expect(names.filter((name) => name.includes('.part-'))).toHaveLength(where === 'delete' ? 2 : 0)
  })

  test('two that finish it at once make one upload', async () => {
    const { api, tus } = await opened()
    const other = await createTestApi({ storeUrl: async () => api.db.url })
    const path = await tus.begun(6, { model: 'reader' })
    const id = path.slice('/uploads/'.length)
    const { ref, bytes } = await api.blob.put(`${id}.part-0-x`, Buffer.from('abcdef'))
    await api.store.resumableUploads.append(id, { fromByte: 0, bytes, ref }, 60)
    Object.assign(other.blob, { open: api.blob.open, put: api.blob.put, stat: api.blob.stat, delete: api.blob.delete })
    const heads = await Promise.all([tus.head(path), tusRequests(other.app).head(path)])
    expect(heads.map(({ statusCode }) => statusCode)).toEqual([200, 200])
    expect(await api.stored()).toMatchObject({ runs: 1 })
    expect(await namesIn(api)).toHaveLength(1)
    const { file_id } = await finishedUpload(api, path)
    expect((await api.get(`/files/${file_id}`)).body).toBe('abcdef')
  })

  test('what nobody asks about is finished in the background', async () => {
    const { api, tus } = await opened()
    const path = await tus.begun(3)
    const id = path.slice('/uploads/'.length)
    const { ref } = await api.blob.put(`${id}.part-0-x`, Buffer.from('abc'))
    await api.store.resumableUploads.append(id, { fromByte: 0, bytes: 3, ref }, 60)
    await api.app.listen({ host: '127.0.0.1', port: 0 })
    await until(async () => (await api.get('/files')).json().data.length === 1, { what: 'it has become a file' })
  })
})

test('bytes of what expired are deleted in the background', async () => {
  const { api, tus } = await opened()
  const path = await tus.begun(10)
  await tus.send(path, 0, 'abc')
  await api.db.shiftClock('2 days')
  await api.app.listen({ host: '127.0.0.1', port: 0 })
  await until(async () => (await namesIn(api)).length === 0, { what: 'its bytes are gone' })
  expect(await api.db.query('SELECT FROM resumable_uploads')).toEqual([])
})
