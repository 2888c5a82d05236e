/**
 * One request that brings files: what its fields ask for, and each file from its first byte to its answer.
 *
 * A key of the request makes each of its files a repeat of the same file of an earlier request, by its number, and the batch that is made
 * for them the same one.
 */

import { randomUUID } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import type { AcceptedFile, UploadFields } from '../contract/file.ts'
import { Refusal } from '../run/errors.ts'
import { JsonRefused, parseStrictJson } from '../run/json.ts'
import type { AcceptUpload, UploadModel } from './accept-upload.ts'
import type { ApiDeps } from './api.ts'
import { notAcceptable } from './body.ts'
import { safeFileName } from './file-name.ts'
import { keyedId } from './keyed-id.ts'
import { presentWarnings } from './present-quota.ts'
import { presentUpload } from './present-upload.ts'
import { FILE_BYTES_MAX, type ReceivedFile, receiveFile } from './receive-file.ts'
import { senderOf } from './sender.ts'

export type UploadDeps = Pick<ApiDeps, 'store' | 'blob' | 'log' | 'metrics' | 'config'> & { acceptUpload: AcceptUpload }

export type Received = ReceivedFile & { uploadId: string; name: string; index: number; isHeld?: boolean }

export type UploadRequest = {
  readonly batchId: string | null
  /** Once, before the first file. Throws a Refusal. */
  begin(fields: UploadFields): Promise<void>
  /** There are several files: they share a batch. */
  share(): Promise<void>
  receive(name: string | null | undefined, pieces: AsyncIterable<Uint8Array>): Promise<Received>
  /** Instead of bytes: a file that the owner has. Throws a Refusal when there is none, or its bytes are lost. */
  take(fileId: string, name: string | undefined): Promise<Received>
  accept(received: Received): Promise<AcceptedFile>
  /** For a file that is not going to be accepted. */
  discard(received: Received): Promise<void>
}

export function createUploadRequest(deps: UploadDeps, request: FastifyRequest): UploadRequest {
  const { store, blob, log, acceptUpload, config } = deps
  const sender = senderOf(request, null)
  const { owner, key } = sender
  const options = { ...deps, bytesMax: config.http.fileBytesMax ?? FILE_BYTES_MAX }
  let fields: UploadFields = {}
  let model: UploadModel | null = null
  let batchId: string | null = null
  let received = 0

  async function ensure(id: string): Promise<void> {
    const batch = await store.batches.ensure({ id, owner, title: fields.title ?? null })
    if (batch === 'taken') throw new Refusal('batch-not-found', `There is no batch ${JSON.stringify(id)}.`)
    batchId = id
    // The title is the batch's; each run has the name of its file.
    if (model) model = { ...model, title: null }
  }

  return {
    get batchId() {
      return batchId
    },
    async begin(given) {
      fields = given
      model = modelOf(given, config.log.redactWords)
      if (model) await acceptUpload.check(model, sender)
      if (given.batch !== undefined) await ensure(given.batch.toLowerCase())
    },
    async share() {
      if (batchId === null) await ensure(key === null ? randomUUID() : keyedId('batch', owner, key))
    },
    async receive(sentName, pieces) {
      const [uploadId, name, index] = [randomUUID(), safeFileName(sentName), received]
      received += 1
      return { ...(await receiveFile(options, { uploadId, name }, pieces)), uploadId, name, index }
    },
    async take(fileId, sentName) {
      const file = await store.files.find(fileId, owner)
      const found = file && (await blob.stat(file.ref))
      if (!file || found?.bytes !== file.bytes) {
        throw new Refusal('no-such-file', `There is no file ${JSON.stringify(fileId)}.`)
      }
      const { ref, bytes, type } = file
      const stored = { ref, bytes, sha256: fileId }
      return { uploadId: randomUUID(), name: safeFileName(sentName ?? file.name), stored, type, index: 0, isHeld: true }
    },
    async accept({ uploadId, name, stored, type, index, isHeld }) {
      const { upload, run, isRepeat } = await acceptUpload.accept({
        uploadId,
        owner,
        key: key === null ? null : `${key}#${index}`,
        name,
        stored,
        isHeld,
        type,
        batchId,
        model,
        sender,
        requestId: request.id,
      })
      const shown = { ...presentUpload(upload, run?.run.status ?? null), ...presentWarnings(run?.warnings) }
      return { status: isRepeat ? 200 : 201, ...shown, problem: null }
    },
    async discard({ stored }) {
      await blob.delete(stored.ref).catch((error: unknown) => {
        log.warn({ request_id: request.id, ref: stored.ref, err: error }, 'bytes that are not needed were left behind')
      })
    },
  }
}

function modelOf(fields: UploadFields, sensitiveWords: readonly string[]): UploadModel | null {
  const { model, model_version, parameters, title, reservation_id } = fields
  if (model !== undefined) {
    return { model, model_version, parameters: objectOf(parameters, sensitiveWords), title, reservation_id }
  }
  const lonely = (['model_version', 'parameters', 'reservation_id'] as const).find((name) => fields[name] !== undefined)
  if (lonely === undefined) return null
  throw new Refusal('invalid-body', `The field ${lonely} is of no use without the field model.`)
}

function objectOf(text: string | undefined, sensitiveWords: readonly string[]): Record<string, unknown> {
  if (text === undefined || text === '') return {}
  const value = parsed(text, sensitiveWords)
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  throw new Refusal('invalid-body', 'The field parameters must hold a JSON object.')
}

function parsed(text: string, sensitiveWords: readonly string[]): unknown {
  try {
    return parseStrictJson(Buffer.from(text))
  } catch (error) {
    throw error instanceof JsonRefused ? notAcceptable(error, sensitiveWords) : error
  }
}
