/** Reads files and answers their SHA-256, beside the page so that a file of some gigabytes does not hold it up. */

import { sha256Of } from '@holdfast/client'

export type DigestRequest = { id: number; file: File } | { id: number; abort: true }
export type DigestAnswer = { id: number; read: number } | { id: number; sha256: string } | { id: number; error: string }

const PROGRESS_BYTES = 16 * 1024 * 1024
const running = new Map<number, AbortController>()

addEventListener('message', ({ data }: MessageEvent<DigestRequest>) => {
  if ('abort' in data) running.get(data.id)?.abort()
  else void digest(data.id, data.file)
})

async function digest(id: number, file: File): Promise<void> {
  const controller = new AbortController()
  running.set(id, controller)
  let told = 0
  const onProgress = (read: number) => {
    if (read - told < PROGRESS_BYTES) return
    told = read
    answer({ id, read })
  }
  try {
    answer({ id, sha256: await sha256Of(file, { signal: controller.signal, onProgress }) })
  } catch (error) {
    answer({ id, error: String(error) })
  } finally {
    running.delete(id)
  }
}

function answer(message: DigestAnswer): void {
  postMessage(message)
}
