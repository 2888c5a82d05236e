/** Medians, percentiles and spreads of a few measured numbers. None of them is defined for an empty list. */

export type Spread = { median: number; min: number; max: number }

export function spread(values: readonly number[]): Spread {
  return { median: median(values), min: Math.min(...values), max: Math.max(...values) }
}

export function median(values: readonly number[]): number {
  return percentile(values, 50)
}

/** Between two neighbours the percentile lies on the straight line from one to the other. */
export function percentile(values: readonly number[], percent: number): number {
  if (values.length === 0) throw new RangeError('no values')
  const sorted = values.toSorted((a, b) => a - b)
  const place = ((sorted.length - 1) * percent) / 100
  const below = sorted[Math.floor(place)]!
  const above = sorted[Math.ceil(place)]!
  return below + (above - below) * (place - Math.floor(place))
}

/** Quotients of what was measured in the same round, so that a slow moment of the machine weighs on both. */
export function ratios(values: readonly number[], against: readonly number[]): number[] {
  if (values.length !== against.length) throw new RangeError('the rounds do not match')
  return values.map((value, round) => value / against[round]!)
}
