/** Keyset pages: complete and without repeats, whatever happens between two of them. */

import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { newRun } from '../../test/support/new-run.ts'
import { postgresVersions } from '../../test/support/postgres-versions.ts'
import { openTestStore, settle, type TestStore } from '../../test/support/store.ts'
import type { Refusal } from '../run/errors.ts'
import { RUN_STATUSES } from '../run/status.ts'
import type { Run, RunFilter } from './store.ts'

describe.each(postgresVersions)('listing runs on Postgres %s', (server) => {
  let t: TestStore
  beforeAll(async () => {
    t = await openTestStore(server)
  })
  afterEach(() => t.clear())
  afterAll(() => t.close())

  const everything: RunFilter = { statuses: [...RUN_STATUSES], owner: null }

  async function pages(filter = everything, limit = 7, between = async () => {}): Promise<Run[][]> {
    const found: Run[][] = []
    for (let cursor: string | null = null; ; ) {
      const { runs, nextCursor } = await t.store.listRuns(filter, { limit, cursor })
      found.push(runs)
      if (nextCursor === null) return found
      cursor = nextCursor
      await between()
    }
  }
  const ids = (runs: { id: string }[]) => runs.map(({ id }) => id)

  it('newest first, in full pages, the last one without a cursor', async () => {
    const runs: string[] = []
    for (let no = 0; no < 10; no += 1) runs.push((await t.add()).id)
    const found = await pages(everything, 5)
    expect(found.map(ids)).toEqual([runs.slice(5).toReversed(), runs.slice(0, 5).toReversed()])
    expect(await t.store.listRuns(everything, { limit: 10, cursor: null })).toMatchObject({ nextCursor: null })
  })

  it('an empty list is one empty page', async () => {
    expect(await pages()).toEqual([[]])
    expect(await pages({ statuses: [], owner: null })).toEqual([[]])
  })

  it('runs accepted in the same microsecond are told apart by id', async () => {
    const runs = Array.from({ length: 23 }, () => newRun())
    await t.store.submitMany(runs)
    const [row] = await t.database.query('SELECT count(DISTINCT created_at) AS moments FROM model_runs')
    expect(row).toEqual({ moments: 1 })
    expect(ids((await pages()).flat())).toEqual(ids(runs).toSorted().toReversed())
  })

  it('filters by status and owner', async () => {
    const lease = await t.running({ owner: 'me' })
    const done = await t.running({ owner: 'me' })
    await settle(t, done, 'succeed')
    const waiting = await t.add({ owner: 'you' })
    const list = async (filter: RunFilter) => ids((await pages(filter)).flat())
    expect(await list({ statuses: ['RUNNING'], owner: null })).toEqual([lease.runId])
    expect(await list({ statuses: ['SUCCEEDED', 'PENDING'], owner: null })).toEqual([waiting.id, done.runId])
    expect(await list({ statuses: [...RUN_STATUSES], owner: 'me' })).toEqual([done.runId, lease.runId])
    expect(await list({ statuses: ['FAILED'], owner: 'you' })).toEqual([])
  })

  it('complete and without repeats while runs are added and change state between the pages', async () => {
    for (let no = 0; no < 40; no += 1) await t.add({ model: 'moving' })
    const before = ids((await pages(everything, 100)).flat())
    const models = [{ model: 'moving', version: '1', room: 3 }]
    const kinds = ['succeed', 'fail', 'release'] as const
    let added = 0
    const found = await pages(everything, 7, async () => {
      await t.add()
      added += 1
      const leases = await t.claim({ slots: 3, models })
      for (const [no, lease] of leases.slice(1).entries()) await settle(t, lease, kinds[(added + no) % 3]!)
    })
    expect(added).toBeGreaterThan(4)
    expect(ids(found.flat())).toEqual(before)
  })

  it('refuses a cursor that no page ended with', async () => {
    const text = fc.oneof(
      fc.string({ minLength: 1 }),
      fc.constantFrom('1.x', `1.${'-'.repeat(36)}`, '.', `${'9'.repeat(17)}.00000000-0000-7000-8000-000000000000`),
    )
    await fc.assert(
      fc.asyncProperty(text, fc.boolean(), async (raw, encoded) => {
        const cursor = encoded ? Buffer.from(raw).toString('base64url') : raw
        const listed = t.store.listRuns(everything, { limit: 1, cursor }).catch((error: unknown) => error)
        expect(((await listed) as Refusal).code).toBe('invalid-query')
      }),
      { numRuns: 50 },
    )
    const odd = Buffer.from('9999999999999999.ffffffff-ffff-ffff-ffff-ffffffffffff').toString('base64url')
    expect((await t.store.listRuns(everything, { limit: 1, cursor: odd })).runs).toEqual([])
  })
})
