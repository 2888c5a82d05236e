/**
 * What this browser remembers of batches that are not wholly sent, so that after a reload the same files can be chosen again and go on where
 * they were: how many there were and what for, and which large files have begun. A browser that keeps nothing only loses this comfort.
 */

import type { UploadMemory } from '@holdfast/client'

export type Unfinished = { title: string; model: string; files: number; atMs: number }

const BATCHES = 'holdfast:documents:unfinished:'
const UPLOADS = 'holdfast:documents:upload:'
const KEPT_MS = 2 * 86_400_000

type Shelf = Pick<Storage, 'getItem' | 'setItem' | 'removeItem' | 'key' | 'length'>

export function unfinishedIn(shelf: Shelf | null) {
  return {
    get(batchId: string): Unfinished | null {
      return parsed(quietly(() => shelf?.getItem(BATCHES + batchId)))
    },
    set(batchId: string, unfinished: Unfinished): void {
      quietly(() => forgetOld(shelf, unfinished.atMs))
      quietly(() => shelf?.setItem(BATCHES + batchId, JSON.stringify(unfinished)))
    },
    delete(batchId: string): void {
      quietly(() => shelf?.removeItem(BATCHES + batchId))
    },
  }
}

export function uploadMemoryIn(shelf: Shelf | null): UploadMemory {
  return {
    get: (fingerprint) => quietly(() => shelf?.getItem(UPLOADS + fingerprint)) ?? null,
    set: (fingerprint, uploadId) => quietly(() => shelf?.setItem(UPLOADS + fingerprint, uploadId)),
    delete: (fingerprint) => quietly(() => shelf?.removeItem(UPLOADS + fingerprint)),
  }
}

/** The service forgets unfinished uploads after a day; nothing that it may still have is forgotten here. */
function forgetOld(shelf: Shelf | null, nowMs: number): void {
  const keys = Array.from({ length: shelf?.length ?? 0 }, (_, index) => shelf?.key(index) ?? '')
  for (const key of keys) {
    if (!key.startsWith(BATCHES)) continue
    const old = parsed(shelf?.getItem(key))
    if (!old || old.atMs < nowMs - KEPT_MS) shelf?.removeItem(key)
  }
}

function parsed(text: string | null | undefined): Unfinished | null {
  try {
    const value = JSON.parse(text ?? 'null') as Partial<Unfinished> | null
    const isWhole = typeof value?.title === 'string' && typeof value.model === 'string'
    return isWhole && typeof value.files === 'number' && typeof value.atMs === 'number' ? (value as Unfinished) : null
  } catch {
    return null
  }
}

function quietly<Value>(act: () => Value): Value | undefined {
  try {
    return act()
  } catch {
    return undefined
  }
}
