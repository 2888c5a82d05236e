/**
 * Looks after resumable uploads in the background of an API process: what nobody goes on with is forgotten and its bytes
 * deleted, and what is complete though the process that was to finish it has died is finished. Several processes at once are
 * harmless.
 */

import { setTimeout as delay } from 'node:timers/promises'
import type { BlobStore } from '../blob/blob.ts'
import { Refusal } from '../run/errors.ts'
import type { Store } from '../store/store.ts'
import type { Log } from '../telemetry/log.ts'
import type { FinishUpload } from './finish-upload.ts'
import { deleteQuietly } from './keep-upload.ts'

export type UploadUpkeepDeps = {
  store: Pick<Store, 'resumableUploads'>
  blob: BlobStore
  log: Log
  finishUpload: FinishUpload
  ttlSeconds: number
  everyMs?: number
}

export type UploadUpkeep = { start(): void; stop(): Promise<void>; tidy(): Promise<void> }

const EVERY_MS = 30_000
const EXPIRED_PER_LOOK = 1_000
const UNFINISHED_PER_LOOK = 10
/** Whoever finishes an upload as its last byte arrives has so long before somebody else tries. */
const QUIET_SECONDS = 300

export function createUploadUpkeep(deps: UploadUpkeepDeps): UploadUpkeep {
  const { store, blob, log, finishUpload, ttlSeconds, everyMs = EVERY_MS } = deps
  const stopping = new AbortController()
  let loop: Promise<void> | null = null

  async function finishLeftOnes(): Promise<void> {
    const quietSeconds = Math.min(QUIET_SECONDS, ttlSeconds / 2)
    const left = await store.resumableUploads.unfinished({ ttlSeconds, quietSeconds, limit: UNFINISHED_PER_LOOK })
    for (const upload of left) {
      if (stopping.signal.aborted) return
      await finishUpload.finish(upload, `upkeep:${upload.id}`).catch((error: unknown) => {
        // What it asks for was refused to whoever sent the last byte; it stays until it expires.
        const fields = { upload_id: upload.id, err: error }
        if (error instanceof Refusal) log.debug(fields, 'a complete upload was refused')
        else log.warn(fields, 'a complete upload could not be made a file')
      })
    }
  }

  async function tidy(): Promise<void> {
    await deleteQuietly(blob, await store.resumableUploads.removeExpired(EXPIRED_PER_LOOK), log)
    await finishLeftOnes()
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      await tidy().catch((error: unknown) => log.warn({ err: error }, 'resumable uploads could not be looked after'))
      await delay(everyMs * (0.75 + Math.random() / 2), null, { signal: stopping.signal }).catch(() => {})
    }
  }

  return {
    start() {
      loop ??= run()
    },
    async stop() {
      stopping.abort()
      await loop
    },
    tidy,
  }
}
