/**
 * One file to the service: a small one in one request, a large one in pieces that survive lost connections and restarts.
 *
 * Each upload has an idempotency key, made once per call, so that a request that is sent again makes one upload, one run and no
 * duplicate. An upload that fails says so in words for a person, and what has arrived can be taken up: by the same call again in
 * the same client, or elsewhere by `resume` with the id in the error.
 */

import { HoldfastError, Transient, UploadFailed } from './errors.ts'
import { checkedKey, keyHeader, newKey } from './idempotency-key.ts'
import { type ResumableOptions, ResumableUpload, type Standing } from './resumable-upload.ts'
import { type Bytes, type CallOptions, queryText, type Transport } from './transport.ts'
import { type Sized, sourceOf, type UploadInput } from './upload-source.ts'
import type { Upload, UploadAnswer, UploadWarnings } from './wire-files.ts'

/** From this size on a file is sent in pieces. */
export const RESUMABLE_BYTES_MIN = 16 * 1024 * 1024
/** Longer addresses are refused somewhere between here and there. */
const QUERY_LENGTH_MAX = 4_000

export type UploadOptions = ResumableOptions & {
  /** A `File` and a file on disk have their own. */
  name?: string | undefined
  /** Of a stream, which does not know it. */
  size?: number | undefined
  /** Such as `application/pdf`; the service looks at the bytes itself. */
  type?: string | undefined
  /** The model that is to have the file: its run is created with the upload. */
  model?: string | undefined
  modelVersion?: string | undefined
  /** The other parameters of the run. */
  parameters?: Record<string, unknown> | undefined
  batchId?: string | undefined
  /** Of the owner's quota: the run of the upload takes the place that was held for it. */
  reservationId?: string | undefined
  /** Made for the call when not given. */
  idempotencyKey?: string | undefined
  /** In pieces, also when it is small: for connections that break. From 16 MiB on it is so anyway, unless false. */
  resumable?: boolean | undefined
  /** Goes on with this upload, as an `UploadFailed` names it. */
  resume?: string | null | undefined
}

/** Where unfinished uploads are remembered, such as in `localStorage`; in the memory of the client when not given. */
export type UploadMemory = {
  get(fingerprint: string): Promise<string | null> | string | null
  set(fingerprint: string, uploadId: string): Promise<void> | void
  delete(fingerprint: string): Promise<void> | void
}

/** With the warnings that came with the run it made. */
export type Uploaded = Upload & UploadWarnings

export type UploadParts = { transport: Transport; timeoutMs: number; memory: UploadMemory }

export async function uploadFile(
  parts: UploadParts,
  input: UploadInput,
  { idempotencyKey, ...options }: UploadOptions,
): Promise<Uploaded> {
  const source = sourceOf(input, options)
  const key = idempotencyKey === undefined ? newKey() : checkedKey(idempotencyKey)
  const { resumable = source.size >= RESUMABLE_BYTES_MIN, resume } = options
  const standing: Standing = { uploadId: null, received: 0, keptUntil: null }
  try {
    if (resumable || resume) return await inPieces(parts, source, key, options, standing)
    return await atOnce(parts, source, key, options)
  } catch (cause) {
    options.signal?.throwIfAborted()
    throw cause instanceof HoldfastError ? uploadFailed(source, key, cause, standing) : cause
  }
}

async function atOnce(
  { transport, timeoutMs }: UploadParts,
  source: Sized,
  key: string,
  options: UploadOptions,
): Promise<Uploaded> {
  const { size, type } = source
  const data = await source.read(0, size)
  const fields = fieldsOf(source, options)
  const content =
    queryText(fields).length > QUERY_LENGTH_MAX
      ? { form: formOf(fields, source, data) }
      : { query: fields, bytes: { type: type ?? 'application/octet-stream', data } }
  const { signal, timeoutMs: ownMs = timeoutMs } = options
  const call = { method: 'POST', path: '/files', repeat: 'always', signal, timeoutMs: ownMs } as const
  const { body } = await transport.send({ ...call, headers: keyHeader(key), ...content })
  options.onProgress?.({ sent: size, total: size })
  return acceptedIn(body as UploadAnswer)
}

export type HandInOptions = CallOptions &
  Pick<UploadOptions, 'name' | 'model' | 'modelVersion' | 'parameters' | 'batchId' | 'reservationId' | 'idempotencyKey'>

export async function handInAgain(
  { transport }: Pick<UploadParts, 'transport'>,
  path: string,
  { idempotencyKey, signal, timeoutMs, ...options }: HandInOptions,
): Promise<Uploaded> {
  const headers = keyHeader(idempotencyKey === undefined ? newKey() : checkedKey(idempotencyKey))
  const query = fieldsOf(options, options)
  const { body } = await transport.send({ method: 'POST', path, query, headers, repeat: 'always', signal, timeoutMs })
  return acceptedIn(body as UploadAnswer)
}

/** What does not fit into an address. The fields come before the file, as the service wants them. */
function formOf(fields: Record<string, string>, { name, type }: Sized, data: Bytes): FormData {
  const form = new FormData()
  for (const [field, value] of Object.entries(fields)) if (field !== 'name') form.append(field, value)
  form.append('file', new Blob([data], { type: type ?? 'application/octet-stream' }), name)
  return form
}

/** A request with one file is refused as a whole, so what it is answered with is accepted. */
function acceptedIn({ data }: UploadAnswer): Uploaded {
  const [file] = data
  if (!file || file.problem !== null) throw new HoldfastError(file?.problem?.detail ?? 'The answer names no file.')
  const { status: _status, problem: _problem, ...upload } = file
  return upload
}

async function inPieces(
  { transport, timeoutMs, memory }: UploadParts,
  source: Sized,
  key: string,
  options: UploadOptions,
  standing: Standing,
): Promise<Uploaded> {
  const fields = fieldsOf(source, options)
  const fingerprint = source.version === null ? null : JSON.stringify([fields, source.size, source.version])
  const resume = options.resume ?? (fingerprint === null ? null : await memory.get(fingerprint))
  const { name: filename, ...wanted } = fields
  const metadata = { filename: filename!, ...(source.type && { filetype: source.type }), ...wanted, key }
  const upload = new ResumableUpload(transport, source, metadata, { timeoutMs, ...options, resume })
  try {
    const became = await upload.send((uploadId) => void (fingerprint && memory.set(fingerprint, uploadId)))
    if (fingerprint !== null) await memory.delete(fingerprint)
    return became
  } finally {
    Object.assign(standing, upload.standing)
  }
}

function fieldsOf(
  { name }: { name?: string | undefined },
  { model, modelVersion, parameters, batchId, reservationId }: UploadOptions,
): Record<string, string> {
  return {
    ...(name !== undefined && { name }),
    ...(model !== undefined && { model }),
    ...(modelVersion !== undefined && { model_version: modelVersion }),
    ...(parameters !== undefined && { parameters: JSON.stringify(parameters) }),
    ...(batchId !== undefined && { batch: batchId }),
    ...(reservationId !== undefined && { reservation_id: reservationId }),
  }
}

/** For a person: what failed, why, what is kept, and what to do. */
function uploadFailed(source: Sized, key: string, cause: HoldfastError, standing: Standing): UploadFailed {
  const isOutage = cause instanceof Transient
  const { status, code, problem } = cause
  const { received, keptUntil, uploadId } = standing
  const isKept = uploadId !== null && received > 0 && received < source.size
  const until = keptUntil === null ? '' : ` until ${keptUntil}`
  const kept = isKept ? ` The part that arrived (${received} of ${source.size} bytes) is kept${until};` : ''
  const next = isKept ? ' try again to go on.' : ' Nothing of it is kept; try again.'
  const reason = cause.message.replace(/\.?$/, '.')
  const message = `The upload of ${source.name} failed: ${reason}${kept}${isOutage || isKept ? next : ''}`
  return new UploadFailed(message, { status, code, problem, cause, file: source.name, key, ...standing, isOutage })
}
