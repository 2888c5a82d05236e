/**
 * The bytes of a file among the parameters of a run, for the holder of its attempt: as a stream, in little memory. Only files of that run; bytes
 * that are not those that were uploaded break the answer off before its end.
 */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { BlobDamaged, BlobMissing, type OpenBlob } from '../blob/blob.ts'
import { Refusal } from '../run/errors.ts'
import { FILE_ID } from '../run/file-parameters.ts'
import type { StoredFile } from '../store/ports/files.ts'
import type { ApiDeps } from './api.ts'
import { attachmentHeaders } from './attachment.ts'
import { createOpenDownloads } from './open-downloads.ts'
import { RunParams } from './run-path.ts'

export const LeaseFileParams = RunParams.extend({
  file_id: z.string().regex(FILE_ID).describe('The id of a file that the lease names.'),
})

type SendLeaseFile = (runId: string, request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>

export function createSendLeaseFile(app: FastifyInstance, { store, blob }: ApiDeps): SendLeaseFile {
  const downloads = createOpenDownloads()
  app.addHook('preClose', async () => downloads.close())

  async function open({ id, bytes, ref }: StoredFile): Promise<OpenBlob> {
    try {
      return await blob.open(ref, { expect: { bytes, sha256: id } })
    } catch (cause) {
      if (!(cause instanceof BlobMissing || cause instanceof BlobDamaged)) throw cause
      throw new Refusal('file-missing', `The stored bytes of the file ${id} are gone or damaged.`, { cause })
    }
  }

  return async (runId, request, reply) => {
    const params = LeaseFileParams.safeParse(request.params)
    const files = params.success ? await store.files.ofRun(runId) : []
    const file = files.find(({ fileId }) => fileId === params.data?.file_id)
    if (!file) throw new Refusal('no-such-file', `The run ${runId} has no such file among its parameters.`)
    const { size, stream } = await open(file)
    // The head alone needs no byte of the file.
    if (request.method === 'HEAD') stream.destroy()
    downloads.add(stream)
    reply.headers(attachmentHeaders({ name: file.name, sha256: file.fileId })).header('Content-Length', size)
    return reply.send(stream)
  }
}
