/**
 * Runs are found by what their results say and where: by facets, by places and by whether they are overdue, in pages that are complete and
 * without repeats whichever way a search takes. What fits is decided a second time here, in plain code.
 */

import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { postgresVersions } from '../../test/support/postgres-versions.ts'
import { openTestStore, settle, type TestStore } from '../../test/support/store.ts'
import type { Area } from '../run/area.ts'
import type { Facet, Place } from '../run/facets.ts'
import { EVERY_RUN, type Match, type RunFilter, type RunOrder } from './ports/search.ts'
import { SEARCH_LIMITS, searchRuns } from './search-runs.ts'

const is = (...values: string[]): Match => ({ is: values, not: [] })
const facet = (text: string): Facet => ({ name: text.split(':')[0]!, value: text.slice(text.indexOf(':') + 1) })
const place = (latitude: number, longitude: number): Place => ({ latitude, longitude, label: null, fileId: null })

const PARIS = place(48.8566, 2.3522)
const VERSAILLES = place(48.8049, 2.1204)
const FIJI = place(-17.7134, 178.065)
const SAMOA = place(-13.759, -172.1046)
const ALERT = place(82.5018, -62.3481)
const POLE = place(90, 0)

type Made = { id: string; facets: string[]; places: Place[]; owner: string }

describe.each(postgresVersions)('runs found by their results on Postgres %s', (server) => {
  let t: TestStore
  let runs: Made[]
  beforeAll(async () => {
    t = await openTestStore(server)
    runs = []
    const add = async (facets: string[], places: Place[], owner: string) => {
      const lease = await t.running({ owner })
      const found = facets.length > 0 || places.length > 0 ? { found: { facets: facets.map(facet), places } } : {}
      await settle(t, lease, 'succeed', found)
      runs.unshift({ id: lease.runId, facets, places, owner })
    }
    await add(['language:fr', 'term:a', 'term:b'], [PARIS, VERSAILLES], 'me')
    await add(['language:fr', 'kind:pdf', 'term:b'], [FIJI], 'you')
    await add(['language:de', 'kind:pdf'], [SAMOA], 'me')
    await add(['language:fr', 'language:de', 'term:a'], [ALERT, POLE], 'me')
    await add([], [], 'me')
    await add(['term:a:b', 'term:with, comma'], [PARIS, PARIS], 'you')
  })
  afterAll(() => t.close())

  async function found(asked: Partial<RunFilter>, walked: Walked = {}): Promise<string[]> {
    const { limit = 2, order = 'created_at_desc', limits = {} } = walked
    const ids: string[] = []
    for (let cursor: string | null = null; ; ) {
      const page: Awaited<ReturnType<typeof searchRuns>> = await searchRuns(
        t.database.pool,
        { ...EVERY_RUN, ...asked },
        { limit, cursor, order },
        { ...SEARCH_LIMITS, ...limits },
      )
      ids.push(...page.runs.map(({ id }) => id))
      if (page.nextCursor === null) return ids
      cursor = page.nextCursor
    }
  }
  const at = (...places: number[]) => places.map((no) => runs[runs.length - 1 - no]!.id).toReversed()

  it('by a facet, by several of one and by different ones', async () => {
    expect(await found({ facet: is('language:fr') })).toEqual(at(0, 1, 3))
    expect(await found({ facet: is('language:fr', 'language:de') })).toEqual(at(0, 1, 2, 3))
    expect(await found({ facet: is('language:fr', 'kind:pdf') })).toEqual(at(1))
    expect(await found({ facet: is('language:fr', 'language:de', 'term:b', 'term:c') })).toEqual(at(0, 1))
    expect(await found({ facet: is('term:a:b') })).toEqual(at(5))
    expect(await found({ facet: is('term:with, comma') })).toEqual(at(5))
    expect(await found({ facet: is('language:FR') })).toEqual([])
  })

  it('by none of some facets, which runs without facets have not', async () => {
    expect(await found({ facet: { is: null, not: ['language:fr', 'kind:pdf'] } })).toEqual(at(4, 5))
    expect(await found({ facet: { is: ['language:fr'], not: ['language:de'] } })).toEqual(at(0, 1))
    expect(await found({ facet: { is: ['language:fr'], not: ['language:fr'] } })).toEqual([])
  })

  it('never those of others', async () => {
    expect(await found({ facet: is('language:fr'), sees: 'you' })).toEqual(at(1))
    expect(await found({ areas: [{ circle: { ...PARIS, km: 5 } }], sees: 'you' })).toEqual(at(5))
  })

  it.each<[string, Area, number[]]>([
    ['near a point', { circle: { ...PARIS, km: 5 } }, [0, 5]],
    ['near a point between', { circle: { ...VERSAILLES, km: 10 } }, [0]],
    ['near a point beyond 180 degrees', { circle: { latitude: -15, longitude: -180, km: 1_000 } }, [1, 2]],
    ['near a pole, whatever the longitude', { circle: { latitude: 89, longitude: 117, km: 500 } }, [3]],
    ['anywhere', { circle: { latitude: 10, longitude: 20, km: 20_040 } }, [0, 1, 2, 3, 5]],
    ['in a box', { box: { south: 48.8, west: 2.1, north: 48.81, east: 2.2 } }, [0]],
    ['in a box across 180 degrees', { box: { south: -20, west: 175, north: 0, east: -170 } }, [1, 2]],
    ['nowhere', { box: { south: 0, west: 0, north: 1, east: 1 } }, []],
  ])('by a place %s', async (_, area, expected) => {
    expect(await found({ areas: [area] })).toEqual(at(...expected))
  })

  it('finds what fits and nothing else, on every way', async () => {
    await fc.assert(
      fc.asyncProperty(filters, walks, async (asked, walked) => {
        const fitting = runs.filter((run) => fits(run, { ...EVERY_RUN, ...asked })).map(({ id }) => id)
        expect(await found(asked, walked)).toEqual(walked.order === 'created_at_desc' ? fitting : fitting.toReversed())
      }),
      { numRuns: 80 },
    )
  })

  it('a run names its places in their order', async () => {
    expect(await t.store.search.places(at(3)[0]!)).toEqual([ALERT, POLE])
    expect(await t.store.search.places(at(4)[0]!)).toEqual([])
  })
})

type Walked = {
  limit?: number
  order?: RunOrder
  limits?: { lookedAt?: number; glance?: number; textMatches?: number }
}

const FACETS = ['language:fr', 'language:de', 'kind:pdf', 'term:a', 'term:b', 'term:none', 'absent:x']
const AREAS: Area[] = [
  { box: { south: 40, west: 0, north: 60, east: 10 } },
  { box: { south: -30, west: 170, north: 90, east: -60 } },
  { box: { south: -90, west: -180, north: 90, east: 180 } },
]

const facetMatch = fc.record({
  is: fc.option(fc.subarray(FACETS, { minLength: 1 }), { nil: null }),
  not: fc.oneof(fc.constant([]), fc.subarray(FACETS)),
})
const filters: fc.Arbitrary<Partial<RunFilter>> = fc.record(
  { facet: facetMatch, areas: fc.subarray(AREAS), sees: fc.constantFrom(null, 'me') },
  { requiredKeys: [] },
)
const walks = fc.record({
  limit: fc.constantFrom(1, 3, 50),
  order: fc.constantFrom<RunOrder>('created_at_desc', 'created_at_asc'),
  limits: fc.record({
    lookedAt: fc.constantFrom(1, 5_000),
    glance: fc.constantFrom(1, 1_000),
    textMatches: fc.constantFrom(1, 1_000),
  }),
})

function fits(run: Made, { facet: { is, not }, areas, sees }: RunFilter): boolean {
  const names = [...new Set((is ?? []).map((wanted) => facet(wanted).name))]
  const hasEach = names.every((name) =>
    is!.some((wanted) => facet(wanted).name === name && run.facets.includes(wanted)),
  )
  const hasNone = !not.some((unwanted) => run.facets.includes(unwanted))
  const liesInEach = areas.every((area) => run.places.some((one) => 'box' in area && liesIn(area.box, one)))
  return hasEach && hasNone && liesInEach && (sees === null || run.owner === sees)
}

type Edges = Extract<Area, { box: unknown }>['box']

function liesIn({ south, west, north, east }: Edges, { latitude, longitude }: Place): boolean {
  if (latitude < south || latitude > north) return false
  return west <= east ? longitude >= west && longitude <= east : longitude >= west || longitude <= east
}
