/** Which upload a duplicate repeats: the one that made the run it leads to, else the oldest that was no duplicate. */

import type { Upload } from '@holdfast/client'

/** `uploads` of the same file, newest first. */
export function firstUpload(duplicate: Upload, uploads: readonly Upload[]): Upload | null {
  const firsts = uploads.filter((one) => !one.duplicate && one.upload_id !== duplicate.upload_id)
  return firsts.find((one) => one.run_id === duplicate.run_id) ?? firsts.at(-1) ?? null
}
