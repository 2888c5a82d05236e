/** Files and their uploads as they travel. A test holds these shapes equal to those of the service. */

import type { Problem } from './wire.ts'

/**
 * UPLOADED: stored, and its run, where there is one, waits. PROCESSING, DONE, ERROR: where its run is; a cancelled run is an ERROR.
 * DUPLICATE: the owner had handed it in before.
 */
export type UploadState = 'UPLOADED' | 'PROCESSING' | 'DONE' | 'ERROR' | 'DUPLICATE'

/** One handing-in of a file. */
export type Upload = {
  upload_id: string
  /** The SHA-256 of the bytes, hexadecimal. */
  file_id: string
  /** Without folders and without characters that deceive. Not to be used as a path. */
  name: string
  /** In bytes. */
  size: number
  /** What the bytes look like. */
  type: string
  /** Without a model: the owner had the file. With one: the owner had handed this very input in; no run was made. */
  duplicate: boolean
  state: UploadState
  /** Of a duplicate: the run that the first upload made. In lists of a run that was retried: its newest retry. */
  run_id: string | null
  batch_id: string | null
  created_at: string
  links: { file: string; run: string | null }
}

/** Of the run that an upload made: limits that are nearly used up. */
export type UploadWarnings = { quota_warnings: string[]; cost_limit_warning: string | null }

export type AcceptedFile = { status: number } & Upload & UploadWarnings & { problem: null }

export type RefusedFile = { status: number; name: string; problem: Problem }

export type UploadAnswer = { batch_id: string | null; data: (AcceptedFile | RefusedFile)[] }

/** An upload in pieces, and what it became. */
export type ResumableUploadState = {
  upload_id: string
  owner: string
  size: number
  received: number
  name: string
  created_at: string
  expires_at: string
  finished: boolean
  upload: Upload | null
  links: { self: string }
}
