/**
 * Files: bytes that people uploaded, stored once, seen by those who uploaded them, and the runs that their uploads made.
 *
 * The bytes are durable in the blob store before a row names them. What is a duplicate is decided by rows of the uploader alone, in the
 * transaction that records the upload and creates its run.
 */

import type { Refusal } from '../../run/errors.ts'
import type { RunStatus } from '../../run/status.ts'
import type { NewRun, Submitted } from '../store.ts'

/** `id` is the SHA-256 of the bytes in hex, `ref` where they lie, `type` what they look like. */
export type StoredFile = { id: string; bytes: number; type: string; ref: string }

export type NewUpload = {
  /** Made by the caller, so that a repeat after a lost reply is recognised. */
  id: string
  owner: string
  /** Null, or what makes a repeated request the same upload: unique within the owner. */
  key: string | null
  /** `ref` is that of this upload's own bytes; it becomes the file's unless the bytes were there. */
  file: StoredFile
  name: string
  batchId: string | null
  /** The run the upload asks for, with the file among its `files` and without key or slot. */
  run: NewRun | null
  /** No bytes came: the owner has the file. When that has given it up meanwhile, nothing is recorded and it is `no-such-file`. */
  isHeld?: boolean
}

/** `duplicate`: without a run, the owner had the file; with one, the owner had handed this very input in. */
export type Upload = {
  id: string
  owner: string
  fileId: string
  name: string
  bytes: number
  type: string
  batchId: string | null
  /** Of a duplicate: the first one. */
  runId: string | null
  duplicate: boolean
  createdAt: Date
}

export type AcceptedUpload = {
  upload: Upload
  /** Null without a run. A hit is the run that the first upload made. */
  run: Submitted | null
  /** False: the bytes had been stored before, and those of this upload are not needed. */
  isStored: boolean
  /** The request was a repeat; nothing was written. */
  isRepeat: boolean
  /** Where the bytes of the file are. */
  ref: string
}

/** A file as its owner has it: under the name of the latest upload. */
export type OwnedFile = StoredFile & { owner: string; name: string; createdAt: Date }

/** A file among the parameters of a run; `parameter` is the JSON pointer to it. */
export type RunFile = { parameter: string; fileId: string; name: string }

/** With what people are shown of it. */
export type DescribedFile = RunFile & { bytes: number; type: string }

/** `runStatus` is that of the run now; null without a run. A run that was retried is the newest of its retries. */
export type ListedUpload = Upload & { runStatus: RunStatus | null }

export type UploadPage = { uploads: ListedUpload[]; nextCursor: string | null }

export interface Files {
  accept(upload: NewUpload): Promise<AcceptedUpload | Refusal>
  /** The file as this owner has it; null when there is none. With `owner` null: as anybody has it. */
  find(id: string, owner: string | null): Promise<OwnedFile | null>
  /** Of these ids, those the owner has, by id. */
  findMany(ids: string[], owner: string | null): Promise<Map<string, OwnedFile>>
  ofRun(runId: string): Promise<(StoredFile & RunFile)[]>
  /** Newest first. `owner` null for everyone's. */
  uploads(filter: {
    owner: string | null
    batchId: string | null
    fileId: string | null
    limit: number
    cursor: string | null
  }): Promise<UploadPage>
  /** The owner gives the file up. `in-use`: a run of this owner has it among its parameters. */
  release(id: string, owner: string): Promise<'released' | 'in-use' | 'not-found'>
  /** Bytes that were lost are replaced by those of a new upload; false when somebody else did it first. */
  replaceRef(id: string, from: string, to: string): Promise<boolean>
  /** Forgets files that nobody has and no run uses, and answers where their bytes lie: these may be deleted now. */
  collect(options: { olderThanMs: number; limit: number }): Promise<string[]>
}
