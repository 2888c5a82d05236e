/**
 * What charts draw, computed: one time per bucket, values with gaps, stacks, labels. Nothing here makes up a number: a bucket that was
 * not counted is null and stays a gap.
 */

export type Tone = 'good' | 'bad' | 'quiet' | 'first' | 'second' | 'third'

export type ChartSeries = {
  name: string
  tone: Tone
  /** One per bucket; null where there is none. */
  values: (number | null)[]
  /** Over the whole range, shown while nothing is pointed at. */
  whole: number | null
}

/** A chart, but for its words. */
export type ChartLook = {
  kind: 'bars' | 'lines'
  series: ChartSeries[]
  /** When each bucket begins. */
  starts: string[]
  widthSeconds: number
  format: (value: number) => string
  /** Of the axis, when decimal ones do not read well. */
  steps?: number[]
}

/** Every series on top of those before it. A gap adds nothing, and where all are gaps the stack is one. */
export function stackUp(series: (number | null)[][]): (number | null)[][] {
  const sums = (series[0] ?? []).map((): number | null => null)
  return series.map((values) =>
    values.map((value, index) => {
      if (value !== null) sums[index] = (sums[index] ?? 0) + value
      return sums[index] ?? null
    }),
  )
}

/** Values between two gaps: a line has no length there, so they need a point. */
export function lonePoints(values: readonly (number | null | undefined)[]): number[] {
  const isGap = (index: number) => (values[index] ?? null) === null
  return values.flatMap((_, index) => (!isGap(index) && isGap(index - 1) && isGap(index + 1) ? [index] : []))
}

/** Where the buckets are drawn: in their middle, in seconds. */
export function middles(starts: readonly string[], widthSeconds: number): number[] {
  return starts.map((start) => Date.parse(start) / 1_000 + widthSeconds / 2)
}

/** From zero to a little above the highest value. */
export function heightOf(highest: number | null): [number, number] {
  return [0, highest !== null && Number.isFinite(highest) && highest > 0 ? highest * 1.08 : 1]
}

/** At the time axis: the hour, and at midnight the day. */
export function tickLabel(seconds: number, timeZone?: string): string {
  const clock = clockLabel(seconds * 1_000, timeZone)
  if (clock !== '00:00') return clock
  const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', ...(timeZone && { timeZone }) })
  return day.format(new Date(seconds * 1_000))
}

/** When a bucket begins: `16 Nov, 14:05`. */
export function startLabel(start: string, timeZone?: string): string {
  const zone = timeZone ? { timeZone } : {}
  const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', ...zone })
  return `${day.format(new Date(start))}, ${clockLabel(Date.parse(start), timeZone)}`
}

/** Which bucket: `16 Nov, 14:05 – 14:06`. */
export function bucketLabel(start: string, widthSeconds: number, timeZone?: string): string {
  return `${startLabel(start, timeZone)} – ${clockLabel(Date.parse(start) + widthSeconds * 1_000, timeZone)}`
}

function clockLabel(ms: number, timeZone?: string): string {
  const zone = timeZone ? { timeZone } : {}
  return new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', ...zone }).format(new Date(ms))
}

/** Steps of an axis of durations, in seconds, where decimal ones would read `1 min 40 s`. */
export const DURATION_STEPS: number[] = [
  ...[0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30],
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * 60),
  ...[1, 2, 4, 6, 12].map((hours) => hours * 3_600),
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000].map((days) => days * 86_400),
]
