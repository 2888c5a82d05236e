/** The SHA-256 of a file, from a worker that is started with the first one. Rejects when the file cannot be read. */

import type { DigestAnswer, DigestRequest } from './digest-worker.ts'

type Waiting = { resolve(sha256: string): void; reject(reason: unknown): void; onProgress(bytes: number): void }

const waiting = new Map<number, Waiting>()
let worker: Worker | null = null
let lastId = 0

export function digestOf(file: File, signal: AbortSignal, onProgress: (bytes: number) => void): Promise<string> {
  signal.throwIfAborted()
  worker ??= startWorker()
  lastId += 1
  const [id, reader] = [lastId, worker]
  const say = (request: DigestRequest) => reader.postMessage(request)
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const onAbort = () => {
    say({ id, abort: true })
    reject(signal.reason)
  }
  waiting.set(id, { resolve, reject, onProgress })
  signal.addEventListener('abort', onAbort, { once: true })
  say({ id, file })
  return promise.finally(() => {
    waiting.delete(id)
    signal.removeEventListener('abort', onAbort)
  })
}

function startWorker(): Worker {
  const started = new Worker(new URL('./digest-worker.ts', import.meta.url), { type: 'module' })
  started.onmessage = ({ data }: MessageEvent<DigestAnswer>) => {
    const one = waiting.get(data.id)
    if ('read' in data) one?.onProgress(data.read)
    else if ('sha256' in data) one?.resolve(data.sha256)
    else one?.reject(new Error(data.error))
  }
  started.onerror = () => {
    worker = null
    for (const { reject } of waiting.values()) reject(new Error('The reader of files has ended.'))
  }
  return started
}
