/** An upload as people see it, with the state of its run in the words of documents. */

import type { UploadObject, UploadState } from '../contract/file.ts'
import type { RunStatus } from '../run/status.ts'
import type { Upload } from '../store/ports/files.ts'

const STATES: Record<RunStatus, UploadState> = {
  PENDING: 'UPLOADED',
  RUNNING: 'PROCESSING',
  SUCCEEDED: 'DONE',
  FAILED: 'ERROR',
  CANCELLED: 'ERROR',
}

export function presentUpload(upload: Upload, runStatus: RunStatus | null): UploadObject {
  const { fileId, runId } = upload
  return {
    upload_id: upload.id,
    file_id: fileId,
    name: upload.name,
    size: upload.bytes,
    type: upload.type,
    duplicate: upload.duplicate,
    state: stateOf(upload, runStatus),
    run_id: runId,
    batch_id: upload.batchId,
    created_at: upload.createdAt.toISOString(),
    links: { file: `/files/${fileId}`, run: runId === null ? null : `/runs/${runId}` },
  }
}

function stateOf({ duplicate }: Upload, runStatus: RunStatus | null): UploadState {
  if (duplicate) return 'DUPLICATE'
  return runStatus === null ? 'UPLOADED' : STATES[runStatus]
}
