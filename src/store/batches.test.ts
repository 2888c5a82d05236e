/** Batches: made once, found by their owner alone, and counted exactly from the runs and uploads they have. */

import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ExplainingPool, openExplainingPool, rowsRead } from '../../test/support/explain.ts'
import { newRun } from '../../test/support/new-run.ts'
import { postgresVersions } from '../../test/support/postgres-versions.ts'
import { openTestStore, settle, type TestStore } from '../../test/support/store.ts'
import { countBatch } from './count-batch.ts'
import { listBatches } from './list-batches.ts'
import type { BatchCounts } from './ports/batches.ts'

const NONE: BatchCounts = { total: 0, waiting: 0, running: 0, done: 0, failed: 0, cancelled: 0, duplicate: 0 }

describe.each(postgresVersions)('batches on Postgres %s', (server) => {
  let t: TestStore
  beforeAll(async () => {
    t = await openTestStore(server)
  })
  afterAll(() => t.close())

  const ensure = (changes: { id?: string; owner?: string; title?: string | null } = {}) =>
    t.store.batches.ensure({ id: randomUUID(), owner: 'ana', title: null, ...changes })
  const counts = (id: string, owner = 'default') => t.store.batches.count(id, owner)

  async function upload(batchId: string, changes: { duplicate?: boolean; runId?: string; owner?: string } = {}) {
    const fileId = randomUUID().replaceAll('-', '').repeat(2)
    await t.database.query(
      `INSERT INTO files (id, bytes, type, ref, created_at) VALUES ($1, 1, 'text/plain', 'artifacts/' || $1, clock())`,
      [fileId],
    )
    await t.database.query(
      `INSERT INTO file_uploads (id, owner, file_id, name, batch_id, run_id, duplicate, created_at)
       VALUES ($1, $2, $3, 'a.txt', $4, $5, $6, clock())`,
      [randomUUID(), changes.owner ?? 'default', fileId, batchId, changes.runId ?? null, changes.duplicate ?? false],
    )
  }

  it('are made once; the first title stays', async () => {
    const id = randomUUID()
    expect(await ensure({ id })).toEqual({ id, owner: 'ana', title: null, createdAt: expect.any(Date) })
    expect(await ensure({ id, title: 'scans' })).toMatchObject({ title: 'scans' })
    expect(await ensure({ id, title: 'other' })).toMatchObject({ title: 'scans' })
    expect(await ensure({ id })).toMatchObject({ title: 'scans' })
  })

  it('are made once by many at the same time', async () => {
    const id = randomUUID()
    const made = await Promise.all(Array.from({ length: 10 }, () => ensure({ id })))
    expect(new Set(made.map((batch) => (batch as { createdAt: Date }).createdAt.getTime())).size).toBe(1)
  })

  it('of another owner are taken, and not found', async () => {
    const id = randomUUID()
    await ensure({ id })
    expect(await ensure({ id, owner: 'bob' })).toBe('taken')
    expect(await ensure({ id, owner: 'bob', title: 'mine' })).toBe('taken')
    expect(await t.store.batches.find(id, 'bob')).toBeNull()
    expect(await t.store.batches.find(id, 'ana')).toMatchObject({ id, owner: 'ana', title: null })
    expect(await t.store.batches.find(id, null)).toMatchObject({ owner: 'ana' })
  })

  it('that only runs name are found by the owner of the runs', async () => {
    const batchId = randomUUID()
    const { createdAt } = await t.add({ batchId })
    await t.add({ batchId })
    expect(await t.store.batches.find(batchId, 'default')).toEqual({
      id: batchId,
      owner: 'default',
      title: null,
      createdAt,
    })
    expect(await t.store.batches.find(batchId, null)).toMatchObject({ owner: 'default' })
    expect(await t.store.batches.find(batchId, 'ana')).toBeNull()
    expect(await counts(batchId, 'ana')).toEqual(NONE)
  })

  it('are listed newest first in pages, those of one owner or all', async () => {
    const owner = randomUUID()
    const ids: string[] = []
    for (let no = 0; no < 5; no += 1) ids.unshift(((await ensure({ owner })) as { id: string }).id)
    const seen: string[] = []
    let cursor: string | null = null
    do {
      const page = await t.store.batches.list({ owner, limit: 2, cursor })
      seen.push(...page.batches.map(({ id }) => id))
      cursor = page.nextCursor
    } while (cursor !== null)
    expect(seen).toEqual(ids)
    expect((await t.store.batches.list({ owner: null, limit: 1, cursor: null })).batches[0]!.id).toBe(ids[0])
    const foreign = Buffer.from('["2026-02-31T00:00:00.000000Z","x"]').toString('base64url')
    await expect(t.store.batches.list({ owner, limit: 2, cursor: foreign })).rejects.toMatchObject({
      code: 'invalid-query',
    })
  })

  describe('count', () => {
    it('each run of the batch where it stands', async () => {
      const batchId = randomUUID()
      await t.add({ batchId })
      await t.add()
      await t.store.cancel((await t.add({ batchId })).id)
      await t.running({ batchId })
      await settle(t, await t.running({ batchId }), 'succeed')
      await settle(t, await t.running({ batchId }), 'fail')
      await settle(t, await t.running({ batchId }), 'retry', { delaySeconds: 60 })
      expect(await counts(batchId)).toEqual({
        ...NONE,
        total: 6,
        waiting: 2,
        running: 1,
        done: 1,
        failed: 1,
        cancelled: 1,
      })
    })

    it('duplicates, and uploads without a run as done; an upload with a run is its run', async () => {
      const batchId = randomUUID()
      const { id: runId } = await t.add({ batchId })
      await upload(batchId, { runId })
      await upload(batchId, { runId, duplicate: true })
      await upload(batchId, { duplicate: true })
      await upload(batchId)
      await upload(batchId, { owner: 'ana' })
      expect(await counts(batchId)).toEqual({ ...NONE, total: 4, waiting: 1, done: 1, duplicate: 2 })
    })

    it('a run that was retried as its newest retry, from wherever in the line that was made', async () => {
      const batchId = randomUUID()
      const failed = async (retryOf: string | null) => {
        const lease = await t.running({ batchId, retryOf })
        await settle(t, lease, 'fail')
        return lease.runId
      }
      const first = await failed(null)
      await failed(null)
      const second = await failed(first)
      await failed(second)
      await failed(first)
      expect(await counts(batchId)).toEqual({ ...NONE, total: 2, failed: 2 })
      await t.add({ batchId, retryOf: second })
      expect(await counts(batchId)).toEqual({ ...NONE, total: 2, waiting: 1, failed: 1 })
    })

    it('a retry of a run of another batch as a run of its own', async () => {
      const batchId = randomUUID()
      const lease = await t.running({ batchId: randomUUID() })
      await settle(t, lease, 'fail')
      await t.add({ batchId, retryOf: lease.runId })
      expect(await counts(batchId)).toEqual({ ...NONE, total: 1, waiting: 1 })
    })
  })

  describe.each(['not analysed', 'analysed'])('with a long history, %s', (analysed) => {
    let pool: ExplainingPool
    const batchId = randomUUID()
    beforeAll(async () => {
      await t.store.submitMany(Array.from({ length: 500 }, () => newRun()))
      await t.store.submitMany(Array.from({ length: 500 }, () => newRun({ batchId: randomUUID() })))
      await t.store.submitMany(Array.from({ length: 10 }, () => newRun({ batchId })))
      if (analysed === 'analysed') await t.database.query('ANALYZE')
      pool = await openExplainingPool({ url: t.database.url, name: 'explaining' })
    })
    afterAll(() => pool.close())

    it('a count reads the runs of the batch only', async () => {
      expect((await countBatch(pool, batchId, 'default')).waiting).toBe(10)
      for (const explained of pool.take()) {
        expect(rowsRead(explained, 'model_runs'), explained.mode).toBe(10)
        expect(rowsRead(explained, 'run_search'), explained.mode).toBe(10)
      }
    })

    it('a list reads its page only', async () => {
      await listBatches(pool, { owner: 'ana', limit: 2, cursor: null })
      for (const explained of pool.take()) expect(rowsRead(explained, 'batches'), explained.mode).toBeLessThan(50)
    })
  })
})
