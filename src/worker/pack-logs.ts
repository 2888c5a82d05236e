/**
 * Moves large logs of attempts that have ended into the blob store, where they cost the database nothing. The bytes are durable before
 * the one statement that puts them in the place of the rows; what a crash between leaves is swept. Attempts that printed much and go on are
 * remembered until they end.
 */

import { randomUUID } from 'node:crypto'
import type { BlobStore } from '../blob/blob.ts'
import type { AttemptLogs, AttemptPlace, StoredPiece } from '../store/ports/attempt-logs.ts'

/** As results: what is smaller stays in the database. */
const LARGE_BYTES = 64 * 1024
const PIECES_MAX = 5_000
const PACKS_PER_LOOK = 20

export type PackLogsDeps = {
  blob: Pick<BlobStore, 'put' | 'delete'>
  logs: Pick<AttemptLogs, 'findLarge' | 'readWhole' | 'pack' | 'forgetPacksOlderThan'>
  /** How long logs are kept; for ever when null. */
  keepMs: number | null
}

export type PackLogs = { next(): Promise<boolean> }

export function createPackLogs({ blob, logs, keepMs }: PackLogsDeps): PackLogs {
  let from: string | null = null
  let open: AttemptPlace[] = []

  async function pack(place: AttemptPlace): Promise<void> {
    const pieces = await logs.readWhole(place)
    const [first, last] = [pieces[0], pieces.at(-1)]
    if (!first || !last) return
    const { runId, attempt } = place
    // A name of its own: the sweep may be removing what an earlier try left.
    const name = `${runId}.a${attempt}.log-${randomUUID().slice(0, 8)}`
    const stored = await blob.put(name, lines(pieces))
    const facts = { firstNo: first.no, lastNo: last.no, lastAt: last.at, pieces: pieces.length }
    if (!(await logs.pack({ runId, attempt, ...facts, ...stored }))) await blob.delete(stored.ref)
  }

  async function forgetOld(): Promise<void> {
    if (keepMs === null) return
    for (const ref of await logs.forgetPacksOlderThan(keepMs, PACKS_PER_LOOK)) await blob.delete(ref)
  }

  return {
    /** Answers whether there is more to look at now. */
    async next() {
      await forgetOld()
      const found = await logs.findLarge({ from, open, bytes: LARGE_BYTES, limit: PIECES_MAX })
      for (const place of found.ended.slice(0, PACKS_PER_LOOK)) await pack(place)
      // Those that are left wait with the open ones: they have ended, and the next look finds them so.
      open = [...found.open, ...found.ended.slice(PACKS_PER_LOOK)]
      from = found.upto
      return found.isMore || found.ended.length > PACKS_PER_LOOK
    },
  }
}

async function* lines(pieces: StoredPiece[]): AsyncGenerator<Buffer> {
  for (const { no, at, stream, text } of pieces) yield Buffer.from(`${JSON.stringify({ no, at, stream, text })}\n`)
}
