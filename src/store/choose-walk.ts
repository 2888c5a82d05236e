/**
 * Which way through the runs has the least on it. One statement looks a bounded number of entries into the index of each
 * wanted value: a way that ends within them is known in full, and of the others the one whose entries reach furthest in time
 * is the rarest here.
 */

import type pg from 'pg'
import { RUN_STATUSES } from '../run/status.ts'
import { type Narrowed, Values } from './search-conditions.ts'
import { glanceText, type Stretch, textMatches, type WalkName, walksOf } from './search-walks.ts'

export type GlanceLimits = {
  /** Index entries looked at for each way. */
  glance: number
  /** Runs that begin with a text are sorted, so all of them must be few. */
  textMatches: number
}

type Probe = { walk: WalkName; is: string; limit: number }
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
  if (walks.length === 1 && walks[0] !== 'text') return walks[0]!
  const probes = walks.flatMap((walk) => probesOf(walk, filter, limits))
  const { rows } = await pool.query<Looked>(probeStatement(probes, stretch))
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
  const rarest = ways.filter(({ walk }) => walk !== 'text').toSorted((a, b) => a.perSecond - b.perSecond)[0]
  return rarest?.walk ?? 'status'
}

function probesOf(walk: WalkName, filter: Narrowed, limits: GlanceLimits): Probe[] {
  if (walk === 'text') return [{ walk, is: filter.text!, limit: limits.textMatches + 1 }]
  const wanted = filter[walk].is ?? RUN_STATUSES
  const limit = Math.ceil(limits.glance / Math.min(wanted.length, 10))
  return wanted.map((is) => ({ walk, is, limit }))
}

function probeStatement(probes: Probe[], stretch: Stretch): { text: string; values: unknown[] } {
  const values = new Values()
  const parts = probes.map(({ walk, is, limit }, no) => {
    const options = { columns: [], limit, stretch, values }
    const entries = walk === 'text' ? textMatches(is, options) : glanceText(walk, is, options)
    return `SELECT ${no} AS no, count(*)::int AS found,
        COALESCE(extract(epoch FROM max(created_at) - min(created_at)), 0)::float8 AS span_seconds
      FROM (${entries}) entries`
  })
  return { text: parts.join(' UNION ALL '), values: values.list }
}
