/** Files, their uploads and the runs that uploads make: what is stored once, what is a duplicate, and what goes when. */

import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newRun } from '../../test/support/new-run.ts'
import { acceptedUpload, newUpload, type UploadChanges } from '../../test/support/new-upload.ts'
import { postgresVersions } from '../../test/support/postgres-versions.ts'
import { openTestStore, ownModel, settle, accepted as submittedRun, type TestStore } from '../../test/support/store.ts'
import { Refusal } from '../run/errors.ts'
import type { NewUpload } from './ports/files.ts'

describe.each(postgresVersions)('files on Postgres %s', (server) => {
  let t: TestStore
  beforeAll(async () => {
    t = await openTestStore(server)
  })
  afterAll(() => t.close())

  const accept = async (upload: NewUpload) => acceptedUpload(await t.store.files.accept(upload))
  const add = (changes: UploadChanges = {}) => accept(newUpload(changes))
  const own = () => ({ owner: randomUUID(), text: randomUUID() })

  it('a new file is stored, is its owner’s, and is no duplicate', async () => {
    const upload = newUpload({ ...own(), name: 'a.csv' })
    const accepted = await accept(upload)
    const { file, id, owner } = upload
    expect(accepted).toMatchObject({ isStored: true, isRepeat: false, ref: file.ref, run: null })
    expect(accepted.upload).toMatchObject({ id, owner, fileId: file.id, name: 'a.csv', duplicate: false, runId: null })
    expect(await t.store.files.find(file.id, owner)).toMatchObject({ ...file, owner, name: 'a.csv' })
  })

  it('a file is seen by who uploaded it and by nobody else', async () => {
    const { upload } = await add(own())
    expect(await t.store.files.find(upload.fileId, 'another')).toBeNull()
    expect(await t.store.files.findMany([upload.fileId], 'another')).toEqual(new Map())
    expect(await t.store.files.find(upload.fileId, null)).toMatchObject({ id: upload.fileId })
  })

  it('the same bytes of the same owner are a duplicate, under the name they have now', async () => {
    const mine = own()
    const first = await add(mine)
    const again = await add({ ...mine, name: 'b.txt' })
    expect(again).toMatchObject({ isStored: false, isRepeat: false, ref: first.ref })
    expect(again.upload).toMatchObject({ duplicate: true, name: 'b.txt', fileId: first.upload.fileId })
    expect(await t.store.files.find(first.upload.fileId, mine.owner)).toMatchObject({ name: 'b.txt' })
  })

  it('the same bytes of two owners are one file, no duplicate, and tell neither of the other', async () => {
    const mine = own()
    const first = await add({ ...mine, name: 'a.csv' })
    const other = newUpload({ text: mine.text, owner: randomUUID() })
    const second = await accept({ ...other, file: { ...other.file, type: 'text/markdown' } })
    expect(second).toMatchObject({ isStored: false, ref: first.ref })
    expect(second.upload).toMatchObject({ duplicate: false, type: 'text/markdown' })
    const seen = await t.store.files.find(other.file.id, other.owner)
    expect(seen).toMatchObject({ type: 'text/markdown', name: 'a.txt' })
  })

  it('an upload for a model makes its run, with the file among its parameters', async () => {
    const upload = newUpload({ ...own(), model: ownModel(), name: 'a.pdf' })
    const { run, upload: recorded } = await accept(upload)
    expect(run).toMatchObject({ idempotentHit: false, run: { id: upload.run!.id, status: 'PENDING' } })
    expect(recorded).toMatchObject({ runId: upload.run!.id, duplicate: false })
    expect(await t.store.files.ofRun(upload.run!.id)).toEqual([
      { ...upload.file, fileId: upload.file.id, parameter: '/document', name: 'a.pdf' },
    ])
    expect(await t.events(upload.run!.id)).toEqual(['created'])
  })

  it('a duplicate document makes no run, leads to the first and tells it, also when that has ended', async () => {
    const [mine, model] = [own(), ownModel()]
    const first = await add({ ...mine, model })
    const [lease] = await t.claim({ models: [{ model, version: '1', room: 1 }] })
    await settle(t, lease!, 'fail')
    const batchId = randomUUID()
    const again = newUpload({ ...mine, model, name: 'b.txt', batchId })
    const { upload, run } = await accept(again)
    expect(upload).toMatchObject({ duplicate: true, runId: first.upload.runId, batchId })
    expect(run).toMatchObject({ idempotentHit: true, run: { id: first.upload.runId, status: 'FAILED' } })
    const [event] = await t.database.query(
      `SELECT seq, status, data FROM run_events WHERE run_id = $1 AND type = 'document.duplicate'`,
      [first.upload.runId],
    )
    const data = { upload_id: again.id, file_id: again.file.id, name: 'b.txt', batch_id: batchId }
    expect(event).toEqual({ seq: 4, status: 'FAILED', data })
    expect(await t.store.readRun(again.run!.id)).toBeNull()
  })

  it('what was retried is listed with its newest retry, also where it is the first of a duplicate', async () => {
    const [mine, model] = [own(), ownModel()]
    const first = await add({ ...mine, model })
    await add({ ...mine, model, name: 'b.txt' })
    const listed = async () =>
      (
        await t.store.files.uploads({ owner: mine.owner, batchId: null, fileId: null, limit: 10, cursor: null })
      ).uploads.map(({ runId, runStatus }) => ({ runId, runStatus }))
    const end = async (how: 'fail' | 'succeed') => {
      const [lease] = await t.claim({ models: [{ model, version: '1', room: 1 }] })
      await settle(t, lease!, how)
    }
    await end('fail')
    expect(await listed()).toEqual(Array(2).fill({ runId: first.upload.runId, runStatus: 'FAILED' }))
    let retryOf = first.upload.runId!
    for (const how of ['fail', 'succeed'] as const) {
      const { owner, payloadHash } = (await t.store.readRun(retryOf))!.run
      const retry = newRun({ owner, payloadHash, model, retryOf })
      submittedRun(await t.store.submit(retry))
      expect(await listed()).toEqual(Array(2).fill({ runId: retry.id, runStatus: 'PENDING' }))
      await end(how)
      retryOf = retry.id
    }
    expect(await listed()).toEqual(Array(2).fill({ runId: retryOf, runStatus: 'SUCCEEDED' }))
  })

  it('a file that its owner has is handed in without bytes; one that was given up meanwhile is not', async () => {
    const mine = own()
    const upload = newUpload(mine)
    const held = (changes: UploadChanges = {}) => ({
      ...newUpload({ ...mine, ...changes }),
      file: upload.file,
      isHeld: true,
    })
    const recorded = () => t.database.query('SELECT FROM file_uploads WHERE file_id = $1', [upload.file.id])
    expect(await t.store.files.accept(held())).toMatchObject({ code: 'no-such-file' })
    expect(await t.store.files.find(upload.file.id, null)).toBeNull()
    await accept(upload)
    expect((await accept(held())).upload).toMatchObject({ duplicate: true, runId: null })
    const model = ownModel()
    expect((await accept(held({ model }))).upload.duplicate).toBe(false)
    expect((await accept(held({ model }))).upload.duplicate).toBe(true)
    expect(await t.store.files.accept({ ...held(), owner: randomUUID() })).toMatchObject({ code: 'no-such-file' })
    expect(await recorded()).toHaveLength(4)
  })

  it('one document for two models, and of two owners, makes a run each', async () => {
    const mine = own()
    const ids = new Set<string | null>()
    for (const [owner, model] of [
      [mine.owner, ownModel()],
      [mine.owner, ownModel()],
      [randomUUID(), ownModel()],
    ]) {
      const { upload } = await add({ ...mine, owner, model })
      expect(upload.duplicate).toBe(false)
      ids.add(upload.runId)
    }
    expect(ids.size).toBe(3)
  })

  it('a document whose run is not there any more makes a new one', async () => {
    const [mine, model] = [own(), ownModel()]
    await add({ ...mine, model })
    await t.database.query(`UPDATE documents SET run_id = $2 WHERE owner = $1`, [mine.owner, randomUUID()])
    const { upload, run } = await add({ ...mine, model })
    expect([upload.duplicate, run?.idempotentHit]).toEqual([false, false])
    expect((await add({ ...mine, model })).upload).toMatchObject({ duplicate: true, runId: upload.runId })
  })

  it.each(['a file', 'a document'])(
    'the same upload sent again, after a lost reply, is answered the same: %s',
    async (what) => {
      const upload = newUpload({ ...own(), ...(what === 'a document' && { model: ownModel() }) })
      const first = await accept(upload)
      const again = await accept(upload)
      expect({ ...again, run: again.run?.run.id }).toEqual({ ...first, run: first.run?.run.id })
      expect(again.run?.idempotentHit).toBe(first.run?.idempotentHit)
      expect(await t.database.query('SELECT id FROM file_uploads WHERE owner = $1', [upload.owner])).toHaveLength(1)
    },
  )

  it('a repeat by key is answered as the first, and its bytes are not needed', async () => {
    const mine = { ...own(), key: 'k#0', model: ownModel() }
    const first = await add(mine)
    const again = await add({ ...mine, name: 'other.txt' })
    expect(again).toMatchObject({ upload: first.upload, isRepeat: true, isStored: false, ref: first.ref })
    expect(again.run).toMatchObject({ idempotentHit: true, run: { id: first.upload.runId } })
    expect(await t.events(first.upload.runId!)).toEqual(['created'])
  })

  it.each([
    ['another file', { text: 'another' }],
    ['another model', { model: 'another' }],
    ['no model', { model: undefined }],
  ])('a key that was used with %s is refused', async (_what, changes) => {
    const mine = { ...own(), key: 'k#0', model: ownModel() }
    const { upload } = await add(mine)
    const refusal = (await t.store.files.accept(newUpload({ ...mine, ...changes }))) as Refusal
    expect(refusal).toBeInstanceOf(Refusal)
    expect([refusal.code, refusal.extra?.upload_id]).toEqual(['idempotency-key-reused', upload.id])
    expect(await t.database.query('SELECT id FROM file_uploads WHERE owner = $1', [mine.owner])).toHaveLength(1)
  })

  it('one key of two owners leads to two uploads', async () => {
    const ids = [await add({ ...own(), key: 'same' }), await add({ ...own(), key: 'same' })].map(
      ({ upload }) => upload.id,
    )
    expect(new Set(ids).size).toBe(2)
  })

  it('a run that names another file, which is gone, is refused and leaves nothing', async () => {
    const upload = newUpload({ ...own(), model: ownModel() })
    upload.run!.files!.push({ parameter: '/other', fileId: 'f'.repeat(64), name: 'x' })
    expect(await t.store.files.accept(upload)).toMatchObject({ code: 'file-not-found' })
    expect(await t.store.files.find(upload.file.id, null)).toBeNull()
  })

  it('uploads are listed newest first, in pages, by owner, batch and file, with the state of their runs', async () => {
    const [owner, batchId] = [randomUUID(), randomUUID()]
    const uploads = []
    for (const changes of [{}, { batchId }, { batchId, model: ownModel() }])
      uploads.push(await add({ owner, ...changes }))
    const ids = uploads.map(({ upload }) => upload.id).reverse()
    const all = { owner, batchId: null, fileId: null, limit: 10, cursor: null }
    const list = async (changes: Partial<typeof all> | object) => t.store.files.uploads({ ...all, ...changes })
    expect((await list({})).uploads.map(({ id, runStatus }) => [id, runStatus])).toEqual([
      [ids[0], 'PENDING'],
      [ids[1], null],
      [ids[2], null],
    ])
    expect((await list({ batchId })).uploads.map(({ id }) => id)).toEqual(ids.slice(0, 2))
    expect((await list({ fileId: uploads[0]!.upload.fileId })).uploads.map(({ id }) => id)).toEqual(ids.slice(2))
    expect((await list({ owner: 'another' })).uploads).toEqual([])
    const first = await list({ limit: 2 })
    const rest = await list({ limit: 2, cursor: first.nextCursor })
    expect([...first.uploads, ...rest.uploads].map(({ id }) => id)).toEqual(ids)
    expect(rest.nextCursor).toBeNull()
    await expect(list({ cursor: 'x' })).rejects.toMatchObject({ code: 'invalid-query' })
  })

  describe('a file that its owner gives up', () => {
    const collected = async (ref: string) =>
      (await t.store.files.collect({ olderThanMs: -1, limit: 1_000 })).includes(ref)

    it('is gone for the owner, with its uploads, and its bytes may be deleted', async () => {
      const { upload, ref } = await add(own())
      expect(await t.store.files.release(upload.fileId, upload.owner)).toBe('released')
      expect(await t.store.files.find(upload.fileId, upload.owner)).toBeNull()
      expect(await collected(ref)).toBe(true)
      expect(await t.store.files.find(upload.fileId, null)).toBeNull()
      expect(await t.store.files.release(upload.fileId, upload.owner)).toBe('not-found')
    })

    it('stays as long as somebody else has it', async () => {
      const [mine, other] = [own(), randomUUID()]
      const { upload, ref } = await add(mine)
      await add({ ...mine, owner: other })
      expect(await t.store.files.release(upload.fileId, 'another')).toBe('not-found')
      expect(await t.store.files.release(upload.fileId, mine.owner)).toBe('released')
      expect(await collected(ref)).toBe(false)
      expect(await t.store.files.find(upload.fileId, other)).toMatchObject({ ref })
      await t.store.files.release(upload.fileId, other)
      expect(await collected(ref)).toBe(true)
    })

    it('is kept while a run of the owner has it among its parameters', async () => {
      const { upload } = await add({ ...own(), model: ownModel() })
      expect(await t.store.files.release(upload.fileId, upload.owner)).toBe('in-use')
      expect(await t.store.files.find(upload.fileId, upload.owner)).not.toBeNull()
    })

    it('can be uploaded again, before and after it was forgotten', async () => {
      const mine = own()
      const first = await add(mine)
      await t.store.files.release(first.upload.fileId, mine.owner)
      const second = await add(mine)
      expect([second.isStored, second.upload.duplicate, second.ref]).toEqual([false, false, first.ref])
      expect(await collected(first.ref)).toBe(false)
      await t.store.files.release(first.upload.fileId, mine.owner)
      expect(await collected(first.ref)).toBe(true)
      expect(await add(mine)).toMatchObject({ isStored: true, upload: { duplicate: false } })
    })

    it('is left alone for a while', async () => {
      const { upload, ref } = await add(own())
      await t.store.files.release(upload.fileId, upload.owner)
      expect(await t.store.files.collect({ olderThanMs: 60_000, limit: 1_000 })).not.toContain(ref)
    })
  })

  it('lost bytes are replaced once', async () => {
    const { upload, ref } = await add(own())
    expect(await t.store.files.replaceRef(upload.fileId, ref, 'artifacts/new')).toBe(true)
    expect(await t.store.files.replaceRef(upload.fileId, ref, 'artifacts/newer')).toBe(false)
    expect(await t.store.files.find(upload.fileId, null)).toMatchObject({ ref: 'artifacts/new' })
  })
})
