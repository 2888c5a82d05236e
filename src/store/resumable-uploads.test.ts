/** Resumable uploads at rest: bytes count once and in order, whoever sends them, and what is given up leaves nothing behind. */

import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { postgresVersions } from '../../test/support/postgres-versions.ts'
import { openTestStore, type TestStore } from '../../test/support/store.ts'
import type { ResumableUpload } from './ports/resumable-uploads.ts'

const TTL = 100

describe.each(postgresVersions)('resumable uploads on Postgres %s', (server) => {
  let t: TestStore
  beforeAll(async () => {
    t = await openTestStore(server)
  })
  afterAll(() => t.close())

  const uploads = () => t.store.resumableUploads
  async function begun(
    changes: { owner?: string; bytes?: number; ttlSeconds?: number } = {},
  ): Promise<ResumableUpload> {
    const metadata = { filename: 'a.txt', odd: 'ü,"\\' }
    const asked = { id: randomUUID(), owner: 'ana', bytes: 10, metadata, ttlSeconds: TTL, openMax: 10_000, ...changes }
    const upload = await uploads().create(asked)
    if (upload === 'too-many') throw new Error('there are too many')
    return upload
  }
  const part = (fromByte: number, bytes: number) => ({ fromByte, bytes, ref: `artifacts/${randomUUID()}` })
  const append = (id: string, fromByte: number, bytes: number) => uploads().append(id, part(fromByte, bytes), TTL)

  it('are found as they were begun, by their owner and by those who see all', async () => {
    const upload = await begun({ bytes: 2 ** 40 })
    expect(upload).toMatchObject({ bytes: 2 ** 40, received: 0, uploadId: null, metadata: { odd: 'ü,"\\' } })
    expect(upload.expiresAt.getTime() - upload.createdAt.getTime()).toBe(TTL * 1000)
    for (const owner of ['ana', null]) expect(await uploads().find(upload.id, owner)).toEqual(upload)
    expect(await uploads().find(upload.id, 'bob')).toBeNull()
  })

  it('grow part by part, only from where they are and never beyond their end', async () => {
    const { id } = await begun()
    expect(await append(id, 0, 4)).toEqual({ received: 4 })
    for (const [from, bytes] of [
      [0, 4],
      [3, 2],
      [5, 1],
      [4, 7],
    ] as const)
      expect(await append(id, from, bytes)).toBeNull()
    expect(await append(id, 4, 6)).toEqual({ received: 10 })
    expect((await uploads().parts(id)).map(({ fromByte, bytes }) => [fromByte, bytes])).toEqual([
      [0, 4],
      [4, 6],
    ])
    expect(await uploads().find(id, null)).toMatchObject({ received: 10 })
  })

  it('count the same bytes once, of however many that send them at once', async () => {
    const { id } = await begun()
    const answers = await Promise.all(Array.from({ length: 8 }, () => append(id, 0, 10)))
    expect(answers.filter((answer) => answer !== null)).toEqual([{ received: 10 }])
    expect(await uploads().parts(id)).toHaveLength(1)
  })

  it('live on with each part, and are gone when their time is over', async () => {
    const owner = randomUUID()
    const { id } = await begun({ owner })
    await t.database.shiftClock('90 s')
    expect(await append(id, 0, 1)).not.toBeNull()
    await t.database.shiftClock('180 s')
    expect(await uploads().find(id, null)).not.toBeNull()
    await t.database.shiftClock('200 s')
    expect(await uploads().find(id, null)).toBeNull()
    expect(await append(id, 1, 1)).toBeNull()
    const { ref } = (await uploads().parts(id))[0]!
    const refs = await uploads().removeExpired(1_000)
    await t.database.shiftClock('0')
    expect(refs).toContain(ref)
    expect(await uploads().removeExpired(1_000)).toEqual([])
    expect(await uploads().parts(id)).toEqual([])
  })

  it('are finished once all bytes are there, and then have no parts and take none', async () => {
    const { id } = await begun()
    await append(id, 0, 4)
    expect(await uploads().finish(id, id)).toEqual([])
    expect(await uploads().parts(id)).toHaveLength(1)
    await append(id, 4, 6)
    const refs = (await uploads().parts(id)).map(({ ref }) => ref)
    const answers = await Promise.all([uploads().finish(id, id), uploads().finish(id, randomUUID())])
    expect(answers.flat().toSorted()).toEqual(refs.toSorted())
    expect(await uploads().finish(id, id)).toEqual([])
    expect((await uploads().find(id, null))!.uploadId).not.toBeNull()
    expect(await append(id, 10, 1)).toBeNull()
    expect(await uploads().became(id)).toBeNull()
  })

  it('are removed by their owner, with their parts', async () => {
    const { id } = await begun()
    await append(id, 0, 4)
    expect(await uploads().remove(id, 'bob')).toBeNull()
    expect(await uploads().remove(id, 'ana')).toHaveLength(1)
    expect(await uploads().remove(id, 'ana')).toBeNull()
    expect(await append(id, 4, 1)).toBeNull()
  })

  it('of one owner are limited as long as they are open', async () => {
    const owner = randomUUID()
    const create = () =>
      uploads().create({ id: randomUUID(), owner, bytes: 0, metadata: {}, ttlSeconds: TTL, openMax: 2 })
    const first = (await create()) as ResumableUpload
    await create()
    expect(await create()).toBe('too-many')
    await uploads().finish(first.id, first.id)
    expect(await create()).not.toBe('too-many')
    await t.database.shiftClock('200 s')
    expect(await create()).not.toBe('too-many')
    await t.database.shiftClock('0')
  })

  it('that were left complete are told when nobody has been at them for a while', async () => {
    const { id } = await begun()
    const { id: incomplete } = await begun()
    const left = async () =>
      (await uploads().unfinished({ ttlSeconds: TTL, quietSeconds: 30, limit: 1_000 })).map((upload) => upload.id)
    await append(id, 0, 10)
    await append(incomplete, 0, 9)
    expect(await left()).not.toContain(id)
    await t.database.shiftClock('40 s')
    const found = await left()
    await uploads().finish(id, id)
    const after = await left()
    await t.database.shiftClock('0')
    expect(found).toContain(id)
    expect([found, after].flat()).not.toContain(incomplete)
    expect(after).not.toContain(id)
  })
})
