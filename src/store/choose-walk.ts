/**
 * Which way through the runs has the least on it. One statement looks a bounded number of entries into the index of each
 * wanted value: a way that ends within them is known in full, and of the others the one whose entries reach furthest in time
 * is the rarest here.
 */

import type pg from 'pg'
import { type Narrowed, Values } from './search-conditions.ts'
import { glanceText, isSorted, matchesOf, type Stretch, type WalkName, walksOf, wantedOf } from './search-walks.ts'

export type GlanceLimits = {
  /** Index entries looked at for each way. */
  glance: number
  /** Runs that begin with a text, or places in an area, are sorted, so all of them must be few. */
  textMatches: number
}

/** `is`: the value of an ordered walk. */
type Probe = { walk: WalkName; is: string | null; limit: number }
type Looked = { no: number; found: number; span_seconds: number }

/** Null when nothing fits. Without a positive filter the way is that of all statuses. */
export async function chooseWalk(
  pool: pg.Pool,
  filter: Narrowed,
  stretch: Stretch,
  limits: GlanceLimits,
): Promise<WalkName | null> {
  const walks = walksOf(filter)
  if (walks.length === 0) return 'status'
  if (walks.length === 1 && !isSorted(walks[0]!)) return walks[0]!
  const probes = walks.flatMap((walk) => probesOf(walk, filter, limits))
  const { rows } = await pool.query<Looked>(probeStatement(probes, filter, stretch))
  const lookedAt = new Map(rows.map((row) => [row.no, row]))
  const span = Math.max(...rows.map((row) => row.span_seconds), 1e-6)
  const ways = walks.map((walk) => {
    const own = probes.flatMap((probe, no) => (probe.walk === walk ? [{ ...probe, ...lookedAt.get(no)! }] : []))
    const isWhole = own.every(({ found, limit }) => found < limit)
    const found = own.reduce((sum, probe) => sum + probe.found, 0)
    const perSecond = own.reduce(
      (sum, probe) => sum + probe.found / (probe.found < probe.limit ? span : Math.max(probe.span_seconds, 1e-6)),
      0,
    )
    return { walk, isWhole, found, perSecond }
  })
  if (ways.some(({ found }) => found === 0)) return null
  const whole = ways.filter((way) => way.isWhole).toSorted((a, b) => a.found - b.found)[0]
  if (whole) return whole.walk
  const rarest = ways.filter(({ walk }) => !isSorted(walk)).toSorted((a, b) => a.perSecond - b.perSecond)[0]
  return rarest?.walk ?? 'status'
}

function probesOf(walk: WalkName, filter: Narrowed, limits: GlanceLimits): Probe[] {
  if (isSorted(walk)) return [{ walk, is: null, limit: limits.textMatches + 1 }]
  const wanted = wantedOf(walk, filter)
  const limit = Math.ceil(limits.glance / Math.min(wanted.length, 10))
  return wanted.map((is) => ({ walk, is, limit }))
}

function probeStatement(probes: Probe[], filter: Narrowed, stretch: Stretch): { text: string; values: unknown[] } {
  const values = new Values()
  const parts = probes.map(({ walk, is, limit }, no) => {
    const options = { columns: [], limit, stretch, values }
    const entries = isSorted(walk) ? matchesOf(walk, filter, options) : glanceText(walk, is!, options)
    return `SELECT ${no} AS no, count(*)::int AS found,
        COALESCE(extract(epoch FROM max(created_at) - min(created_at)), 0)::float8 AS span_seconds
      FROM (${entries}) entries`
  })
  return { text: parts.join(' UNION ALL '), values: values.list }
}
