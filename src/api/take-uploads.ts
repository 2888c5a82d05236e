/**
 * Resumable uploads of this process: begun, taken in, finished and given up. All that is known of one is in the database and
 * the blob store, so any process can go on where another stopped. None is said to be complete before it has become a file: a
 * client takes that for the end.
 */

import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Refusal } from '../run/errors.ts'
import type { QuotaWarning } from '../run/quota.ts'
import type { ResumableUpload } from '../store/ports/resumable-uploads.ts'
import type { AcceptUpload } from './accept-upload.ts'
import type { ApiDeps } from './api.ts'
import { createFinishUpload } from './finish-upload.ts'
import { createKeepUpload, deleteQuietly } from './keep-upload.ts'
import { createOpenUploads } from './open-uploads.ts'
import { principalOf } from './principal.ts'
import { FILE_BYTES_MAX, tooLarge } from './receive-file.ts'
import { isRunId } from './run-id.ts'
import { senderOf } from './sender.ts'
import { piecesOf } from './upload-body.ts'
import { wantedUpload } from './upload-metadata.ts'
import type { SegmentLimits } from './upload-segments.ts'
import { createUploadUpkeep } from './upload-upkeep.ts'

const KEEP_SECONDS = 86_400
const OPEN_MAX = 1_000

export type TakeUploadsDeps = ApiDeps & {
  acceptUpload: AcceptUpload
  nextId: () => string
  stillAllowed: (request: FastifyRequest) => Promise<boolean>
  segments?: SegmentLimits
}

export type TakeUploads = {
  readonly bytesMax: number
  /** The one that the path names; throws when the caller has no such upload. */
  visible(request: FastifyRequest): Promise<ResumableUpload>
  /** The same. One that is complete is finished first. */
  settled(request: FastifyRequest): Promise<ResumableUpload>
  /** Refuses what would be refused at its end. */
  begin(request: FastifyRequest, asked: { bytes: number; metadata: Record<string, string> }): Promise<ResumableUpload>
  /** The bytes of the request, from where the upload is. The last ones finish it: then with the warnings of its run. */
  take(request: FastifyRequest, upload: ResumableUpload): Promise<QuotaWarning[]>
  /** Of an upload without bytes. */
  finish(request: FastifyRequest, upload: ResumableUpload): Promise<QuotaWarning[]>
  remove(request: FastifyRequest): Promise<void>
}

export function createTakeUploads(app: FastifyInstance, deps: TakeUploadsDeps): TakeUploads {
  const { store, blob, log, config, acceptUpload, nextId, stillAllowed } = deps
  const { uploadKeepSeconds: ttlSeconds = KEEP_SECONDS, uploadsOpenMax: openMax = OPEN_MAX } = config.http
  const { fileBytesMax: bytesMax = FILE_BYTES_MAX, uploadIdleMs } = config.http
  const uploads = store.resumableUploads
  const keepUpload = createKeepUpload({ ...deps, ttlSeconds })
  const finishUpload = createFinishUpload(deps)
  const upkeep = createUploadUpkeep({ ...deps, finishUpload, ttlSeconds })
  const open = createOpenUploads()
  app.addHook('onListen', async () => upkeep.start())
  app.addHook('preClose', async () => {
    await open.close()
    await upkeep.stop()
    await finishUpload.settled()
  })

  async function visible(request: FastifyRequest): Promise<ResumableUpload> {
    const { id } = request.params as { id: string }
    const found = isRunId(id) ? await uploads.find(id.toLowerCase(), principalOf(request).sees) : null
    if (!found) throw notFound(id)
    return found
  }

  const finish = (request: FastifyRequest, upload: ResumableUpload) => finishUpload.finish(upload, request.id)

  return {
    bytesMax,
    visible,
    finish,
    async settled(request) {
      const upload = await visible(request)
      if (upload.received < upload.bytes || upload.uploadId !== null) return upload
      await finish(request, upload)
      return visible(request)
    },
    async begin(request, { bytes, metadata }) {
      if (bytes > bytesMax) throw tooLarge(bytesMax)
      const { owner } = principalOf(request)
      const { model, batchId, title } = wantedUpload(metadata)
      if (model) await acceptUpload.check(model, senderOf(request, null))
      if (batchId !== null && (await store.batches.ensure({ id: batchId, owner, title })) === 'taken') {
        throw new Refusal('batch-not-found', `There is no batch ${JSON.stringify(batchId)}.`)
      }
      const begun = await uploads.create({ id: nextId(), owner, bytes, metadata, ttlSeconds, openMax })
      if (begun === 'too-many') throw tooMany(openMax)
      return begun
    },
    async take(request, upload) {
      const check = async () => {
        if (!(await stillAllowed(request))) throw new Refusal('unauthorized', 'The access token has ended.')
      }
      const body = piecesOf(request.raw, uploadIdleMs)
      const received = await open.during(request.raw, () => keepUpload(upload, body, check))
      return received === upload.bytes ? finish(request, { ...upload, received }) : []
    },
    async remove(request) {
      const { id } = await visible(request)
      const refs = await uploads.remove(id, principalOf(request).sees)
      if (refs === null) throw notFound(id)
      await deleteQuietly(blob, refs, log)
    },
  }
}

function notFound(id: string): Refusal {
  return new Refusal('upload-not-found', `There is no resumable upload ${JSON.stringify(id)}.`)
}

function tooMany(most: number): Refusal {
  return new Refusal('upload-limit', `There are ${most} unfinished uploads of this owner; that is the limit.`)
}
