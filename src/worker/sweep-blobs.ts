/**
 * Removes stored bytes that nothing refers to: of uploads that were given up, of files that nobody has any more, and of processes that
 * died between storing bytes and putting them on record. Only bytes older than a day go, by then whoever stored them is done. Once a day
 * all names are gone through, some at a time; several sweeps at once are harmless, and one that dies is gone on with by the next.
 */

import { type BlobStore, type ListedBlob, refOf } from '../blob/blob.ts'
import type { Blobs } from '../store/ports/blobs.ts'
import type { Files } from '../store/ports/files.ts'
import type { ResumableUploads } from '../store/ports/resumable-uploads.ts'
import type { Log } from '../telemetry/log.ts'

export const DAY_MS = 24 * 3600 * 1000
const NAMES_MAX = 2_000
const ROWS_MAX = 200

export type SweepDeps = {
  blob: Pick<BlobStore, 'list' | 'delete' | 'removeUnfinished'>
  store: {
    blobs: Blobs
    files: Pick<Files, 'collect'>
    resumableUploads: Pick<ResumableUploads, 'removeExpired'>
  }
}

export type SweepOptions = {
  olderThanMs?: number
  namesMax?: number
  /** Looks only for what nothing refers to, and removes nothing. */
  isDryRun?: boolean
  now?: () => number
}

export type SweptReason = 'expired-upload' | 'released-file' | 'unnamed' | 'unfinished'

/** `count` is one but for puts that never came to their end, which have no names. */
export type Swept = { reason: SweptReason; name: string | null; bytes: number | null; count: number }

/** One round over everything; each part of it answers what it removed. */
export async function* sweepBlobs({ blob, store }: SweepDeps, options: SweepOptions = {}): AsyncGenerator<Swept[]> {
  const { olderThanMs = DAY_MS, isDryRun = false } = options
  if (!isDryRun) {
    yield* forgotten(blob, 'expired-upload', () => store.resumableUploads.removeExpired(ROWS_MAX))
    yield* forgotten(blob, 'released-file', () => store.files.collect({ olderThanMs, limit: ROWS_MAX }))
  }
  for await (const old of inBatches(blob.list(), options)) {
    const refs = new Set(await store.blobs.unnamed(old.map(({ name }) => refOf(name))))
    const unnamed = old.filter(({ name }) => refs.has(refOf(name)))
    if (!isDryRun) for (const { name } of unnamed) await blob.delete(refOf(name))
    yield unnamed.map(({ name, bytes }) => ({ reason: 'unnamed', name, bytes, count: 1 }))
  }
  const unfinished = isDryRun ? 0 : await blob.removeUnfinished(olderThanMs)
  yield unfinished > 0 ? [{ reason: 'unfinished', name: null, bytes: null, count: unfinished }] : []
}

/** The rows go first and name their bytes. If the process dies between, no row names these any more. */
async function* forgotten(
  blob: Pick<BlobStore, 'delete'>,
  reason: SweptReason,
  forget: () => Promise<string[]>,
): AsyncGenerator<Swept[]> {
  for (;;) {
    const refs = await forget()
    if (refs.length === 0) return
    for (const ref of refs) await blob.delete(ref)
    yield refs.map((ref) => ({ reason, name: ref.slice(ref.indexOf('/') + 1), bytes: null, count: 1 }))
  }
}

/** Of so many names at a time those that are old enough. */
async function* inBatches(
  blobs: AsyncIterable<ListedBlob>,
  { olderThanMs = DAY_MS, namesMax = NAMES_MAX, now = Date.now }: SweepOptions,
): AsyncGenerator<ListedBlob[]> {
  let old: ListedBlob[] = []
  let looked = 0
  for await (const one of blobs) {
    looked += 1
    if (now() - one.modifiedAt.getTime() >= olderThanMs) old.push(one)
    if (looked < namesMax) continue
    yield old
    old = []
    looked = 0
  }
  yield old
}

export type BlobSweep = {
  /** Does the next part; answers whether it is not through yet. */
  next(): Promise<boolean>
  stop(): Promise<void>
}

/** A round each day, from the start on. A part that fails is told by its error, and the round begins again with the next part. */
export function createBlobSweep(
  deps: SweepDeps & { log: Log; nowMs?: () => number },
  options: SweepOptions = {},
): BlobSweep {
  const { log, nowMs = () => performance.now() } = deps
  let round: AsyncGenerator<Swept[]> | null = null
  let beginsAtMs = 0
  return {
    async next() {
      if (round === null && nowMs() < beginsAtMs) return false
      round ??= sweepBlobs(deps, options)
      try {
        const { done, value } = await round.next()
        for (const swept of value ?? []) log.info(swept, 'removed stored bytes that nothing refers to')
        if (!done) return true
      } catch (error) {
        round = null
        throw error
      }
      round = null
      beginsAtMs = nowMs() + DAY_MS
      return false
    },
    async stop() {
      await round?.return(undefined)
      round = null
    },
  }
}
