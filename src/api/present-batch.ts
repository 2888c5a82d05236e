/** A batch as JSON, and the version of its progress. */

import { createHash } from 'node:crypto'
import type { BatchObject, BatchProgress, ListedBatch } from '../contract/batch-progress.ts'
import type { Batch, BatchCounts } from '../store/ports/batches.ts'

/** An empty batch has not even begun. */
export function isFinished({ total, waiting, running }: BatchCounts): boolean {
  return total > 0 && waiting === 0 && running === 0
}

export function listedBatch({ id, owner, title, createdAt }: Batch): ListedBatch {
  const self = `/batches/${id}`
  const links = { self, runs: `/runs?batch_id=${id}`, uploads: `/files?batch=${id}`, events: `${self}/events` }
  return { batch_id: id, owner, title, created_at: createdAt.toISOString(), links }
}

export function batchProgress(id: string, counts: BatchCounts): BatchProgress {
  return { batch_id: id, ...counts, finished: isFinished(counts) }
}

export function batchObject(batch: Batch, counts: BatchCounts): BatchObject {
  return { ...listedBatch(batch), ...batchProgress(batch.id, counts) }
}

/** The same as long as nothing was added and nothing has changed its state. */
export function placeOf({ total, waiting, running, done, failed, cancelled, duplicate }: BatchCounts): string {
  return [total, waiting, running, done, failed, cancelled, duplicate].join('-')
}

export function batchEtag({ title }: Batch, counts: BatchCounts): string {
  const seen = JSON.stringify([title, placeOf(counts)])
  return `W/"${createHash('sha256').update(seen).digest('base64url').slice(0, 22)}"`
}
