/** Files that attempts left: recorded under the lease, once, and read in pages whatever their names. */

import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { postgresVersions } from '../../test/support/postgres-versions.ts'
import { openTestStore, settle, type TestStore } from '../../test/support/store.ts'
import { Refusal } from '../run/errors.ts'
import type { NewArtifact } from './ports/artifacts.ts'
import type { Lease } from './store.ts'

const file = (name: string, bytes = 3): NewArtifact => ({ name, bytes, sha256: 'a'.repeat(64), ref: 'artifacts/x' })

describe.each(postgresVersions)('files of attempts on Postgres %s', (server) => {
  let t: TestStore
  beforeAll(async () => {
    t = await openTestStore(server)
  })
  afterEach(() => t.clear())
  afterAll(() => t.close())

  const list = (runId: string, more: object = {}) =>
    t.store.artifacts.list(runId, { attempt: null, limit: 100, cursor: null, ...more })
  const namesOf = async (runId: string, more: object = {}) =>
    (await list(runId, more)).items.map(({ attempt, name }) => `${attempt} ${name}`)

  async function secondAttempt(lease: Lease): Promise<Lease> {
    await settle(t, lease, 'retry', { delaySeconds: 0 })
    return (await t.claim({ models: [{ model: lease.model, version: '1', room: 1 }] }))[0]!
  }

  it('are found again under any name, as they were recorded', async () => {
    const lease = await t.running()
    const names = ['a/b.txt', '100%.csv', '{",\\"}', 'NULL', "it's", 'ünï/数', '..', ' ', 'x'.repeat(1_000), 'a\nb']
    expect(
      await t.store.artifacts.record(
        lease,
        names.map((name) => file(name)),
      ),
    ).toBe(true)
    for (const name of names) {
      expect(await t.store.artifacts.find(lease.runId, 1, name)).toEqual({
        ...file(name),
        attempt: 1,
        at: expect.any(Date),
      })
    }
    expect(await t.store.artifacts.find(lease.runId, 2, '..')).toBeNull()
    expect(await t.store.artifacts.find(lease.runId, 1, 'A/b.txt')).toBeNull()
  })

  it('keep a size beyond 32 bits', async () => {
    const lease = await t.running()
    await t.store.artifacts.record(lease, [file('large', 2 ** 40)])
    expect((await list(lease.runId)).items[0]!.bytes).toBe(2 ** 40)
  })

  it('are recorded once, however often they are sent', async () => {
    const lease = await t.running()
    expect(await t.store.artifacts.record(lease, [file('a')])).toBe(true)
    expect(await t.store.artifacts.record(lease, [file('a', 9), file('b')])).toBe(true)
    expect((await list(lease.runId)).items.map(({ name, bytes }) => [name, bytes])).toEqual([
      ['a', 3],
      ['b', 3],
    ])
  })

  it('of an attempt that ended or changed hands are not recorded', async () => {
    const lease = await t.running()
    expect(await t.store.artifacts.record({ ...lease, epoch: lease.epoch + 1 }, [file('a')])).toBe(false)
    const next = await secondAttempt(lease)
    expect(await t.store.artifacts.record(lease, [file('a')])).toBe(false)
    expect(await t.store.artifacts.record({ ...next, attempt: 1 }, [file('a')])).toBe(false)
    expect(await namesOf(lease.runId)).toEqual([])
  })

  it('are listed in pages by attempt and name, of one attempt or of all', async () => {
    const lease = await t.running()
    await t.store.artifacts.record(
      lease,
      ['b', 'ä', 'B', 'a/z'].map((name) => file(name)),
    )
    const next = await secondAttempt(lease)
    await t.store.artifacts.record(next, [file('a')])
    const all = ['1 B', '1 a/z', '1 b', '1 ä', '2 a']
    expect(await namesOf(lease.runId)).toEqual(all)
    const seen: string[] = []
    for (let cursor: string | null = null; ; ) {
      const page = await list(lease.runId, { limit: 2, cursor })
      seen.push(...page.items.map(({ attempt, name }) => `${attempt} ${name}`))
      cursor = page.nextCursor
      if (cursor === null) break
    }
    expect(seen).toEqual(all)
    expect(await namesOf(lease.runId, { attempt: 2 })).toEqual(['2 a'])
  })

  it.each(['x', Buffer.from('["a","b"]').toString('base64url')])('refuse the cursor %s', async (cursor) => {
    const lease = await t.running()
    await expect(list(lease.runId, { cursor })).rejects.toBeInstanceOf(Refusal)
  })
})
