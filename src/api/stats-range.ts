/** Which buckets a question about statistics is about: whole ones, of a kind that is still kept, and not too many. */

import { STATS_BUCKETS_MAX, type StatsQuery } from '../contract/stats.ts'
import { Refusal } from '../run/errors.ts'
import type { Grain } from '../store/ports/stats.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

export const BUCKET_MS: Record<Grain, number> = { minute: MINUTE_MS, hour: HOUR_MS, day: DAY_MS }
const DEFAULT_MS: Record<Grain, number> = { minute: HOUR_MS, hour: DAY_MS, day: 30 * DAY_MS }
const KEPT: Record<Grain, { ms: number; words: string } | null> = {
  minute: { ms: 48 * HOUR_MS, words: '48 hours; ask for hours instead' },
  hour: { ms: 400 * DAY_MS, words: '400 days; ask for days instead' },
  day: null,
}
/** Beyond it a time has no ISO form. */
const YEAR_MS_MAX = Date.UTC(9999, 0)

export type StatsRange = { grain: Grain; from: Date; to: Date; starts: Date[] }

/** `from` is rounded down and `to` up to whole buckets. */
export function statsRange({ from, to, bucket: grain = 'minute' }: StatsQuery, now: Date): StatsRange {
  const widthMs = BUCKET_MS[grain]
  const toMs = to === undefined ? now.getTime() : Date.parse(to)
  const fromMs = from === undefined ? toMs - DEFAULT_MS[grain] : Date.parse(from)
  if (fromMs >= toMs) throw refused('from', 'must be before to')
  if (toMs > YEAR_MS_MAX) throw refused('to', 'is too far in the future')
  const first = Math.floor(fromMs / widthMs) * widthMs
  const end = Math.ceil(toMs / widthMs) * widthMs
  const count = (end - first) / widthMs
  if (count > STATS_BUCKETS_MAX) {
    throw refused('bucket', `makes ${count} buckets of this range; at most ${STATS_BUCKETS_MAX} are answered`)
  }
  const kept = KEPT[grain]
  // An hour of tolerance: a question that was right when it was asked must not fail for being a moment late.
  if (kept && first < now.getTime() - kept.ms - HOUR_MS) {
    throw refused('from', `is too long ago: buckets of a ${grain} are kept for ${kept.words}`)
  }
  const starts = Array.from({ length: count }, (_, index) => new Date(first + index * widthMs))
  return { grain, from: new Date(first), to: new Date(end), starts }
}

function refused(name: string, detail: string): Refusal {
  return new Refusal('invalid-query', `The query is not valid: ${name} ${detail}.`, {
    errors: [{ pointer: `/${name}`, detail }],
  })
}
