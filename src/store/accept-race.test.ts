/** Uploads of one file at the same moment, stepped by hand on two connections: what is stored once, who has a duplicate, and who waits. */

import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { acceptedUpload, newUpload } from '../../test/support/new-upload.ts'
import { openTransaction } from '../../test/support/open-transaction.ts'
import { postgresVersions } from '../../test/support/postgres-versions.ts'
import { openTestStore, ownModel, type TestStore } from '../../test/support/store.ts'
import { until } from '../../test/support/until.ts'
import { createAccept, writeUpload } from './accept-upload.ts'
import { ADMISSION_PARTS } from './admission-parts.ts'
import { createAdmission } from './admit.ts'
import { openPool } from './connect.ts'
import { createLanes } from './lanes.ts'
import type { AcceptedUpload, NewUpload } from './ports/files.ts'

describe.each(postgresVersions)('uploads at once on Postgres %s', (server) => {
  let t: TestStore
  const lanes = createLanes()
  const admission = createAdmission(ADMISSION_PARTS)
  beforeAll(async () => {
    t = await openTestStore(server)
  })
  afterAll(() => t.close())

  const own = () => ({ owner: randomUUID(), text: randomUUID() })
  const accept = async (upload: NewUpload) => acceptedUpload(await t.store.files.accept(upload))

  /** All of an accept but its commit. */
  async function written(upload: NewUpload) {
    if (upload.run) await lanes.ensure(t.database.pool, [upload.run])
    const { answer, end } = await openTransaction(t.database.pool, (client) =>
      writeUpload(client, upload, { lanes, admission, begun: null }),
    )
    return { first: answer as AcceptedUpload, end }
  }

  const untilOneWaits = () =>
    until(async () => (await t.database.query('SELECT FROM pg_locks WHERE NOT granted')).length > 0, {
      what: 'an upload waits for the other',
      everyMs: 5,
    })

  const count = async (table: string, id: string) =>
    (await t.database.query(`SELECT FROM ${table} WHERE ${table === 'files' ? 'id' : 'file_id'} = $1`, [id])).length

  it.each(['without a model', 'with one'])('one owner, %s: the second waits and is the duplicate', async (how) => {
    const changes = { ...own(), ...(how === 'with one' && { model: ownModel() }) }
    const { first, end } = await written(newUpload(changes))
    const waiting = accept(newUpload(changes))
    await untilOneWaits()
    await end('COMMIT')
    const second = await waiting
    expect([first.upload.duplicate, second.upload.duplicate]).toEqual([false, true])
    expect([first.isStored, second.isStored, second.ref]).toEqual([true, false, first.ref])
    expect(second.upload.runId).toBe(first.upload.runId)
    expect([await count('files', first.upload.fileId), await count('file_uploads', first.upload.fileId)]).toEqual([
      1, 2,
    ])
    if (how === 'with one') expect(await t.events(first.upload.runId!)).toEqual(['created', 'document.duplicate'])
  })

  it('one owner, and the first is undone: the second is the first', async () => {
    const changes = { ...own(), model: ownModel() }
    const { end } = await written(newUpload(changes))
    const waiting = accept(newUpload(changes))
    await untilOneWaits()
    await end('ROLLBACK')
    expect(await waiting).toMatchObject({ isStored: true, upload: { duplicate: false }, run: { idempotentHit: false } })
  })

  it('two owners: one file, no duplicate, a run each', async () => {
    const { text, owner } = own()
    const model = ownModel()
    const { first, end } = await written(newUpload({ text, owner, model }))
    const waiting = accept(newUpload({ text, owner: randomUUID(), model }))
    await untilOneWaits()
    await end('COMMIT')
    const second = await waiting
    expect([second.isStored, second.upload.duplicate, second.ref]).toEqual([false, false, first.ref])
    expect(second.upload.runId).not.toBe(first.upload.runId)
    expect(await count('files', first.upload.fileId)).toBe(1)
  })

  it('one key: the second is a repeat of the first', async () => {
    const changes = { ...own(), key: 'k#0' }
    const { first, end } = await written(newUpload(changes))
    const waiting = accept(newUpload(changes))
    await untilOneWaits()
    await end('COMMIT')
    expect(await waiting).toMatchObject({ isRepeat: true, isStored: false, upload: { id: first.upload.id } })
    expect(await count('file_uploads', first.upload.fileId)).toBe(1)
  })

  it('the same upload whose first commit comes late is one upload, answered as the first', async () => {
    const upload = newUpload({ ...own(), model: ownModel() })
    const { first, end } = await written(upload)
    const waiting = accept(upload)
    await untilOneWaits()
    await end('COMMIT')
    expect(await waiting).toMatchObject({ isRepeat: false, isStored: true, upload: first.upload })
    expect(await t.events(upload.run!.id)).toEqual(['created'])
  })

  it('many at once, of files that cross each other, neither deadlock nor make a second file or run', async () => {
    const [owner, model] = [randomUUID(), ownModel()]
    const texts = [randomUUID(), randomUUID(), randomUUID()]
    const uploads = Array.from({ length: 24 }, (_, no) =>
      newUpload({
        text: texts[no % 3]!,
        owner: no % 2 === 0 ? owner : `${owner}-b`,
        model,
        key: `k${Math.floor(no / 6)}-${no % 6}`,
      }),
    )
    const answers = await Promise.all(uploads.map(accept))
    expect(answers.filter(({ isStored }) => isStored)).toHaveLength(3)
    expect(answers.filter(({ upload }) => !upload.duplicate)).toHaveLength(6)
    expect(new Set(answers.map(({ upload }) => upload.runId)).size).toBe(6)
  })

  describe('while the file is being given up', () => {
    /** A file that nobody has, and that is about to be forgotten. */
    async function released() {
      const upload = newUpload(own())
      await accept(upload)
      await t.store.files.release(upload.file.id, upload.owner)
      return upload
    }

    it('an upload that waits for its file to be forgotten stores it anew', async () => {
      const { file, owner } = await released()
      const { end } = await openTransaction(t.database.pool, (client) =>
        client.query('DELETE FROM files WHERE id = $1', [file.id]),
      )
      const again = newUpload({ owner, text: 'x' })
      again.file = { ...file, ref: again.file.ref }
      const waiting = accept(again)
      await untilOneWaits()
      await end('COMMIT')
      expect(await waiting).toMatchObject({ isStored: true, ref: again.file.ref, upload: { duplicate: false } })
    })

    it('a file that is being uploaded again is not forgotten, and its neighbours are', async () => {
      const [wanted, other] = [await released(), await released()]
      const { end } = await written({
        ...newUpload(),
        owner: wanted.owner,
        file: { ...wanted.file, ref: 'artifacts/again' },
      })
      expect(await t.store.files.collect({ olderThanMs: -1, limit: 100 })).toEqual([other.file.ref])
      await end('COMMIT')
      expect(await t.store.files.collect({ olderThanMs: -1, limit: 100 })).toEqual([])
      expect(await t.store.files.find(wanted.file.id, wanted.owner)).toMatchObject({ ref: wanted.file.ref })
    })

    it('a release waits for an upload of the same owner, and sees the run it made', async () => {
      const changes = own()
      const { upload } = await accept(newUpload(changes))
      const { end } = await written(newUpload({ ...changes, model: ownModel() }))
      const releasing = t.store.files.release(upload.fileId, upload.owner)
      await untilOneWaits()
      await end('COMMIT')
      expect(await releasing).toBe('in-use')
    })

    it('an upload waits for a release of the same owner, and is the first again', async () => {
      const changes = own()
      const { upload } = await accept(newUpload(changes))
      const { end } = await openTransaction(t.database.pool, (client) =>
        client.query(
          `WITH u AS (DELETE FROM file_uploads WHERE file_id = $1) DELETE FROM owner_files WHERE file_id = $1`,
          [upload.fileId],
        ),
      )
      const waiting = accept(newUpload(changes))
      await untilOneWaits()
      await end('COMMIT')
      expect(await waiting).toMatchObject({ isStored: false, upload: { duplicate: false } })
    })
  })

  it('an upload that waits too long is refused as busy and leaves nothing', async () => {
    const upload = newUpload(own())
    const twin = { ...upload, id: randomUUID(), file: { ...upload.file, ref: 'artifacts/twin' } }
    const { end } = await written(upload)
    const pool = openPool({ url: t.database.url, name: 'impatient', max: 1, lockTimeoutMs: 20 })
    onTestFinished(() => pool.end())
    const answer = await createAccept({ pool, lanes, retryForMs: 0 })(twin)
    expect(answer).toMatchObject({ code: 'busy' })
    await end('COMMIT')
    expect(await count('file_uploads', upload.file.id)).toBe(1)
  })
})
