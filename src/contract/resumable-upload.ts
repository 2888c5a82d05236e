/** A resumable upload as JSON. Its bytes travel by tus 1.0.0, in headers and plain bodies. */

import { z } from 'zod'
import { UploadObject } from './file.ts'

export const ResumableUploadObject = z.strictObject({
  upload_id: z.guid(),
  owner: z.string(),
  /** All bytes of the upload. */
  size: z.int().min(0),
  /** How many of them have arrived. */
  received: z.int().min(0),
  /** Of the file. */
  name: z.string(),
  created_at: z.iso.datetime(),
  /** When it is forgotten unless more of it comes. */
  expires_at: z.iso.datetime(),
  /** It has become a file. */
  finished: z.boolean(),
  /** The same as `POST /files` answers; null until it is finished, and when the file is gone since. */
  upload: UploadObject.nullable(),
  links: z.strictObject({ self: z.string() }),
})

export type ResumableUploadObject = z.infer<typeof ResumableUploadObject>
