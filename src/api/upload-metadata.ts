/**
 * What a resumable upload is asked to become: the metadata that its client gave, read. It is read when the upload begins, so
 * that nobody sends gigabytes for a run that cannot be, and once more when its last byte is there.
 */

import { z } from 'zod'
import { UPLOAD_TITLE_LENGTH_MAX } from '../contract/file.ts'
import { Refusal } from '../run/errors.ts'
import { parseStrictJson } from '../run/json.ts'
import type { UploadModel } from './accept-upload.ts'
import { safeFileName } from './file-name.ts'

export type WantedUpload = {
  name: string
  key: string | null
  batchId: string | null
  /** Of the batch or, without one, of the run. */
  title: string | null
  model: UploadModel | null
}

const Known = z.object({
  model: z.string().min(1).max(128).optional(),
  model_version: z.string().min(1).max(64).optional(),
  parameters: z.string().optional(),
  batch: z.guid('must be a UUID').optional(),
  reservation_id: z.guid('must be a UUID').optional(),
  title: z.string().min(1).max(UPLOAD_TITLE_LENGTH_MAX).optional(),
  key: z
    .string()
    .regex(/^[\x20-\x7e]{1,255}$/, 'must be 1 to 255 printable ASCII characters')
    .optional(),
})

/** Throws a Refusal. Names that mean nothing here are the client's own. */
export function wantedUpload(metadata: Record<string, string>): WantedUpload {
  const parsed = Known.safeParse(metadata)
  if (!parsed.success) {
    const { path, message } = parsed.error.issues[0]!
    throw refused(String(path[0]), message.charAt(0).toLowerCase() + message.slice(1))
  }
  const { model, model_version, parameters, batch, title, key, reservation_id } = parsed.data
  if (model === undefined && (model_version ?? parameters ?? reservation_id) !== undefined) {
    throw refused('model', 'is needed with a version, parameters or a reservation')
  }
  return {
    name: safeFileName(metadata.filename ?? metadata.name),
    key: key ?? null,
    batchId: batch?.toLowerCase() ?? null,
    title: title ?? null,
    model:
      model === undefined
        ? null
        : {
            model,
            model_version,
            parameters: parameters === undefined ? null : parametersOf(parameters),
            title: batch === undefined ? title : null,
            reservation_id,
          },
  }
}

function parametersOf(text: string): Record<string, unknown> {
  try {
    const value = parseStrictJson(Buffer.from(text))
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  } catch {
    // Told below, without the text: it may hold what is not to be shown.
  }
  throw refused('parameters', 'must be a JSON object')
}

function refused(name: string, detail: string): Refusal {
  return new Refusal('invalid-header', `The value of ${name} in the header Upload-Metadata ${detail}.`)
}
