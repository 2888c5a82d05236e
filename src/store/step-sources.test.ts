/** A run that goes on from another one: whose steps it has. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { postgresVersions } from '../../test/support/postgres-versions.ts'
import { openTestStore, ownModel, settle, type TestStore, WORKER } from '../../test/support/store.ts'
import { sha256 } from '../run/canonical.ts'
import type { Lease, NewRun } from './store.ts'

const LIMITS = { steps: 100, items: 1_000, bytes: 1_000_000 }

describe.each(postgresVersions)('steps of sources on Postgres %s', (server) => {
  let t: TestStore
  beforeAll(async () => {
    t = await openTestStore(server)
  })
  afterAll(() => t.close())

  async function keep(lease: Lease, name: string, text = '1'): Promise<void> {
    const output = { ref: 'inline', hash: sha256(text), bytes: text.length, text }
    await t.store.steps.commitHeld({ ...lease, workerId: WORKER }, { name, startedAt: null, tries: 1, output }, LIMITS)
  }

  /** A failed run with the steps a and b, and one that goes on from it. */
  async function retried(changes: Partial<NewRun> = {}) {
    const first = await t.running({ model: ownModel() })
    await keep(first, 'a', '"first"')
    await keep(first, 'b')
    await settle(t, first, 'fail')
    const second = await t.running({ model: first.model, stepsFrom: first.runId, ...changes })
    return { first, second }
  }

  const stepsOf = async (runId: string) => (await t.store.steps.list(runId)).map(({ name, runId: of }) => [name, of])

  it('come before its own, with the run they are from', async () => {
    const { first, second } = await retried()
    await keep(second, 'c')
    expect(await stepsOf(second.runId)).toEqual([
      ['a', first.runId],
      ['b', first.runId],
      ['c', second.runId],
    ])
    expect(await stepsOf(first.runId)).toHaveLength(2)
    expect(await t.store.steps.bytesOf([first.runId, second.runId])).toEqual(
      new Map([
        [first.runId, 8],
        [second.runId, 9],
      ]),
    )
  })

  it('its own output under the same name counts', async () => {
    const { first, second } = await retried()
    await keep(second, 'a', '"second"')
    expect(await stepsOf(second.runId)).toEqual([
      ['b', first.runId],
      ['a', second.runId],
    ])
    expect(await t.store.steps.bytesOf([second.runId])).toEqual(new Map([[second.runId, 9]]))
  })

  it('are followed through several retries', async () => {
    const { first, second } = await retried()
    await keep(second, 'c')
    await settle(t, second, 'fail')
    const third = await t.running({ model: first.model, stepsFrom: second.runId })
    expect(await stepsOf(third.runId)).toEqual([
      ['a', first.runId],
      ['b', first.runId],
      ['c', second.runId],
    ])
  })

  it.each([
    ['version', { modelVersion: '2' }],
    ['model', { model: 'another-model' }],
    ['owner', { owner: 'somebody-else' }],
  ])('of another %s are never taken', async (_, changes) => {
    const { second } = await retried(changes)
    expect(await stepsOf(second.runId)).toEqual([])
    expect(await t.store.steps.bytesOf([second.runId])).toEqual(new Map())
  })

  it('whether a run has any is told of many runs at once', async () => {
    const { first, second } = await retried()
    const none = await t.running()
    const asked = [first, second, none].map(({ runId }) => t.store.steps.hasAny(runId))
    expect(await Promise.all(asked)).toEqual([true, true, false])
  })

  it('the items of a map are counted, and listed by their place', async () => {
    const { second } = await retried()
    for (const no of [2, 0, 10, 1]) await keep(second, `pages[${no}]`)
    const { steps, items } = await t.store.steps.overview(second.runId, 100)
    expect(steps.map(({ name }) => name)).toEqual(['a', 'b'])
    expect(items).toMatchObject([{ map: 'pages', done: 4, tries: 1 }])
    const page = (cursor: string | null) =>
      t.store.steps.items(second.runId, 'pages', { cursor, limit: 3, textBytesMax: 9 })
    const first = await page(null)
    expect(first.steps.map(({ name }) => name)).toEqual(['pages[0]', 'pages[1]', 'pages[2]'])
    const last = await page(first.nextCursor)
    expect([last.steps.map(({ name }) => name), last.nextCursor]).toEqual([['pages[10]'], null])
    await expect(page('bm9uZQ')).rejects.toThrow('cursor')
  })
})
