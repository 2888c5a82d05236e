/** How fast bytes go, over the last seconds, and how long the rest takes at that pace. */

const WINDOW_MS = 8_000
const SECONDS_MIN = 1

export type Sample = { atMs: number; bytes: number }

/** With a new sample of all bytes sent up to then, without those that are too old to count. */
export function withSample(samples: readonly Sample[], sample: Sample): Sample[] {
  const kept = samples.filter(({ atMs, bytes }) => atMs >= sample.atMs - WINDOW_MS && bytes <= sample.bytes)
  return [...kept, sample]
}

/** Null as long as too little is known. */
export function bytesPerSecond(samples: readonly Sample[]): number | null {
  const [first, last] = [samples[0], samples.at(-1)]
  if (!first || !last) return null
  const seconds = (last.atMs - first.atMs) / 1_000
  return seconds < SECONDS_MIN || last.bytes <= first.bytes ? null : (last.bytes - first.bytes) / seconds
}

export function secondsLeft(samples: readonly Sample[], left: number): number | null {
  const rate = bytesPerSecond(samples)
  return rate === null ? null : left / rate
}
