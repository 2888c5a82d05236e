/**
 * The input files of an attempt, copied from the blob store to a private folder before the work starts: each once, however often it is
 * among the parameters, and checked against size and SHA-256 on the way. What cannot be had fails the attempt in clear words, and may be tried again.
 *
 * The folder goes with the attempt. What a crash leaves is removed by a later worker of the same host, like the folders of programs.
 */

import { randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { BlobDamaged, type BlobStore, type OpenBlob } from '../blob/blob.ts'
import type { AttemptError, Handle, InputFile, Outcome } from '../executor/executor.ts'
import type { ModelDefinition } from '../run/definition.ts'
import { takesFiles } from '../run/file-parameters.ts'
import type { Files, RunFile, StoredFile } from '../store/ports/files.ts'
import type { Lease, Store } from '../store/store.ts'
import type { Log } from '../telemetry/log.ts'

/** Where the copies of one worker lie; `removeAbandoned` takes away what earlier workers left. */
export type InputFolder = {
  path: string
  remove(path: string): Promise<void>
  removeAbandoned(): Promise<void>
}

export type StageDeps = {
  files: Pick<Files, 'ofRun'>
  blob: Pick<BlobStore, 'open'>
  folder: InputFolder
  onTrouble: (error: unknown, message: string) => void
}

export type StageFiles = {
  /** Begins to copy the files of an attempt; null for a model without. */
  begin(lease: Lease): Staging | null
  /** Once no attempt needs its files any more. */
  close(): Promise<void>
}

type Staged = { files: InputFile[] } | { ended: Outcome }

const COPIES_MAX = 4
const PRIVATE_FOLDER = 0o700
const READ_ONLY = 0o400
const NO_ROOM = ['ENOSPC', 'EDQUOT', 'EFBIG']

/** Null when none of the models takes files, so that no attempt need be asked. */
export function createStageFiles(
  deps: { store: Pick<Store, 'files'>; definitions: ModelDefinition[]; log: Log; inputFolder?: InputFolder },
  blob: StageDeps['blob'],
): StageFiles | null {
  const { store, log, inputFolder: folder } = deps
  if (!folder) return null
  const names = new Set(deps.definitions.filter(takesFiles).map(({ name, version }) => `${name}@${version}`))
  if (names.size === 0) return null
  const onTrouble = (error: unknown, message: string) => log.warn({ err: error }, message)
  let tidied: Promise<void> | null = null
  return {
    begin(lease) {
      if (!names.has(`${lease.model}@${lease.modelVersion}`)) return null
      tidied ??= folder.removeAbandoned().catch(() => {})
      return new Staging(lease, { files: store.files, blob, folder, onTrouble })
    },
    async close() {
      await tidied
      await folder.remove(folder.path).catch(() => {})
    },
  }
}

/** The files of one attempt. */
export class Staging {
  readonly #ready: Promise<Staged>
  readonly #startedAt = performance.now()
  readonly #lease: Lease
  readonly #deps: StageDeps
  readonly #path: string
  readonly #stop = new AbortController()

  constructor(lease: Lease, deps: StageDeps) {
    this.#lease = lease
    this.#deps = deps
    this.#path = join(deps.folder.path, `files.${lease.runId}.a${lease.attempt}.${randomUUID().slice(0, 8)}`)
    this.#ready = this.#stage()
  }

  /** The attempt is to stop; what has been copied by then is of no use. */
  abort(): void {
    this.#stop.abort()
  }

  /** Within the time of the attempt: what the copies took is no longer there for the work. Told to stop meanwhile, nothing is started. */
  async handTo(
    submit: (files: { files: InputFile[]; timeoutMs: number }) => Handle | Promise<Handle>,
  ): Promise<Handle> {
    const { runId, attempt, timeoutSeconds } = this.#lease
    const staged = await this.#ready
    if ('ended' in staged) return { runId, attempt, ended: staged.ended }
    if (this.#stop.signal.aborted) return { runId, attempt, ended: { status: 'cancelled' } }
    const timeoutMs = Math.max(1, timeoutSeconds * 1_000 - (performance.now() - this.#startedAt))
    return submit({ files: staged.files, timeoutMs })
  }

  async remove(): Promise<void> {
    this.abort()
    await this.#ready
    await this.#deps.folder.remove(this.#path).catch((error: unknown) => {
      this.#deps.onTrouble(error, 'the input files of an attempt could not be removed')
    })
  }

  async #stage(): Promise<Staged> {
    const { timeoutSeconds } = this.#lease
    const deadline = new AbortController()
    const timer = setTimeout(() => deadline.abort(), Math.min(timeoutSeconds * 1_000, 2 ** 31 - 1))
    const signal = AbortSignal.any([this.#stop.signal, deadline.signal])
    try {
      return { files: await this.#copyAll(signal) }
    } catch (error) {
      if (this.#stop.signal.aborted) return { ended: { status: 'cancelled' } }
      if (deadline.signal.aborted)
        return failed('Timeout', `${tookTooLong(timeoutSeconds)} while its files were copied`)
      return { ended: { status: 'failed', error: errorOf(error) } }
    } finally {
      clearTimeout(timer)
    }
  }

  async #copyAll(signal: AbortSignal): Promise<InputFile[]> {
    const files = await this.#deps.files.ofRun(this.#lease.runId)
    signal.throwIfAborted()
    if (files.length === 0) return []
    await mkdir(this.#path, { recursive: true, mode: PRIVATE_FOLDER })
    const paths = new Map<string, string>()
    const waiting: { file: StoredFile & RunFile; path: string }[] = []
    for (const file of files) {
      if (paths.has(file.fileId)) continue
      const path = join(this.#path, `file-${paths.size + 1}${extensionOf(file.name)}`)
      paths.set(file.fileId, path)
      waiting.push({ file, path })
    }
    // The first one that fails stops the others, and all are waited for: nothing is written any more once this has ended.
    const first = new AbortController()
    const both = AbortSignal.any([signal, first.signal])
    const lane = async () => {
      for (let next = waiting.shift(); next; next = waiting.shift()) await this.#copy(next.file, next.path, both)
    }
    const lanes = Array.from({ length: Math.min(COPIES_MAX, waiting.length) }, () =>
      lane().catch((error: unknown) => {
        first.abort(error)
        throw error
      }),
    )
    await Promise.allSettled(lanes)
    first.signal.throwIfAborted()
    return files.map(({ parameter, fileId, name, bytes, type }) => {
      return { parameter, fileId, name, bytes, type, path: paths.get(fileId)! }
    })
  }

  async #copy(file: StoredFile & RunFile, path: string, signal: AbortSignal): Promise<void> {
    try {
      const expect = { bytes: file.bytes, sha256: file.fileId }
      const { stream } = await unless(signal, this.#deps.blob.open(file.ref, { expect }))
      await pipeline(stream, createWriteStream(path, { flags: 'wx', mode: READ_ONLY }), { signal })
    } catch (cause) {
      throw signal.aborted ? cause : new NotStaged(file, cause)
    }
  }
}

/** A store that does not answer must not keep an attempt that is to stop. */
async function unless(signal: AbortSignal, opening: Promise<OpenBlob>): Promise<OpenBlob> {
  const stopped = Promise.withResolvers<never>()
  const onAbort = () => {
    opening.then(({ stream }) => stream.destroy()).catch(() => {})
    stopped.reject(signal.reason)
  }
  if (signal.aborted) onAbort()
  else signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await Promise.race([opening, stopped.promise])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

class NotStaged extends Error {
  readonly errorClass: string

  constructor({ parameter, fileId }: RunFile, cause: unknown) {
    const code = String((cause as NodeJS.ErrnoException | null)?.code ?? '')
    const why = cause instanceof Error ? cause.message : String(cause)
    const isFull = NO_ROOM.includes(code)
    super(`the file ${fileId} of the parameter ${parameter} could not be copied: ${isFull ? 'no room is left' : why}`, {
      cause,
    })
    if (isFull) this.errorClass = 'InputFolderFull'
    else this.errorClass = cause instanceof BlobDamaged ? 'InputFileDamaged' : 'InputFileUnavailable'
  }
}

function errorOf(thrown: unknown): AttemptError {
  if (thrown instanceof NotStaged) return { class: thrown.errorClass, message: thrown.message, stack: null }
  const { code = '', message } = thrown as NodeJS.ErrnoException
  const errorClass = NO_ROOM.includes(code) ? 'InputFolderFull' : 'InputFileUnavailable'
  return { class: errorClass, message: `the input files could not be had: ${message}`, stack: null }
}

function failed(errorClass: string, message: string): Staged {
  return { ended: { status: 'failed', error: { class: errorClass, message, stack: null } } }
}

function tookTooLong(timeoutSeconds: number): string {
  return `the attempt took longer than its limit of ${timeoutSeconds} s`
}

/** Libraries go by it; nothing else of a name that strangers chose gets near the disk. */
function extensionOf(name: string): string {
  return /\.[A-Za-z0-9]{1,10}$/.exec(name)?.[0].toLowerCase() ?? ''
}
