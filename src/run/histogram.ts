/**
 * Durations on a logarithmic scale: eight bins for each doubling, from a millisecond on. Histograms of several times or models are added
 * bin by bin, and a percentile is off by at most 5 %.
 */

/** By bin, how many values fell into it. */
export type Histogram = Record<string, number>

export const BINS_PER_DOUBLING = 8
/** About 45 days; what is longer counts as that. */
export const BIN_MAX = 8 * 32 - 1

export function binOf(seconds: number): number {
  const bin = Math.floor(BINS_PER_DOUBLING * Math.log2(Math.max(1, seconds * 1_000)))
  return Math.min(BIN_MAX, bin)
}

/** The middle of a bin, by ratio. */
export function secondsOf(bin: number): number {
  return 2 ** ((bin + 0.5) / BINS_PER_DOUBLING) / 1_000
}

export function addHistograms(histograms: readonly Histogram[]): Histogram {
  const sum: Histogram = {}
  for (const histogram of histograms) {
    for (const [bin, count] of Object.entries(histogram)) sum[bin] = (sum[bin] ?? 0) + count
  }
  return sum
}

/** The value below which the given part (0 to 1) of all values lies; null when there are none. */
export function percentile(histogram: Histogram, part: number): number | null {
  const bins = Object.entries(histogram)
    .map(([bin, count]) => ({ bin: Number(bin), count }))
    .sort((a, b) => a.bin - b.bin)
  const total = bins.reduce((sum, { count }) => sum + count, 0)
  if (total === 0) return null
  const wanted = Math.max(1, Math.ceil(part * total))
  let seen = 0
  for (const { bin, count } of bins) {
    seen += count
    if (seen >= wanted) return secondsOf(bin)
  }
  return secondsOf(bins.at(-1)!.bin)
}
