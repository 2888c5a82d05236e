/** Files: uploaded alone or many in one batch, looked up, downloaded, listed and given up. */

import type { Batches } from './batches.ts'
import { HoldfastError } from './errors.ts'
import { newUuid } from './idempotency-key.ts'
import { pages } from './list.ts'
import type { CallOptions, Transport } from './transport.ts'
import {
  type HandInOptions,
  handInAgain,
  type Uploaded,
  type UploadMemory,
  type UploadOptions,
  uploadFile,
} from './upload.ts'
import { type UploadedMany, type UploadItem, type UploadManyOptions, uploadMany } from './upload-many.ts'
import type { UploadInput } from './upload-source.ts'
import type { Page } from './wire.ts'
import type { Upload } from './wire-files.ts'

export type UploadFilter = { batch?: string; file?: string; owner?: string }

export type FilesOptions = { timeoutMs: number; memory?: UploadMemory | undefined }

export type Files = ReturnType<typeof filesOf>

export function filesOf(transport: Transport, batches: Batches, { timeoutMs, memory = memoryHere() }: FilesOptions) {
  const parts = { transport, timeoutMs, memory }
  const path = (fileId: string) => `/files/${encodeURIComponent(fileId)}`
  const call = { repeat: 'always' } as const

  return {
    /** UploadFailed, in words for a person, when it does not arrive. */
    upload: (input: UploadInput, options: UploadOptions = {}): Promise<Uploaded> => uploadFile(parts, input, options),

    /** All of them in one batch. One outcome for each file; rejects only for an abort, or when there can be no batch. */
    async uploadMany(
      items: Iterable<UploadItem> | AsyncIterable<UploadItem>,
      { title, batchId = newUuid(), ...options }: UploadManyOptions = {},
    ): Promise<UploadedMany> {
      await batches.create({ title, batchId }, options)
      return uploadMany(parts, items, batchId, options)
    },

    /** A file that the owner has (`has`), without sending it: for another model, or on record as a duplicate. 404 when there is none. */
    handIn: (fileId: string, options: HandInOptions = {}): Promise<Uploaded> =>
      handInAgain(parts, `${path(fileId)}/uploads`, options),

    /** Its newest upload: name, size, type, and the run it led to. */
    async get(fileId: string, options: CallOptions = {}): Promise<Upload> {
      const query = { file: fileId, limit: 1 }
      const { body } = await transport.send({ ...call, method: 'GET', path: '/files', query, ...options })
      const [upload] = (body as Page<Upload>).data
      if (upload) return upload
      throw new HoldfastError(`There is no file ${fileId}.`, { status: 404, code: 'file-not-found' })
    },

    /** Whether the owner has these bytes already, by their SHA-256 (`sha256Of`): known before anything is sent. */
    async has(sha256: string, options: CallOptions = {}): Promise<boolean> {
      try {
        await transport.send({ ...call, method: 'HEAD', path: path(sha256), ...options })
        return true
      } catch (error) {
        if (error instanceof HoldfastError && error.status === 404) return false
        throw error
      }
    },

    /** The response, its body not read yet: `.body` is a stream of the bytes, and who stops reading cancels it. */
    download(fileId: string, { signal, timeoutMs }: CallOptions = {}): Promise<Response> {
      const headers = { Accept: 'application/octet-stream, application/problem+json' }
      return transport.open({ ...call, method: 'GET', path: path(fileId), headers, signal, timeoutMs })
    },

    /** Uploads, newest first. */
    list: (filter: UploadFilter = {}, options: CallOptions = {}) => pages<Upload>(transport, '/files', filter, options),

    /** Gives the file up; refused while a run of the owner has it among its parameters. */
    async delete(fileId: string, options: CallOptions = {}): Promise<void> {
      await transport.send({ ...call, method: 'DELETE', path: path(fileId), ...options })
    },
  }
}

function memoryHere(): UploadMemory {
  const known = new Map<string, string>()
  return {
    get: (fingerprint) => known.get(fingerprint) ?? null,
    set: (fingerprint, uploadId) => void known.set(fingerprint, uploadId),
    delete: (fingerprint) => void known.delete(fingerprint),
  }
}
