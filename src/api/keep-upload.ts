/**
 * Takes bytes of a resumable upload in: each segment is durable in the blob store before it counts, and counts only where
 * the last one ended. So a process that dies, or a connection that breaks, loses at most a segment, and of two requests that
 * send the same bytes one wins; the other is told where the upload is by asking again.
 */

import { randomBytes } from 'node:crypto'
import { type BlobStore, nameOf } from '../blob/blob.ts'
import { Refusal } from '../run/errors.ts'
import type { ResumableUpload } from '../store/ports/resumable-uploads.ts'
import type { Store } from '../store/store.ts'
import type { Log } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { type SegmentLimits, segmentsOf } from './upload-segments.ts'

export type KeepUploadDeps = {
  store: Pick<Store, 'resumableUploads'>
  blob: BlobStore
  log: Log
  metrics: Pick<Metrics, 'uploadBytes'>
  ttlSeconds: number
  segments?: SegmentLimits
}

/** Answers how much has arrived. Rejects with what the body broke with, after what came of it has been kept. */
export type KeepUpload = (
  upload: ResumableUpload,
  body: AsyncIterable<Uint8Array>,
  /** Asked before each segment; throws to end it. */
  check: () => Promise<void>,
) => Promise<number>

export function createKeepUpload({ store, blob, log, metrics, ttlSeconds, segments }: KeepUploadDeps): KeepUpload {
  return async ({ id, bytes, received }, body, check) => {
    const source = segmentsOf(body, segments)
    let offset = received
    while (await source.hasMore()) {
      await check()
      if (offset === bytes) throw tooLong(bytes)
      const name = `${id}.part-${offset}-${randomBytes(6).toString('hex')}`
      const stored = await blob.put(name, source.next(bytes - offset))
      metrics.uploadBytes.inc(stored.bytes)
      const part = { fromByte: offset, bytes: stored.bytes, ref: stored.ref }
      // Whether a statement without an answer has counted the part is not known: its bytes stay, and are swept if it has not.
      const isTooLong = offset + stored.bytes === bytes && (await source.hasMore())
      const counted = isTooLong ? null : await store.resumableUploads.append(id, part, ttlSeconds)
      if (!counted) {
        await deleteQuietly(blob, [stored.ref], log)
        throw isTooLong ? tooLong(bytes) : goesOnElsewhere(offset)
      }
      offset = counted.received
    }
    const broken = source.broken()
    if (broken !== undefined && offset < bytes) throw broken
    return offset
  }
}

export function goesOnElsewhere(offset: number): Refusal {
  return new Refusal('upload-offset', `The upload does not go on at byte ${offset}: another request has sent to it.`)
}

function tooLong(bytes: number): Refusal {
  return new Refusal('body-too-large', `The body goes on after the ${bytes} bytes that Upload-Length announced.`)
}

/** What cannot be deleted now is found by the sweep. */
export async function deleteQuietly(blob: BlobStore, refs: readonly string[], log: Log): Promise<void> {
  for (const ref of refs) {
    await blob.delete(ref).catch((error: unknown) => {
      log.warn({ blob: nameOf(ref), err: error }, 'bytes that are not needed could not be deleted')
    })
  }
}
