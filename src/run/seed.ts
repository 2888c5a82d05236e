/**
 * Randomness that can be repeated: a run's seed comes from its payload hash, so equal inputs draw equal numbers.
 *
 * The generator is sfc32 (128 bits of state). Seed and stream fill its state without overlap, so two different pairs
 * never start from the same state. Not for secrets.
 */

/** The first 52 bits of the hash: a safe, non-negative integer. */
export function seedFromHash(payloadHash: string): number {
  if (!/^[0-9a-f]{13}/.test(payloadHash)) throw new RangeError(`not a payload hash: ${payloadHash}`)
  return Number.parseInt(payloadHash.slice(0, 13), 16)
}

/**
 * Numbers uniform in [0, 1) with 53 random bits; the stream is the attempt's number, so that a retry meets other luck.
 */
export function seededRandom(seed: number, stream: number): () => number {
  if (!Number.isSafeInteger(seed) || seed < 0)
    throw new RangeError(`a seed is a safe, non-negative integer, not ${seed}`)
  if (!Number.isSafeInteger(stream) || stream < 0)
    throw new RangeError(`a stream is a non-negative integer, not ${stream}`)
  const next = sfc32(seed | 0, Math.floor(seed / 2 ** 32), stream | 0)
  return () => ((next() >>> 5) * 2 ** 26 + (next() >>> 6)) / 2 ** 53
}

function sfc32(low: number, high: number, stream: number): () => number {
  let a = low
  let b = high
  let c = stream
  let counter = 1
  const next = () => {
    const sum = (((a + b) | 0) + counter) | 0
    counter = (counter + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = (((c << 21) | (c >>> 11)) + sum) | 0
    return sum >>> 0
  }
  // Seeds and streams are small, close numbers; these rounds spread each of their bits over the whole state.
  for (let round = 0; round < 20; round++) next()
  return next
}
