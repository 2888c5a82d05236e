/** Uploads that may be interrupted and go on: what has arrived is kept in parts, each durable before it counts. */

import type { ListedUpload } from './files.ts'

export type ResumableUpload = {
  id: string
  owner: string
  bytes: number
  received: number
  /** As the client gave it: name, type, model, parameters, batch. */
  metadata: Record<string, string>
  createdAt: Date
  expiresAt: Date
  /** The upload it became. */
  uploadId: string | null
}

export type UploadPart = { fromByte: number; bytes: number; ref: string }

export interface ResumableUploads {
  /** `too-many`: the owner has `openMax` that are not finished. Of several at the same moment a few more may get through. */
  create(upload: {
    id: string
    owner: string
    bytes: number
    metadata: Record<string, string>
    ttlSeconds: number
    openMax: number
  }): Promise<ResumableUpload | 'too-many'>
  /** Null also when it has expired. */
  find(id: string, owner: string | null): Promise<ResumableUpload | null>
  /** Counts a part that is durable. Null: something else has arrived from there meanwhile, or it is gone. */
  append(id: string, part: UploadPart, ttlSeconds: number): Promise<{ received: number } | null>
  /** In the order of their bytes. */
  parts(id: string): Promise<UploadPart[]>
  /** It has become a file; its parts are not needed any more. Answers their references. */
  finish(id: string, uploadId: string): Promise<string[]>
  /** The upload that it became; null as long as it is none. */
  became(id: string): Promise<ListedUpload | null>
  /** Given up by its owner; answers the references of its parts. Null when there is none. */
  remove(id: string, owner: string | null): Promise<string[] | null>
  /** Forgets expired ones, finished or not; answers the references of their parts. */
  removeExpired(limit: number): Promise<string[]>
  /** Those whose last byte came more than `quietSeconds` ago and that are still no file: whoever was at it has died. */
  unfinished(options: { ttlSeconds: number; quietSeconds: number; limit: number }): Promise<ResumableUpload[]>
}
