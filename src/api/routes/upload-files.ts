/**
 * `POST /files`: a form with files, or a body that is one; `POST /files/{id}/uploads`: one that the caller has, without its bytes. The bytes go straight to where files are stored and are never together in memory; a
 * request that breaks off leaves nothing of its unfinished file.
 */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type UploadAnswer, UploadQuery } from '../../contract/file.ts'
import { Refusal } from '../../run/errors.ts'
import { nameOfDisposition } from '../file-name.ts'
import { createOpenDownloads } from '../open-downloads.ts'
import { checkedQuery } from '../query.ts'
import { FILE_BYTES_MAX, tooLarge } from '../receive-file.ts'
import { receiveForm } from '../receive-form.ts'
import { sendJson } from '../send-json.ts'
import { piecesOf, streamedBodies } from '../upload-body.ts'
import { createUploadRequest, type UploadDeps } from '../upload-request.ts'
import { AGAIN_DOC, fileIdOf, UPLOAD_DOC } from './file-docs.ts'

const FORM_TYPE = /^multipart\/form-data[ \t]*(?:;|$)/i

export function uploadFileRoutes(app: FastifyInstance, deps: UploadDeps): void {
  const { uploadIdleMs, fileBytesMax = FILE_BYTES_MAX } = deps.config.http
  const uploads = createOpenDownloads()
  app.addHook('preClose', async () => uploads.close())

  streamedBodies(app, deps.log, (scope) => {
    scope.post('/files', { config: { role: 'submitter', body: 'upload', doc: UPLOAD_DOC } }, async (request, reply) => {
      uploads.add(request.raw)
      const isForm = FORM_TYPE.test(request.headers['content-type'] ?? '')
      return isForm ? takeForm(request, reply) : takeBody(request, reply)
    })
  })

  app.post('/files/:id/uploads', { config: { role: 'submitter', doc: AGAIN_DOC } }, async (request, reply) => {
    const { name, ...fields } = checkedQuery(request, UploadQuery)
    const upload = createUploadRequest(deps, request)
    await upload.begin(fields)
    const accepted = await upload.accept(await upload.take(fileIdOf(request), name))
    return answer(reply, { batch_id: accepted.batch_id, data: [accepted] })
  })

  async function takeForm(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    refuseQuery(request)
    const upload = createUploadRequest(deps, request)
    const data = await receiveForm(request, upload, piecesOf(request.raw, uploadIdleMs))
    return answer(reply, { batch_id: upload.batchId ?? batchOf(data), data })
  }

  async function takeBody(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { name = nameOfDisposition(request.headers['content-disposition']), ...fields } = checkedQuery(
      request,
      UploadQuery,
    )
    const upload = createUploadRequest(deps, request)
    if (Number(request.headers['content-length'] ?? 0) > fileBytesMax) throw tooLarge(fileBytesMax)
    await upload.begin(fields)
    const received = await upload.receive(name, piecesOf(request.raw, uploadIdleMs))
    const accepted = await upload.accept(received)
    return answer(reply, { batch_id: accepted.batch_id, data: [accepted] })
  }
}

function answer(reply: FastifyReply, uploaded: UploadAnswer): FastifyReply {
  return sendJson(reply.code(uploaded.data.some(({ status }) => status === 201) ? 201 : 200), uploaded)
}

/** A repeat of a request without a batch is answered as the first was. */
function batchOf(data: UploadAnswer['data']): string | null {
  for (const item of data) if (item.problem === null && item.batch_id !== null) return item.batch_id
  return null
}

function refuseQuery(request: FastifyRequest): void {
  if (Object.keys(request.query as object).length === 0) return
  throw new Refusal('invalid-query', 'What a form asks for is said in its fields, not in the query.')
}
