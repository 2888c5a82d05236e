/**
 * Many files that share one batch, some at a time. The list is read as far as there is room, so it may be a folder that is walked meanwhile.
 *
 * A file that is refused or cannot be read is an outcome, not an exception. When the service is out of reach no further file is begun: what was not tried is
 * not in the outcomes, and `stoppedBy` says why.
 */

import { UploadFailed } from './errors.ts'
import { type Uploaded, type UploadOptions, type UploadParts, uploadFile } from './upload.ts'
import type { UploadInput, UploadSource } from './upload-source.ts'

const CONCURRENCY = 4

/** A file alone, or with what is its own. */
export type UploadItem =
  | UploadInput
  | (Pick<UploadOptions, 'name' | 'size' | 'type' | 'parameters' | 'idempotencyKey' | 'resumable' | 'reservationId'> & {
      input: UploadInput
    })

export type UploadManyOptions = Omit<
  UploadOptions,
  'name' | 'size' | 'type' | 'idempotencyKey' | 'resume' | 'onProgress' | 'reservationId'
> & {
  /** Made for the call when not given. */
  batchId?: string
  /** Of a batch that is made. */
  title?: string
  /** Files at once; 4 when not given. */
  concurrency?: number
  /** After each piece of any file. */
  onProgress?: (progress: ManyProgress) => void
  /** After each file, well or not. */
  onFile?: (outcome: UploadOutcome) => void
}

/** Of what was begun; how many files there are is not known before the list ends. */
export type ManyProgress = {
  name: string
  sent: number
  total: number
  /** Over all files. */
  files: number
  bytes: number
}

export type UploadOutcome =
  | { ok: true; index: number; name: string; upload: Uploaded }
  | { ok: false; index: number; name: string; error: Error }

export type UploadedMany = {
  batchId: string
  /** One for each file that was begun, in the order of the list. */
  outcomes: UploadOutcome[]
  stoppedBy: UploadFailed | null
}

export async function uploadMany(
  parts: UploadParts,
  items: Iterable<UploadItem> | AsyncIterable<UploadItem>,
  batchId: string,
  { concurrency = CONCURRENCY, onProgress, onFile, ...options }: UploadManyOptions,
): Promise<UploadedMany> {
  const outcomes: UploadOutcome[] = []
  const left = indexed(items)
  let stoppedBy: UploadFailed | null = null
  let files = 0
  let bytes = 0

  async function begin(item: UploadItem, index: number): Promise<void> {
    const { input, ...own } = isItem(item) ? item : { input: item }
    const name = own.name ?? (input as { name?: string }).name ?? ''
    let before = 0
    const progressed = ({ sent, total }: { sent: number; total: number }) => {
      bytes += sent - before
      before = sent
      onProgress?.({ name, sent, total, files, bytes })
    }
    const outcome = await uploadFile(parts, input, { ...options, ...own, batchId, onProgress: progressed }).then(
      (upload): UploadOutcome => ({ ok: true, index, name, upload }),
      (error: unknown): UploadOutcome => {
        options.signal?.throwIfAborted()
        return { ok: false, index, name, error: error instanceof Error ? error : new Error(String(error)) }
      },
    )
    await (input as Partial<UploadSource>).close?.()
    files += 1
    outcomes[index] = outcome
    if (!outcome.ok && outcome.error instanceof UploadFailed && outcome.error.isOutage) stoppedBy ??= outcome.error
    onFile?.(outcome)
  }

  async function lane(): Promise<void> {
    while (stoppedBy === null) {
      const next = await left.next()
      if (next.done) return
      await begin(next.value.item, next.value.index)
    }
  }

  try {
    await Promise.all(Array.from({ length: Math.max(1, concurrency) }, lane))
  } finally {
    await left.return()
  }
  return { batchId, outcomes: outcomes.filter((outcome) => outcome !== undefined), stoppedBy }
}

function isItem(item: UploadItem): item is Exclude<UploadItem, UploadInput> {
  return 'input' in item
}

async function* indexed(items: Iterable<UploadItem> | AsyncIterable<UploadItem>) {
  let index = 0
  for await (const item of items) {
    yield { item, index }
    index += 1
  }
}
