/** The ranges of the overview: how the address names them, and what is asked of the service. */

import type { StatsBucket, StatsQuery } from '@holdfast/client'

export type RangeName = '1h' | '24h' | '7d'

export type Range = { name: RangeName; label: string; words: string; bucket: StatsBucket; ms: number }

const HOUR_MS = 3_600_000

export const RANGES: Range[] = [
  { name: '1h', label: '1 h', words: 'last hour', bucket: 'minute', ms: HOUR_MS },
  { name: '24h', label: '24 h', words: 'last 24 hours', bucket: 'hour', ms: 24 * HOUR_MS },
  { name: '7d', label: '7 d', words: 'last 7 days', bucket: 'hour', ms: 7 * 24 * HOUR_MS },
]

/** The last hour when the address names none, or one that does not exist. */
export function rangeNamed(name: string | undefined): Range {
  return RANGES.find((range) => range.name === name) ?? RANGES[0]!
}

/** How far back buckets of a kind reach when no beginning is asked for. */
const USUAL_MS: Partial<Record<StatsBucket, number>> = { minute: HOUR_MS, hour: 24 * HOUR_MS }

/** The service's own clock says where the usual ranges begin; only the others depend on that of the browser. */
export function statsQuery({ bucket, ms }: Range, filter: StatsFilter, nowMs: number): StatsQuery {
  return { bucket, ...filter, ...(USUAL_MS[bucket] !== ms && { from: new Date(nowMs - ms).toISOString() }) }
}

export type StatsFilter = { model?: string | undefined; queue?: string | undefined }
