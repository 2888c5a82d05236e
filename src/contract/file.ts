/** Files and their uploads on the wire. A file is its bytes, and its id is their SHA-256; an upload is one handing-in of a file. */

import { z } from 'zod'
import { pageAnswer, pageQuery } from './page.ts'
import { ProblemObject } from './problem.ts'

/** Files in one request. */
export const UPLOAD_FILES_MAX = 1_000
export const FILE_NAME_LENGTH_MAX = 255
export const UPLOAD_TITLE_LENGTH_MAX = 200

export const FILE_ID = /^[0-9a-f]{64}$/

/**
 * UPLOADED: stored, and its run, where there is one, waits. PROCESSING, DONE, ERROR: where its run is; a cancelled run is an ERROR.
 * DUPLICATE: the owner had handed it in before.
 */
export const UploadState = z.enum(['UPLOADED', 'PROCESSING', 'DONE', 'ERROR', 'DUPLICATE'])

const upload = {
  upload_id: z.guid(),
  /** The SHA-256 of the bytes, hexadecimal. */
  file_id: z.string().regex(FILE_ID),
  /** As the client called it, without folders and without characters that deceive. Not to be used as a path. */
  name: z.string(),
  /** In bytes. */
  size: z.int().min(0),
  /** What the bytes look like. Downloads do not have it: they are never shown. */
  type: z.string(),
  /** Without a model: the owner had the file. With one: the owner had handed this very input in; no run was made. */
  duplicate: z.boolean(),
  state: UploadState,
  /** Of a duplicate: the run that the first upload made. In lists of a run that was retried: its newest retry. */
  run_id: z.guid().nullable(),
  batch_id: z.guid().nullable(),
  created_at: z.iso.datetime(),
  links: z.strictObject({ file: z.string(), run: z.string().nullable() }),
}

export const UploadObject = z.strictObject(upload)

export const AcceptedFile = z.strictObject({
  /** 201, or 200 when the request was a repeat and this file had been accepted by an earlier one. */
  status: z.int().min(200).max(299),
  ...upload,
  /** Of the run: as in the answer to `POST /runs`. */
  quota_warnings: z.array(z.string()),
  cost_limit_warning: z.string().nullable(),
  problem: z.null(),
})

/** A file that was refused. Those before and after it are not undone by it. */
export const RefusedFile = z.strictObject({
  status: z.int().min(400).max(599),
  name: z.string(),
  problem: ProblemObject,
})

export const UploadAnswer = z.strictObject({
  /** Null for a single file without a batch. */
  batch_id: z.guid().nullable(),
  /** In the order of the request. A request with one file is refused as a whole, so that all of these are accepted. */
  data: z.array(z.union([AcceptedFile, RefusedFile])),
})

const fields = {
  /** The model that is to have the file: its run is created with the upload. It must take one file. */
  model: z.string().min(1).max(128).optional(),
  /** The newest registered version when not given. */
  model_version: z.string().min(1).max(64).optional(),
  /** The other parameters of the run, as a JSON object. */
  parameters: z.string().max(1_048_576).optional(),
  /** A place that was reserved for the run; good for one file. */
  reservation_id: z.guid().optional(),
  /** A UUID of the caller's: uploads that name the same one belong together. */
  batch: z.guid().optional(),
  /** Of the batch or, without one, of the run. The run of a file in a batch has the name of the file. */
  title: z
    .string()
    .min(1)
    .max(UPLOAD_TITLE_LENGTH_MAX)
    .refine((title) => !title.includes('\u0000'), 'must not contain a NUL')
    .optional(),
}

/** The fields of a form that may come before its files. */
export const UploadFields = z.strictObject(fields)

/** The query of an upload whose body is the file. */
export const UploadQuery = z.strictObject({
  /** Of the file; `Content-Disposition: attachment; filename*=…` does as well. */
  name: z.string().max(4_096).optional(),
  ...fields,
})

export const UploadListQuery = z.strictObject({
  ...pageQuery,
  /** Only uploads of this batch. */
  batch: z.guid().optional(),
  /** Only uploads of this file. */
  file: z.string().regex(FILE_ID, 'must be the id of a file').optional(),
  /** Only uploads of this owner. */
  owner: z.string().min(1).max(255).optional(),
})

export const UploadList = pageAnswer(UploadObject)

export type UploadState = z.infer<typeof UploadState>
export type UploadObject = z.infer<typeof UploadObject>
export type AcceptedFile = z.infer<typeof AcceptedFile>
export type RefusedFile = z.infer<typeof RefusedFile>
export type UploadAnswer = z.infer<typeof UploadAnswer>
export type UploadFields = z.infer<typeof UploadFields>
export type UploadQuery = z.infer<typeof UploadQuery>
export type UploadListQuery = z.infer<typeof UploadListQuery>
export type UploadList = z.infer<typeof UploadList>
