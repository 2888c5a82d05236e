/** The schema of a parameter that is a file: `z.object({ document: fileId() })`, or `z.array(fileId())` for several. */

import { z } from 'zod'
import { FILE_FORMAT, FILE_ID } from '../run/file-parameters.ts'

/** The id of an uploaded file, the SHA-256 of its bytes. The run's owner must have the file; the attempt finds it in `ctx.files`. */
export function fileId() {
  return z.stringFormat(FILE_FORMAT, FILE_ID)
}
