/** Resumable uploads by tus 1.0.0 (see docs/guides/resumable-uploads.md): the protocol, and one of them as JSON. */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ResumableUploadObject } from '../../contract/resumable-upload.ts'
import { Refusal } from '../../run/errors.ts'
import type { QuotaWarning } from '../../run/quota.ts'
import type { ListedUpload } from '../../store/ports/files.ts'
import type { ResumableUpload } from '../../store/ports/resumable-uploads.ts'
import type { Store } from '../../store/store.ts'
import { goesOnElsewhere } from '../keep-upload.ts'
import { presentWarnings } from '../present-quota.ts'
import { presentUpload } from '../present-upload.ts'
import { sendJson } from '../send-json.ts'
import { createTakeUploads, type TakeUploads, type TakeUploadsDeps } from '../take-uploads.ts'
import {
  COST_WARNING_HEADER,
  checkTusBodyType,
  checkTusVersion,
  contentLengthOf,
  metadataHeader,
  QUOTA_WARNINGS_HEADER,
  TUS_EXTENSIONS,
  TUS_VERSION,
  uploadLengthOf,
  uploadMetadataOf,
  uploadOffsetOf,
} from '../tus-headers.ts'
import { streamedBodies } from '../upload-body.ts'
import { wantedUpload } from '../upload-metadata.ts'
import { CREATE_DOC, DELETE_DOC, OPTIONS_DOC, READ_DOC, SEND_DOC } from './uploads-docs.ts'

/** Also refusals carry it: a client may not take an answer without it for one of tus. */
const SPEAKS_TUS = {
  onRequest: async (_request: FastifyRequest, reply: FastifyReply) => void reply.header('Tus-Resumable', TUS_VERSION),
}

export function uploadRoutes(app: FastifyInstance, deps: TakeUploadsDeps): void {
  const uploads = createTakeUploads(app, deps)
  readingRoutes(app, uploads, deps.store)
  streamedBodies(app, deps.log, (scope) => sendingRoutes(scope, uploads, deps.store))

  const remove = { config: { role: 'submitter', doc: DELETE_DOC }, ...SPEAKS_TUS } as const
  app.delete('/uploads/:id', remove, async (request, reply) => {
    await uploads.visible(request)
    checkTusVersion(request)
    await uploads.remove(request)
    return reply.code(204).send()
  })
}

function readingRoutes(app: FastifyInstance, uploads: TakeUploads, { resumableUploads }: Store): void {
  app.head('/uploads/:id', { config: { role: 'viewer', doc: READ_DOC }, ...SPEAKS_TUS }, async (request, reply) => {
    await uploads.visible(request)
    checkTusVersion(request)
    const upload = await uploads.settled(request)
    const metadata = metadataHeader(upload.metadata)
    if (metadata !== '') reply.header('Upload-Metadata', metadata)
    reply.header('Upload-Length', upload.bytes).header('Cache-Control', 'no-store')
    return placed(reply, upload).code(200).send()
  })

  const read = { config: { role: 'viewer', doc: READ_DOC }, exposeHeadRoute: false, ...SPEAKS_TUS } as const
  app.get('/uploads/:id', read, async (request, reply) => {
    const upload = await uploads.settled(request)
    const became = upload.uploadId === null ? null : await resumableUploads.became(upload.id)
    return sendJson(reply.header('Cache-Control', 'no-store'), presentResumable(upload, became))
  })
}

function sendingRoutes(scope: FastifyInstance, uploads: TakeUploads, { resumableUploads }: Store): void {
  const options = { config: { role: 'public', doc: OPTIONS_DOC }, ...SPEAKS_TUS } as const
  scope.options('/uploads', options, async (_request, reply) => {
    reply.header('Tus-Version', TUS_VERSION).header('Tus-Extension', TUS_EXTENSIONS)
    return reply.header('Tus-Max-Size', String(uploads.bytesMax)).code(204).send()
  })

  const create = { config: { role: 'submitter', body: 'upload', doc: CREATE_DOC }, ...SPEAKS_TUS } as const
  scope.post('/uploads', create, async (request, reply) => {
    checkTusVersion(request)
    const brings = bringsBytes(request)
    if (brings) checkTusBodyType(request)
    const bytes = uploadLengthOf(request)
    const upload = await uploads.begin(request, { bytes, metadata: uploadMetadataOf(request) })
    let warnings: QuotaWarning[] = []
    if (brings) {
      checkLength(request, upload)
      warnings = await uploads.take(request, upload)
    } else if (bytes === 0) warnings = await uploads.finish(request, upload)
    const now = (await resumableUploads.find(upload.id, upload.owner)) ?? upload
    return placed(warned(reply, warnings), now).code(201).header('Location', `/uploads/${upload.id}`).send()
  })

  const send = { config: { role: 'submitter', body: 'upload', doc: SEND_DOC }, ...SPEAKS_TUS } as const
  scope.patch('/uploads/:id', send, async (request, reply) => {
    const upload = await uploads.visible(request)
    checkTusVersion(request)
    checkTusBodyType(request)
    const offset = uploadOffsetOf(request)
    if (offset !== upload.received) throw goesOnElsewhere(offset)
    checkLength(request, upload)
    const warnings = await uploads.take(request, upload)
    return placed(warned(reply, warnings), await uploads.settled(request))
      .code(204)
      .send()
  })
}

/** How far it is. */
function placed(reply: FastifyReply, { received, expiresAt }: ResumableUpload): FastifyReply {
  return reply.header('Upload-Offset', received).header('Upload-Expires', expiresAt.toUTCString())
}

/** The answers of tus have no body. */
function warned(reply: FastifyReply, warnings: QuotaWarning[]): FastifyReply {
  const { quota_warnings: quota, cost_limit_warning: cost } = presentWarnings(warnings)
  if (quota.length > 0) reply.header(QUOTA_WARNINGS_HEADER, JSON.stringify(quota))
  if (cost !== null) reply.header(COST_WARNING_HEADER, cost)
  return reply
}

function bringsBytes({ headers }: FastifyRequest): boolean {
  const length = headers['content-length']
  return headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0')
}

/** Where the request says how long its body is, it is refused before any of it is stored. */
function checkLength(request: FastifyRequest, { received, bytes }: ResumableUpload): void {
  const length = contentLengthOf(request)
  if (length === null || received + length <= bytes) return
  throw new Refusal('body-too-large', `The body goes on after the ${bytes} bytes that Upload-Length announced.`)
}

function presentResumable(upload: ResumableUpload, became: ListedUpload | null): ResumableUploadObject {
  return {
    upload_id: upload.id,
    owner: upload.owner,
    size: upload.bytes,
    received: upload.received,
    name: wantedUpload(upload.metadata).name,
    created_at: upload.createdAt.toISOString(),
    expires_at: upload.expiresAt.toISOString(),
    finished: upload.uploadId !== null,
    upload: became && presentUpload(became, became.runStatus),
    links: { self: `/uploads/${upload.id}` },
  }
}
