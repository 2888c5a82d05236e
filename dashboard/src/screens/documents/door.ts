/** The service as the sender needs it: the client of files, without tries of its own, because the sender decides when to try again. */

import { Holdfast, HoldfastError, sha256Of, type Upload, UploadFailed } from '@holdfast/client'
import { apiUrl } from '../../place.ts'
import { digestOf } from './digest.ts'
import type { Door } from './sender.ts'
import { shelf } from './shelf.ts'
import { uploadMemoryIn } from './unfinished.ts'

/** From this size on a file goes in pieces of it, so that its progress is seen and a break costs little. */
const PIECE_BYTES = 4 * 1024 * 1024
const PATIENCE_MS = 2_000
/** Enough to know that there are earlier ones, and which was the first of them lately. */
const EARLIER_MAX = 200

const client = new Holdfast({ url: apiUrl, retries: 0, uploadMemory: uploadMemoryIn(shelf) })

export type DoorOptions = { batchId: string; title: string; model: string | null; owner: string | null }

export function openDoor({ batchId, title, model, owner }: DoorOptions): Door {
  const wanted = { batchId, model: model ?? undefined }
  return {
    begin: (signal) => client.batches.create({ title, batchId }, { signal }),
    async uploadsOf(sha256, signal) {
      const found: Upload[] = []
      for await (const upload of client.files.list({ file: sha256, ...(owner && { owner }) }, { signal })) {
        found.push(upload)
        if (found.length === EARLIER_MAX) break
      }
      return found
    },
    async handIn(sha256, { name, key, signal }) {
      try {
        return await client.files.handIn(sha256, { ...wanted, name, idempotencyKey: key, signal })
      } catch (error) {
        if (error instanceof HoldfastError && error.code === 'no-such-file') return null
        throw error
      }
    },
    async send(file, { name, key, signal, onProgress }) {
      const pieces = { resumable: file.size >= PIECE_BYTES, pieceBytes: PIECE_BYTES, patienceMs: PATIENCE_MS }
      const progress = ({ sent }: { sent: number }) => onProgress(sent)
      try {
        const options = { ...wanted, ...pieces, name, idempotencyKey: key, signal, onProgress: progress }
        return await client.files.upload(file, options)
      } catch (error) {
        // For the browser a file that is gone is a request that failed.
        if (error instanceof UploadFailed && error.isOutage) await file.slice(0, 1).arrayBuffer()
        throw error
      }
    },
    digest: digestOf,
    key: async (path, sha256) => {
      const place = await sha256Of(new TextEncoder().encode(`${path}\n${model ?? ''}`))
      return `${batchId}.${sha256.slice(0, 32)}.${place.slice(0, 24)}`
    },
    sleep,
    nowMs: () => Date.now(),
  }
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      reject(signal.reason)
    })
  })
}
