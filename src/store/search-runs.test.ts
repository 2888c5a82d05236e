/**
 * Pages of runs: complete and without repeats, whatever is asked for, whichever way the search takes, and whatever happens
 * between two pages. What fits a filter is decided a second time here, in plain code.
 */

import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { newRun } from '../../test/support/new-run.ts'
import { postgresVersions } from '../../test/support/postgres-versions.ts'
import { openTestStore, settle, type TestStore } from '../../test/support/store.ts'
import type { Refusal } from '../run/errors.ts'
import { RUN_STATUSES } from '../run/status.ts'
import { EVERY_RUN, type Match, type RunFilter, type RunOrder } from './ports/search.ts'
import { SEARCH_LIMITS, type SearchLimits, searchRuns } from './search-runs.ts'
import type { Run } from './store.ts'

const is = <Value extends string>(...values: Value[]): Match<Value> => ({ is: values, not: [] })
const not = <Value extends string>(...values: Value[]): Match<Value> => ({ is: null, not: values })
const BATCHES = ['00000000-0000-4000-8000-000000000001', '00000000-0000-4000-8000-000000000002']

describe.each(postgresVersions)('searching runs on Postgres %s', (server) => {
  let t: TestStore
  beforeAll(async () => {
    t = await openTestStore(server)
  })
  afterEach(() => t.clear())
  afterAll(() => t.close())

  type Walked = { limit?: number; order?: RunOrder; limits?: SearchLimits; between?: () => Promise<unknown> }

  async function pages(asked: Partial<RunFilter> = {}, walked: Walked = {}): Promise<Run[][]> {
    const { limit = 7, order = 'created_at_desc', limits = SEARCH_LIMITS, between = async () => {} } = walked
    const found: Run[][] = []
    for (let cursor: string | null = null; ; ) {
      const filter = { ...EVERY_RUN, ...asked }
      const page: { runs: Run[]; nextCursor: string | null } = await searchRuns(
        t.database.pool,
        filter,
        { limit, cursor, order },
        limits,
      )
      found.push(page.runs)
      if (page.nextCursor === null) return found
      expect(page.nextCursor).not.toBe(cursor)
      cursor = page.nextCursor
      await between()
    }
  }
  const ids = (runs: { id: string }[]) => runs.map(({ id }) => id)
  const list = async (asked: Partial<RunFilter>, walked?: Walked) => ids((await pages(asked, walked)).flat())

  it('newest first, in full pages, the last one without a cursor', async () => {
    const runs: string[] = []
    for (let no = 0; no < 10; no += 1) runs.push((await t.add()).id)
    expect((await pages({}, { limit: 5 })).map(ids)).toEqual([
      runs.slice(5).toReversed(),
      runs.slice(0, 5).toReversed(),
    ])
    expect((await pages({}, { limit: 10 })).length).toBe(1)
    expect((await pages({}, { limit: 5, order: 'created_at_asc' })).map(ids)).toEqual([runs.slice(0, 5), runs.slice(5)])
  })

  it('an empty list is one empty page', async () => {
    expect(await pages()).toEqual([[]])
    await t.add()
    expect(await pages({ status: is() })).toEqual([[]])
    expect(await pages({ owner: is('nobody') })).toEqual([[]])
    expect(await pages({ model: { is: ['forecast'], not: ['forecast'] } })).toEqual([[]])
  })

  it('runs accepted in the same microsecond are told apart by id', async () => {
    const runs = Array.from({ length: 23 }, () => newRun())
    await t.store.submitMany(runs)
    const [row] = await t.database.query('SELECT count(DISTINCT created_at) AS moments FROM model_runs')
    expect(row).toEqual({ moments: 1 })
    const sorted = ids(runs).toSorted()
    for (const asked of [{}, { owner: is(runs[0]!.owner) }, { status: is('PENDING' as const) }]) {
      expect(await list(asked)).toEqual(sorted.toReversed())
      expect(await list(asked, { order: 'created_at_asc' })).toEqual(sorted)
    }
  })

  it('what may be seen cannot be widened', async () => {
    const mine = await t.add({ owner: 'me' })
    const yours = await t.add({ owner: 'you' })
    expect(await list({ sees: 'me' })).toEqual([mine.id])
    expect(await list({ sees: 'me', owner: is('you') })).toEqual([])
    expect(await list({ sees: 'me', owner: is('you', 'me') })).toEqual([mine.id])
    expect(await list({ sees: 'me', owner: not('me') })).toEqual([])
    expect(await list({ sees: 'me', text: yours.id })).toEqual([])
    expect(await list({ owner: not('me') })).toEqual([yours.id])
  })

  it('a text is the beginning of a title in any case, of an id or of an error class', async () => {
    const titled = await t.add({ title: 'Über 100% _Nightly' })
    const failed = await t.running()
    await settle(t, failed, 'fail', { error: { class: 'UpstreamGone', message: 'x', stack: null } })
    expect(await list({ text: 'über 100% _NIGHT' })).toEqual([titled.id])
    expect(await list({ text: 'über 1000' })).toEqual([])
    expect(await list({ text: 'Upstream' })).toEqual([failed.runId])
    expect(await list({ text: 'upstream' })).toEqual([])
    expect(await list({ text: titled.id.slice(0, 30).toUpperCase() })).toContain(titled.id)
    expect(await list({ text: titled.id })).toEqual([titled.id])
    expect(await list({ text: 'Nightly' })).toEqual([])
    expect(await list({ notText: 'über' })).toEqual([failed.runId])
    expect(await list({ text: '\u{10ffff}' })).toEqual([])
  })

  it('complete and without repeats while runs are added and change state between the pages', async () => {
    for (let no = 0; no < 40; no += 1) await t.add({ model: 'moving' })
    const before = await list({}, { limit: 100 })
    const models = [{ model: 'moving', version: '1', room: 3 }]
    const kinds = ['succeed', 'fail', 'release'] as const
    for (const asked of [{}, { model: is('moving', 'other') }, { queue: is('default') }]) {
      let added = 0
      const between = async () => {
        await t.add({ model: 'late' })
        added += 1
        const leases = await t.claim({ slots: 3, models })
        for (const [no, lease] of leases.slice(1).entries()) await settle(t, lease, kinds[(added + no) % 3]!)
      }
      const found = await list(asked, { limits: { ...SEARCH_LIMITS, lookedAt: 5 }, between })
      expect(added).toBeGreaterThan(4)
      expect(found.filter((id) => before.includes(id))).toEqual(before)
    }
  })

  it('goes on after a run that is gone', async () => {
    const runs: string[] = []
    for (let no = 0; no < 9; no += 1) runs.unshift((await t.add()).id)
    await t.database.query(
      `BEGIN; SET LOCAL holdfast.retention = 'on'; DELETE FROM run_events WHERE run_id = '${runs[3]}';
       DELETE FROM model_runs WHERE id = '${runs[3]}'; COMMIT`,
    )
    const left = runs.filter((id) => id !== runs[3])
    for (const lookedAt of [1, 2, 4, 100])
      expect(await list({ queue: is('default') }, { limits: { ...SEARCH_LIMITS, lookedAt } })).toEqual(left)
  })

  it('goes on looking when the first look did not fill the page', async () => {
    const version = (no: number) => (no % 600 === 0 ? '2' : '1')
    const runs = Array.from({ length: 1_500 }, (_, no) => newRun({ owner: 'me', modelVersion: version(no) }))
    await t.store.submitMany(runs)
    const rare = ids(runs.filter(({ modelVersion }) => modelVersion === '2')).toSorted()
    expect(await list({ owner: is('me'), modelVersion: is('2') })).toEqual(rare.toReversed())
    expect(await list({ modelVersion: not('1') }, { order: 'created_at_asc', limit: 2 })).toEqual(rare)
  })

  it('finds what fits and nothing else, on every way', async () => {
    const runs = await variety(t)
    const moments = runs.map(({ createdAt }) => createdAt.toISOString())
    await fc.assert(
      fc.asyncProperty(filters(moments), walks, async (asked, walked) => {
        const filter = { ...EVERY_RUN, ...asked }
        const fitting = ids(runs.filter((run) => fits(run, filter)))
        const expected = walked.order === 'created_at_desc' ? fitting : fitting.toReversed()
        expect(await list(asked, walked)).toEqual(expected)
      }),
      { numRuns: 150 },
    )
  })

  it('refuses a cursor that no page ended with, and one of another list', async () => {
    const page = { limit: 1, order: 'created_at_desc' as RunOrder }
    const refused = async (filter: RunFilter, request: { cursor: string; order: RunOrder; limit: number }) => {
      const answer = await t.store.search.page(filter, request).catch((error: unknown) => error)
      expect((answer as Refusal).code).toBe('invalid-query')
    }
    const text = fc.oneof(
      fc.string({ minLength: 1 }),
      fc.constantFrom('1.x', '.', `1.${BATCHES[0]}`, `1.${BATCHES[0]}.0`),
    )
    await fc.assert(
      fc.asyncProperty(text, fc.boolean(), (raw, encoded) =>
        refused(EVERY_RUN, { ...page, cursor: encoded ? Buffer.from(raw).toString('base64url') : raw }),
      ),
      { numRuns: 30 },
    )
    for (let no = 0; no < 3; no += 1) await t.add()
    const asked = { ...EVERY_RUN, status: is('PENDING' as const, 'RUNNING' as const) }
    const { nextCursor } = await t.store.search.page(asked, { ...page, cursor: null })
    const cursor = nextCursor!
    const sameFilter = { ...asked, status: is('RUNNING' as const, 'PENDING' as const) }
    expect((await t.store.search.page(sameFilter, { ...page, cursor, limit: 5 })).runs).toHaveLength(2)
    await refused(asked, { ...page, cursor, order: 'created_at_asc' })
    await refused({ ...asked, status: is('PENDING') }, { ...page, cursor })
    await refused({ ...asked, sees: 'me' }, { ...page, cursor })
  })
})

/** Runs in every state with and without everything that can be asked for, newest first. */
async function variety(t: TestStore): Promise<Run[]> {
  const pick = <Value>(values: Value[], no: number): Value => values[no % values.length]!
  for (let no = 0; no < 60; no += 1) {
    await t.store.submitMany([
      newRun({
        owner: pick(['me', 'you', 'them'], no),
        model: pick(['a', 'b'], Math.floor(no / 2)),
        modelVersion: pick(['1', '2', '1'], no),
        queue: pick(['default', 'default', 'gpu'], Math.floor(no / 3)),
        title: pick([null, 'Alpha one', 'alpha TWO', 'Beta', null], no),
        tags: pick([[], ['x'], ['x', 'y', 'x'], ['z']], no),
        batchId: pick([null, BATCHES[0]!, BATCHES[1]!, null, null], no),
      }),
    ])
  }
  const offered = ['a', 'b'].flatMap((model) => ['1', '2'].map((version) => ({ model, version, room: 40 })))
  const leases = await t.claim({
    slots: 40,
    models: offered,
    queues: ['default', 'gpu'].map((queue) => ({ queue, room: 40 })),
  })
  const classes = ['Timeout', 'Alpha', 'TypeError']
  for (const [no, lease] of leases.entries()) {
    const error = { class: pick(classes, no), message: 'x', stack: null }
    const kind = pick(['succeed', 'fail', 'retry', 'cancel', null] as const, no)
    if (kind) await settle(t, lease, kind, kind === 'fail' || kind === 'retry' ? { error } : {})
  }
  const found = await t.store.search.page(EVERY_RUN, { limit: 100, cursor: null, order: 'created_at_desc' })
  expect(found.runs).toHaveLength(60)
  return found.runs
}

function matches<Value extends string>(...values: Value[]): fc.Arbitrary<Match<Value>> {
  const some = fc.subarray(values, { minLength: 1 })
  return fc.record({ is: fc.option(some, { nil: null }), not: fc.oneof(fc.constant([]), some) })
}

function filters(moments: string[]): fc.Arbitrary<Partial<RunFilter>> {
  const moment = fc.option(fc.constantFrom(...moments), { nil: null })
  const text = fc.option(fc.constantFrom('al', 'ALPHA ', 'T', '0', 'zz', 'Beta'), { nil: null })
  return fc.record(
    {
      sees: fc.constantFrom(null, 'me'),
      status: matches(...RUN_STATUSES),
      model: matches('a', 'b', 'absent'),
      modelVersion: matches('1', '2'),
      owner: matches('me', 'you', 'them', 'nobody'),
      queue: matches('default', 'gpu'),
      tag: matches('x', 'y', 'z'),
      batchId: matches(...BATCHES),
      errorClass: matches('Timeout', 'Alpha', 'TypeError'),
      createdAfter: moment,
      createdBefore: moment,
      text,
      notText: text,
    },
    { requiredKeys: [] },
  )
}

const walks = fc.record({
  limit: fc.constantFrom(1, 7, 50),
  order: fc.constantFrom<RunOrder>('created_at_desc', 'created_at_asc'),
  limits: fc.record({
    lookedAt: fc.constantFrom(1, 5, 5_000),
    glance: fc.constantFrom(1, 20, 1_000),
    textMatches: fc.constantFrom(30, 2_000),
  }),
})

function fits(run: Run, filter: RunFilter): boolean {
  const fitsAny = (values: (string | null)[], { is, not }: Match) =>
    (is === null || values.some((value) => is.includes(value!))) && !values.some((value) => not.includes(value!))
  const begins = (text: string) =>
    run.title?.toLowerCase().startsWith(text.toLowerCase()) ||
    run.id.startsWith(text.toLowerCase()) ||
    run.lastError?.class.startsWith(text) === true
  return (
    (filter.sees === null || run.owner === filter.sees) &&
    fitsAny([run.status], filter.status) &&
    fitsAny([run.model], filter.model) &&
    fitsAny([run.modelVersion], filter.modelVersion) &&
    fitsAny([run.owner], filter.owner) &&
    fitsAny([run.queue], filter.queue) &&
    fitsAny(run.tags, filter.tag) &&
    fitsAny([run.batchId], filter.batchId) &&
    fitsAny([run.lastError?.class ?? null], filter.errorClass) &&
    (filter.createdAfter === null || run.createdAt >= new Date(filter.createdAfter)) &&
    (filter.createdBefore === null || run.createdAt < new Date(filter.createdBefore)) &&
    (filter.text === null || begins(filter.text)) &&
    (filter.notText === null || !begins(filter.notText))
  )
}
