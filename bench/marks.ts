/** The marks Holdfast wants to reach, and whether it did. A ratio is of values measured in the same round. */

import type { Measured } from './bench.ts'
import { PLAIN } from './growth.ts'
import { FIRST, LAST } from './held-snapshot.ts'
import { median, ratios, type Spread, spread } from './statistics.ts'

export type Mark = { what: string; against: string; wanted: string; ratio: Spread; reached: boolean }

const OURS = 'holdfast'
/** The drain that those with fair share are measured against. */
export const UNFAIR = 'without fair share'
/** Hand-written SQL is what the rows cost, not a product to choose instead. */
const PEERS = ['graphile-worker', 'pg-boss']

export function marksOf(measured: Measured[]): Mark[] {
  return measured.flatMap(({ id, series }) => {
    if (id === 'submit') return [atLeast(4, 'submit, one per call', series, OURS, bestPeer(series))]
    if (id === 'bulk') return [atLeast(0.5, 'bulk submit', series, OURS, bestPeer(series))]
    if (id === 'drain') return [atLeast(0.8, 'drain', series, OURS, 'graphile-worker')]
    if (id === 'latency-p50') return [atMost(1.2, 'start latency p50', series, OURS, 'graphile-worker')]
    if (id === 'growth') {
      const states = Object.keys(series).filter((state) => state !== PLAIN)
      return states.map((state) => atLeast(0.9, `drain with ${state}`, series, state, PLAIN))
    }
    if (id === 'fair') {
      const fair = Object.keys(series).filter((name) => name !== UNFAIR)
      return fair.map((name) => atLeast(0.9, `drain, ${name}`, series, name, UNFAIR))
    }
    if (id === `snapshot-${OURS}`) return [atLeast(0.7, 'end beside a held snapshot', series, LAST, FIRST)]
    return []
  })
}

/** Hand-written SQL and the peers that have no mark, for the reader. */
export function otherRatiosOf(measured: Measured[]): { what: string; against: string; ratio: Spread }[] {
  return measured.flatMap(({ id, title, series }) => {
    if (series[OURS]) {
      const others = Object.keys(series).filter((name) => name !== OURS)
      return others.map((name) => ({ what: title, against: name, ratio: spread(ratios(series[OURS]!, series[name]!)) }))
    }
    if (!id.startsWith('snapshot-')) return []
    return [{ what: title, against: FIRST, ratio: spread(ratios(series[LAST]!, series[FIRST]!)) }]
  })
}

type Series = Measured['series']

function bestPeer(series: Series): string {
  return PEERS.reduce((best, peer) => (median(series[peer]!) > median(series[best]!) ? peer : best))
}

function atLeast(least: number, what: string, series: Series, name: string, against: string): Mark {
  const ratio = spread(ratios(series[name]!, series[against]!))
  return { what, against, wanted: `≥ ${least}`, ratio, reached: ratio.median >= least }
}

function atMost(most: number, what: string, series: Series, name: string, against: string): Mark {
  const ratio = spread(ratios(series[name]!, series[against]!))
  return { what, against, wanted: `≤ ${most}`, ratio, reached: ratio.median <= most }
}
