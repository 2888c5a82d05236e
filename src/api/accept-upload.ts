/**
 * From bytes that are stored to an upload that is accepted, the same for every route that takes files: the run, when a model is asked for,
 * is made in the transaction that records the upload. After the commit bytes that were there before are deleted again, unless the older
 * ones turn out to be lost: then the new ones take their place.
 *
 * What goes wrong after the commit is logged and never told: the upload is accepted, and bytes that no row names are swept later.
 */

import type { StoredBlob } from '../blob/blob.ts'
import type { SubmitBody } from '../contract/submit.ts'
import { TITLE_LENGTH_MAX } from '../contract/submit.ts'
import { Refusal } from '../run/errors.ts'
import { fileParametersOf } from '../run/file-parameters.ts'
import { jsonPointer } from '../run/json-pointer.ts'
import type { AcceptedUpload, Upload } from '../store/ports/files.ts'
import type { Submitted } from '../store/store.ts'
import type { ApiDeps } from './api.ts'
import { countQuotaRefusal } from './count-quota-refusal.ts'
import type { ArrivingFile, ResolvedRun } from './run-files.ts'
import type { SeeingSender } from './sender.ts'
import type { SubmitRun } from './submit-run.ts'
import { findModelOrRefuse } from './unknown-model.ts'

/** What an upload asks for beside being stored. */
export type UploadModel = {
  model: string
  model_version?: string | null | undefined
  /** Without the file itself, which is put where the model wants it. */
  parameters?: Record<string, unknown> | null | undefined
  title?: string | null | undefined
  reservation_id?: string | null | undefined
}

export type UploadToAccept = {
  uploadId: string
  owner: string
  /** Null, or what makes a repeated request the same upload. */
  key: string | null
  /** Safe already (`file-name.ts`). */
  name: string
  stored: StoredBlob
  /** `stored` is the file as its owner has it: no bytes came with the upload. */
  isHeld?: boolean | undefined
  type: string
  batchId: string | null
  model?: UploadModel | null | undefined
  sender: SeeingSender
  requestId: string
}

export type AcceptedAnswer = { upload: Upload; run: Submitted | null; isRepeat: boolean }

export type AcceptUpload = {
  /** Refuses, before a byte has come, what would be refused after the last one. */
  check(model: UploadModel, sender: SeeingSender): Promise<void>
  /** Throws a Refusal; then the bytes are deleted unless it is not known whether the upload was recorded. */
  accept(upload: UploadToAccept): Promise<AcceptedAnswer>
}

/** Stands for a file that is still to come. */
const COMING: ArrivingFile = { fileId: '0'.repeat(64), name: 'file', bytes: 0, type: 'application/octet-stream' }

type Deps = Pick<ApiDeps, 'store' | 'blob' | 'log' | 'metrics'> & { submitRun: SubmitRun }

export function createAcceptUpload({ store, blob, log, metrics, submitRun }: Deps): AcceptUpload {
  /** The payload of a document is its identity, so neither a key nor the window of equal payloads is asked. */
  async function resolve(
    { model, model_version, parameters, title, reservation_id }: UploadModel,
    arriving: ArrivingFile,
    batchId: string | null,
    sender: SeeingSender,
  ): Promise<ResolvedRun> {
    const asked: SubmitBody = {
      ...{ model, model_version, parameters: { ...parameters }, reservation_id },
      dedupe: 'off',
      batch_id: batchId,
    }
    const definition = await findModelOrRefuse(asked, submitRun.known, store)
    const [parameter, ...others] = fileParametersOf(definition.parametersSchema)
    if (!parameter || others.length > 0) throw takesNoFile(definition.name, others.length + (parameter ? 1 : 0))
    if (Object.hasOwn(asked.parameters, parameter.name)) throw alreadyGiven(parameter.name)
    asked.parameters[parameter.name] = parameter.isList ? [arriving.fileId] : arriving.fileId
    asked.title = (title ?? arriving.name).slice(0, TITLE_LENGTH_MAX).toWellFormed()
    // The version is the one whose parameter was found.
    asked.model_version = definition.version
    return submitRun.resolve(asked, { ...sender, key: null }, arriving)
  }

  async function record(asked: UploadToAccept): Promise<AcceptedUpload> {
    const { uploadId, owner, key, name, stored, isHeld = false, type, batchId, model, sender } = asked
    const fileId = stored.sha256
    const file = { id: fileId, bytes: stored.bytes, type, ref: stored.ref }
    const run = model ? await resolve(model, { fileId, name, bytes: stored.bytes, type }, batchId, sender) : null
    const accepted = await store.files.accept({ id: uploadId, owner, key, file, name, batchId, run, isHeld })
    if (accepted instanceof Refusal) throw countQuotaRefusal(metrics, accepted)
    return accepted
  }

  /** One of the two places is enough. */
  async function keepOne({ upload, ref }: AcceptedUpload, { stored, requestId }: UploadToAccept): Promise<void> {
    const found = await blob.stat(ref)
    if (found?.bytes !== stored.bytes && (await store.files.replaceRef(upload.fileId, ref, stored.ref))) {
      const fields = { request_id: requestId, file_id: upload.fileId, lost_ref: ref, ref: stored.ref }
      log.warn(fields, 'the bytes of a file were lost and came again')
      await blob.delete(ref)
    } else await blob.delete(stored.ref)
  }

  function announce({ upload, run, isRepeat }: AcceptedUpload, requestId: string): void {
    const { id: upload_id, fileId: file_id, bytes, type, duplicate, owner, batchId: batch_id, runId: run_id } = upload
    const fields = { request_id: requestId, upload_id, file_id, bytes, type, duplicate, owner, batch_id, run_id }
    log.info(fields, isRepeat ? 'upload matched' : 'upload accepted')
    if (isRepeat) return
    metrics.uploads.inc()
    if (upload.duplicate) metrics.uploadDuplicates.inc()
    if (run) submitRun.announce([run], requestId)
  }

  return {
    check: async (model, sender) => void (await resolve(model, COMING, null, sender)),
    async accept(asked) {
      const { stored, isHeld = false, requestId } = asked
      const accepted = await record(asked).catch(async (error: unknown) => {
        if (isCertain(error) && !isHeld) await blob.delete(stored.ref).catch(left(stored.ref, requestId))
        throw error
      })
      announce(accepted, requestId)
      if (!accepted.isStored && !isHeld) await keepOne(accepted, asked).catch(left(stored.ref, requestId))
      return { upload: accepted.upload, run: accepted.run, isRepeat: accepted.isRepeat }
    },
  }

  function left(ref: string, requestId: string): (error: unknown) => void {
    return (error) => log.warn({ request_id: requestId, ref, err: error }, 'bytes that are not needed were left behind')
  }
}

/** Nothing was recorded, whatever happened to the connection before. */
function isCertain(error: unknown): boolean {
  return error instanceof Refusal && error.code !== 'database-unavailable' && error.code !== 'busy'
}

function takesNoFile(model: string, count: number): Refusal {
  const many = count === 0 ? 'no parameter that is a file' : `${count} parameters that are files`
  return new Refusal('model-takes-no-file', `The model ${model} has ${many}; an upload can fill exactly one.`)
}

function alreadyGiven(name: string): Refusal {
  const pointer = `/parameters${jsonPointer([name])}`
  const detail = 'is where the uploaded file goes; leave it out'
  return new Refusal('invalid-parameters', `${pointer} ${detail}.`, { errors: [{ pointer, detail }] })
}
