/**
 * The end of a resumable upload: its parts become one file, which is accepted like every other upload, and the parts are
 * deleted.
 *
 * It may be begun by whoever notices that the last byte is there, be repeated after a crash anywhere in it, and be done
 * twice at once: each try stores the file under a name of its own, the upload is accepted once because it has the id of the
 * resumable one, and parts are deleted only after that. Callers in this process share one try.
 */

import { randomUUID } from 'node:crypto'
import { BlobMissing, type BlobStore } from '../blob/blob.ts'
import type { QuotaWarning } from '../run/quota.ts'
import type { ResumableUpload } from '../store/ports/resumable-uploads.ts'
import type { Store } from '../store/store.ts'
import type { Log } from '../telemetry/log.ts'
import type { AcceptUpload } from './accept-upload.ts'
import { joinParts } from './joined-parts.ts'
import { deleteQuietly } from './keep-upload.ts'
import { SNIFFED_BYTES, sniffType } from './sniff-type.ts'
import { wantedUpload } from './upload-metadata.ts'

export type FinishUploadDeps = {
  store: Pick<Store, 'resumableUploads'>
  blob: BlobStore
  log: Log
  acceptUpload: AcceptUpload
}

export type FinishUpload = {
  /**
   * Of an upload whose last byte has arrived. Resolves when it has become a file, by whomever, with the warnings that came with its run, where
   * this made it; rejects with a Refusal of what it asks for.
   */
  finish(upload: ResumableUpload, requestId: string): Promise<QuotaWarning[]>
  /** Waits for those under way. */
  settled(): Promise<void>
}

export function createFinishUpload({ store, blob, log, acceptUpload }: FinishUploadDeps): FinishUpload {
  const uploads = store.resumableUploads
  const underWay = new Map<string, Promise<QuotaWarning[]>>()

  async function makeFile(upload: ResumableUpload, requestId: string): Promise<QuotaWarning[]> {
    const { id, owner, bytes, metadata } = upload
    const { name, key, batchId, model } = wantedUpload(metadata)
    const parts = await uploads.parts(id)
    const sender = { owner, sees: owner, key: null, traceParent: null }
    // Told before the bytes are gone through once more.
    if (model) await acceptUpload.check(model, sender)
    const arrived = parts.reduce((sum, part) => sum + part.bytes, 0)
    if (arrived !== bytes) throw new PartsGone(id)
    const { bytes: joined, firstBytes } = joinParts(blob, parts, SNIFFED_BYTES)
    const stored = await blob.put(`${randomUUID()}.file`, joined)
    const type = await sniffType(firstBytes(), name)
    const accepted = await acceptUpload.accept({
      uploadId: id,
      ...{ owner, key, name, stored, type, batchId, model, sender, requestId },
    })
    await deleteQuietly(blob, await uploads.finish(id, accepted.upload.id), log)
    return accepted.run?.warnings ?? []
  }

  /** Another process may have finished it meanwhile, and taken the parts away. */
  async function makeFileOnce(upload: ResumableUpload, requestId: string): Promise<QuotaWarning[]> {
    try {
      return await makeFile(upload, requestId)
    } catch (error) {
      if (!(error instanceof PartsGone || error instanceof BlobMissing)) throw error
      const now = await uploads.find(upload.id, null)
      if (now !== null && now.uploadId === null) throw error
      return []
    }
  }

  return {
    finish(upload, requestId) {
      const { id } = upload
      const begun = underWay.get(id)
      if (begun) return begun
      const work = makeFileOnce(upload, requestId).finally(() => underWay.delete(id))
      underWay.set(id, work)
      return work
    },
    async settled() {
      await Promise.allSettled(underWay.values())
    },
  }
}

class PartsGone extends Error {
  constructor(id: string) {
    super(`parts of the upload ${id} are not on record`)
    this.name = 'PartsGone'
  }
}
