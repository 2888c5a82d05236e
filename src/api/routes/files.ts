/**
 * Files: upload them, list the uploads, download, delete. Files of other owners are answered like files that do not exist: knowing a digest
 * is no right to the bytes. What was uploaded is sent to be saved and never to be shown.
 */

import type { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { UploadListQuery } from '../../contract/file.ts'
import { PAGE_LIMIT_DEFAULT } from '../../contract/page.ts'
import { Refusal } from '../../run/errors.ts'
import type { OwnedFile } from '../../store/ports/files.ts'
import type { ApiDeps } from '../api.ts'
import { attachmentHeaders, etagOf } from '../attachment.ts'
import { wantedRange } from '../byte-range.ts'
import { namesEtag } from '../etag.ts'
import { createOpenDownloads } from '../open-downloads.ts'
import { isGone, openStored } from '../open-stored.ts'
import { presentUpload } from '../present-upload.ts'
import { principalOf } from '../principal.ts'
import { checkedQuery } from '../query.ts'
import { sendJson } from '../send-json.ts'
import { DELETE_DOC, DOWNLOAD_DOC, fileIdOf, LIST_DOC, noSuchFile } from './file-docs.ts'

export function fileRoutes(app: FastifyInstance, { store, blob }: ApiDeps): void {
  const downloads = createOpenDownloads()
  app.addHook('preClose', async () => downloads.close())

  app.get('/files', { config: { role: 'viewer', doc: LIST_DOC } }, async (request, reply) => {
    const query = checkedQuery(request, UploadListQuery)
    const { limit = PAGE_LIMIT_DEFAULT, cursor = null, owner = null, batch = null, file = null } = query
    const { sees } = principalOf(request)
    if (sees !== null && owner !== null && owner !== sees) return sendJson(reply, { data: [], next_cursor: null })
    const filter = { owner: sees ?? owner, batchId: batch, fileId: file, limit, cursor }
    const { uploads, nextCursor } = await store.files.uploads(filter)
    const data = uploads.map(({ runStatus, ...upload }) => presentUpload(upload, runStatus))
    return sendJson(reply, { data, next_cursor: nextCursor })
  })

  app.get('/files/:id', { config: { role: 'viewer', doc: DOWNLOAD_DOC } }, async (request, reply) => {
    const file = await store.files.find(fileIdOf(request), principalOf(request).sees)
    if (!file) throw noSuchFile(request)
    const etag = etagOf(file.id)
    if (namesEtag(request.headers['if-none-match'], etag)) return reply.code(304).header('ETag', etag).send()
    return sendFile(request, reply, file)
  })

  app.delete('/files/:id', { config: { role: 'submitter', doc: DELETE_DOC } }, async (request, reply) => {
    const id = fileIdOf(request)
    const outcome = await store.files.release(id, principalOf(request).owner)
    if (outcome === 'not-found') throw noSuchFile(request)
    if (outcome === 'in-use') throw new Refusal('file-in-use', `A run has the file ${id} among its parameters.`)
    return reply.code(204).send()
  })

  async function sendFile(request: FastifyRequest, reply: FastifyReply, file: OwnedFile): Promise<FastifyReply> {
    const { id: sha256, bytes, name } = file
    const { range: asked, 'if-range': ifRange } = request.headers
    const range = wantedRange(asked, { size: bytes, etag: etagOf(sha256), ifRange: ifRange as string | undefined })
    if (range === 'unsatisfiable') {
      reply.header('Content-Range', `bytes */${bytes}`)
      throw new Refusal('range-not-satisfiable', `The file has ${bytes} bytes, and none in this range.`)
    }
    const headers = { ...attachmentHeaders({ name, sha256 }), 'Accept-Ranges': 'bytes' }
    if (range === 'whole') {
      const opened = await openStored(blob, { ...file, sha256 }, gone(sha256))
      reply.headers(headers).header('Content-Length', bytes)
      return Buffer.isBuffer(opened) ? reply.send(opened) : sendStream(request, reply, opened.stream)
    }
    const opened = await blob.open(file.ref, { range }).catch((error: unknown) => {
      throw isGone(error) ? gone(sha256)(error) : error
    })
    if (opened.size !== bytes) {
      opened.stream.destroy()
      throw gone(sha256)()
    }
    reply
      .code(206)
      .headers(headers)
      .header('Content-Length', range.end - range.start + 1)
    reply.header('Content-Range', `bytes ${range.start}-${range.end}/${bytes}`)
    return sendStream(request, reply, opened.stream)
  }

  function sendStream(request: FastifyRequest, reply: FastifyReply, stream: Readable): FastifyReply {
    // The head alone needs no byte of the file.
    if (request.method === 'HEAD') stream.destroy()
    downloads.add(stream)
    return reply.send(stream)
  }
}

function gone(id: string): (cause?: unknown) => Refusal {
  return (cause) => new Refusal('file-missing', `The stored bytes of the file ${id} are gone or damaged.`, { cause })
}
