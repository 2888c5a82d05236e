/**
 * The body of an upload cut into segments, each of which is stored before the next is asked for. Nothing of it is collected
 * in memory: a segment is a stream that ends after so many bytes, after a while, or where the body ends.
 *
 * A body that breaks ends its segment too, so that what has arrived can be kept; why it broke is told afterwards.
 */

export type SegmentLimits = { bytes: number; ms: number }

/** A process that dies loses at most so much of what it was sent. */
export const SEGMENT_LIMITS: SegmentLimits = { bytes: 16 * 1024 * 1024, ms: 30_000 }

export type Segments = {
  /** Whether there is at least one more byte. */
  hasMore(): Promise<boolean>
  /** The next bytes, at most `bytesMax` of them. */
  next(bytesMax: number): AsyncGenerator<Uint8Array>
  /** What the body broke with, if it did. */
  broken(): unknown
}

export function segmentsOf(body: AsyncIterable<Uint8Array>, limits: SegmentLimits = SEGMENT_LIMITS): Segments {
  const pieces = body[Symbol.asyncIterator]()
  let inHand: Uint8Array | null = null
  let isOver = false
  let broken: unknown

  async function take(): Promise<Uint8Array | null> {
    while (inHand === null && !isOver) {
      try {
        const next = await pieces.next()
        if (next.done) isOver = true
        else if (next.value.length > 0) inHand = next.value
      } catch (error) {
        isOver = true
        broken = error
      }
    }
    const piece = inHand
    inHand = null
    return piece
  }

  return {
    async hasMore() {
      inHand = await take()
      return inHand !== null
    },
    async *next(bytesMax) {
      const untilMs = performance.now() + limits.ms
      let room = Math.min(bytesMax, limits.bytes)
      while (room > 0) {
        const piece = await take()
        if (piece === null) return
        if (piece.length > room) inHand = piece.subarray(room)
        const part = piece.subarray(0, room)
        room -= part.length
        yield part
        if (performance.now() > untilMs) return
      }
    },
    broken: () => broken,
  }
}
