/**
 * Reads the logs of runs wherever they are: in rows, or, of attempts that ended a while ago and printed much, in a blob. Rows are
 * looked at first: what moves from rows to a blob meanwhile is then found there, and what is found twice counts once.
 */

import { BlobDamaged, BlobMissing, type BlobStore } from '../blob/blob.ts'
import type { AttemptLogs, PackedLog, StoredPiece } from '../store/ports/attempt-logs.ts'
import type { Log } from '../telemetry/log.ts'

export type LogReader = Pick<AttemptLogs, 'read' | 'readNew'>

export type LogReaderDeps = {
  logs: Pick<AttemptLogs, 'read' | 'readNew' | 'packs'>
  blob: Pick<BlobStore, 'open'>
  log: Log
}

const PAGE = 100

export function createLogReader({ logs, blob, log }: LogReaderDeps): LogReader {
  const read: LogReader['read'] = async (runId, options) => {
    const rows = await logs.read(runId, options)
    const packs = await logs.packs(runId, options)
    if (packs.length === 0) return rows
    const { after, limit } = options
    const pieces = new Map<number, StoredPiece>()
    for (const pack of packs) {
      // One more than asked for tells whether there is more.
      if (pieces.size > limit) break
      for (const piece of await piecesOf(pack, after, limit + 1)) pieces.set(piece.no, piece)
    }
    for (const piece of rows.pieces) pieces.set(piece.no, piece)
    const sorted = [...pieces.values()].sort((a, b) => a.no - b.no)
    const page = sorted.slice(0, limit)
    const isMore = sorted.length > limit || rows.next !== null
    return { pieces: page, next: isMore ? page.at(-1)!.no : null }
  }

  /** A log whose bytes are lost is shorter, and not a reason to show none of it. */
  async function piecesOf(pack: PackedLog, after: number, limit: number): Promise<StoredPiece[]> {
    const { ref, bytes, sha256, attempt } = pack
    const pieces: StoredPiece[] = []
    try {
      const { stream } = await blob.open(ref, { expect: { bytes, sha256 } })
      try {
        for await (const line of linesOf(stream)) {
          const { no, at, stream: printed, text } = JSON.parse(line)
          if (no > after) pieces.push({ no, attempt, at: new Date(at), stream: printed, text })
          if (pieces.length >= limit) break
        }
      } finally {
        stream.destroy()
      }
    } catch (error) {
      if (!(error instanceof BlobMissing || error instanceof BlobDamaged)) throw error
      log.warn({ err: error, ref }, 'the stored log of an attempt is gone or damaged')
    }
    return pieces
  }

  return {
    read,
    async readNew(places) {
      const found = await logs.readNew(places)
      for (const { runId, after } of places) {
        const [first] = found.get(runId) ?? []
        // Numbers have no gaps, so what is missing has moved.
        if (first && first.no > after + 1)
          found.set(runId, (await read(runId, { attempt: null, after, limit: PAGE })).pieces)
      }
      return found
    },
  }
}

/** Ends of lines are escaped within a piece, and nothing but a line feed ends one here. */
async function* linesOf(pieces: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let begun: Buffer[] = []
  for await (const piece of pieces) {
    let from = 0
    for (let to = piece.indexOf(10); to !== -1; to = piece.indexOf(10, from)) {
      yield Buffer.concat([...begun, piece.subarray(from, to)]).toString()
      begun = []
      from = to + 1
    }
    if (from < piece.length) begun.push(piece.subarray(from))
  }
}
