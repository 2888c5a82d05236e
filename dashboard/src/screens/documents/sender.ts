/**
 * Sends the files of one drop, and keeps on until all are there.
 *
 * Each file is read first (its digest), so that what the owner has already is told at once and never sent; the rest goes some at a time. When
 * the service is out of reach nothing is lost: what was under way goes back in the line, and all is tried again after a pause, a little longer each time.
 * After `TRIES_MAX` tries in a row without any answer it gives up and says so, and goes on when it is told to.
 *
 * A file has the same key however often it is tried, also after the page was loaded anew, so that no try makes a second upload.
 */

import { HoldfastError, Transient, type Upload, UploadFailed } from '@holdfast/client'
import { type Advice, adviceOnUpload, stopsEverything } from './advice.ts'
import type { Dropped } from './group-drop.ts'
import { nameIn } from './group-drop.ts'
import { type Sample, withSample } from './transfer-rate.ts'
import { after, bytesThere, isSettled, type Row, type RowEvent } from './upload-row.ts'

const LANES = 3
export const TRIES_MAX = 6
const PAUSE_MS_MIN = 1_000
const PAUSE_MS_MAX = 15_000
const TELL_MS = 100
/** Many files are told of less often: each time all of them are put in order. */
const ROWS_PER_MS = 40

export type HandIn = { name: string; key: string; signal: AbortSignal }

/** The service as the sender needs it. */
export type Door = {
  begin(signal: AbortSignal): Promise<unknown>
  /** One's own uploads of these bytes. */
  uploadsOf(sha256: string, signal: AbortSignal): Promise<Upload[]>
  /** Without sending it; null when the service wants the bytes. */
  handIn(sha256: string, options: HandIn): Promise<Upload | null>
  send(file: File, options: HandIn & { onProgress(bytes: number): void }): Promise<Upload>
  digest(file: File, signal: AbortSignal, onProgress: (bytes: number) => void): Promise<string>
  key(path: string, sha256: string): Promise<string>
  sleep(ms: number, signal: AbortSignal): Promise<void>
  nowMs(): number
}

export type Phase =
  | { is: 'sending' }
  | { is: 'paused' }
  /** Tries again by itself. */
  | { is: 'away'; tries: number; nextMs: number }
  /** Goes on when it is told to. */
  | { is: 'stopped'; advice: Advice | null }
  | { is: 'finished' }

export type Sending = {
  batchId: string
  phase: Phase
  rows: readonly Row[]
  bytes: number
  bytesTotal: number
  samples: readonly Sample[]
}

/** `claims`: the batch was begun before, so that what is in it may be what is chosen again now. */
export type SenderOptions = { batchId: string; files: readonly Dropped[]; door: Door; claims: boolean }

export class Sender {
  readonly batchId: string
  readonly #door: Door
  readonly #files: File[]
  readonly #claims: boolean
  readonly #claimed = new Set<string>()
  readonly #watchers = new Set<() => void>()
  readonly #leaders = new Map<string, number>()
  #rows: Row[]
  #phase: Phase = { is: 'paused' }
  #samples: Sample[] = []
  #snapshot: Sending | null = null
  #timer: ReturnType<typeof setTimeout> | null = null
  #run: AbortController | null = null
  #hurry: AbortController | null = null
  #changed: PromiseWithResolvers<void> = Promise.withResolvers()
  /** Files and pieces of files that have arrived. */
  #arrivals = 0
  #isBegun = false
  #reading = 0
  /** All rows before these are settled, or have been read. */
  #firstLeft = 0
  #firstWaiting = 0

  constructor({ batchId, files, door, claims }: SenderOptions) {
    this.batchId = batchId
    this.#door = door
    this.#claims = claims
    this.#files = files.map(({ file }) => file)
    this.#rows = files.map(({ file, path }, id) => ({
      ...{ id, path, name: nameIn(path), size: file.size, sha256: null, state: { at: 'waiting' } },
    }))
  }

  watch = (watcher: () => void): (() => void) => {
    this.#watchers.add(watcher)
    return () => this.#watchers.delete(watcher)
  }

  /** The same object until something has changed. */
  read = (): Sending => {
    this.#snapshot ??= {
      batchId: this.batchId,
      phase: this.#phase,
      rows: [...this.#rows],
      bytes: this.#rows.reduce((sum, row) => sum + bytesThere(row), 0),
      bytesTotal: this.#rows.reduce((sum, row) => sum + row.size, 0),
      samples: this.#samples,
    }
    return this.#snapshot
  }

  get isUnderWay(): boolean {
    return !this.#rows.every(isSettled)
  }

  /** Begins, or goes on after a pause or after it had stopped. While it waits for the service it tries at once. */
  start(): void {
    this.#hurry?.abort()
    if (this.#run) return
    const run = new AbortController()
    this.#run = run
    this.#untilDone(run.signal)
      .catch((error: unknown) => this.#turn({ is: 'stopped', advice: adviceOnUpload(error) }))
      .finally(() => {
        if (this.#run === run) this.#run = null
      })
  }

  pause(): void {
    this.#run?.abort()
    this.#run = null
    this.#holdAll()
    if (this.isUnderWay) this.#turn({ is: 'paused' })
  }

  /** What could not be sent, once more; one file, or all. */
  retry(id?: number): void {
    for (const row of this.#rows) if (id === undefined || row.id === id) this.#happens(row.id, { type: 'retry' })
    this.#firstLeft = 0
    this.#firstWaiting = 0
    this.start()
  }

  async #untilDone(signal: AbortSignal): Promise<void> {
    for (let tries = 0; ; ) {
      this.#turn({ is: 'sending' })
      const arrivals = this.#arrivals
      const stop = await this.#round(signal)
      if (signal.aborted) return
      if (stop === null) return this.#turn({ is: 'finished' })
      this.#holdAll()
      if (stop !== 'away') return this.#turn({ is: 'stopped', advice: stop })
      tries = this.#arrivals > arrivals ? 1 : tries + 1
      if (tries >= TRIES_MAX) return this.#turn({ is: 'stopped', advice: null })
      const pauseMs = Math.min(PAUSE_MS_MAX, PAUSE_MS_MIN * 2 ** (tries - 1))
      this.#turn({ is: 'away', tries, nextMs: this.#door.nowMs() + pauseMs })
      this.#hurry = new AbortController()
      await this.#door.sleep(pauseMs, AbortSignal.any([signal, this.#hurry.signal])).catch(() => {})
      this.#hurry = null
      if (signal.aborted) return
    }
  }

  /** Until nothing is left to do (null), the service is out of reach, or something stops all files alike. */
  async #round(outer: AbortSignal): Promise<'away' | Advice | null> {
    const round = new AbortController()
    const signal = AbortSignal.any([outer, round.signal])
    let stop: 'away' | Advice | null = null
    const lane = async () => {
      try {
        while (!signal.aborted && (await this.#next(signal))) {}
      } catch (error) {
        if (signal.aborted) return
        stop ??= isOutage(error) ? 'away' : (stopsEverything(error) ?? adviceOnUpload(error))
        round.abort()
      }
    }
    signal.addEventListener('abort', () => this.#wake(), { once: true })
    try {
      if (!this.#isBegun) await this.#door.begin(signal)
      this.#isBegun = true
    } catch (error) {
      return isOutage(error) ? 'away' : adviceOnUpload(error)
    }
    await Promise.all(Array.from({ length: LANES }, lane))
    return stop
  }

  /** One piece of work; false when there is none left. What is wrong with one file is its own affair, the rest is thrown. */
  async #next(signal: AbortSignal): Promise<boolean> {
    const row = this.#choose()
    if (!row) {
      if (this.#firstLeft === this.#rows.length) return false
      await this.#changed.promise
      return true
    }
    try {
      if (row.state.at === 'waiting') await this.#check(row.id, signal)
      else if (row.state.at === 'twin') await this.#handIn(row.id, signal)
      else await this.#send(row.id, signal)
    } catch (error) {
      if (signal.aborted || isOutage(error) || stopsEverything(error)) throw error
      this.#happens(row.id, { type: 'refused', advice: adviceOnUpload(error) })
    }
    return true
  }

  /** One is always being read ahead, so that duplicates are told early; the other lanes send. */
  #choose(): Row | undefined {
    const rows = this.#rows
    while (this.#firstLeft < rows.length && isSettled(rows[this.#firstLeft]!)) this.#firstLeft += 1
    while (this.#firstWaiting < rows.length && rows[this.#firstWaiting]!.state.at !== 'waiting') this.#firstWaiting += 1
    const waiting = rows[this.#firstWaiting]
    if (waiting && this.#reading === 0) return waiting
    for (let index = this.#firstLeft; index < rows.length; index += 1) {
      const row = rows[index]!
      if (row.state.at === 'checked' || (row.state.at === 'twin' && isSettled(rows[row.state.of]!))) return row
      if (row.state.at === 'waiting') break
    }
    return waiting
  }

  async #check(id: number, signal: AbortSignal): Promise<void> {
    this.#happens(id, { type: 'check' })
    this.#reading += 1
    const read = (bytes: number) => this.#happens(id, { type: 'read', bytes })
    const { sha256, earlier } = await this.#lookUp(id, signal, read).finally(() => {
      this.#reading -= 1
    })
    this.#happens(id, { type: 'known', sha256 })
    const own = this.#claims && earlier.find((upload) => this.#isOf(upload, id))
    if (own) return this.#arrives(id, own)
    if (earlier.length > 0) return this.#handIn(id, signal)
    const leader = this.#leaders.get(sha256)
    if (leader === undefined || this.#rows[leader]!.state.at === 'failed') this.#leaders.set(sha256, id)
    else if (leader !== id) this.#happens(id, { type: 'twin', of: leader })
  }

  async #lookUp(id: number, signal: AbortSignal, onRead: (bytes: number) => void) {
    const sha256 = await this.#door.digest(this.#files[id]!, signal, onRead)
    return { sha256, earlier: await this.#door.uploadsOf(sha256, signal) }
  }

  async #handIn(id: number, signal: AbortSignal): Promise<void> {
    const { name, path, sha256 } = this.#rows[id]!
    this.#happens(id, { type: 'send' })
    const key = await this.#door.key(path, sha256!)
    const upload = await this.#door.handIn(sha256!, { name, key, signal })
    if (upload) return this.#arrives(id, upload)
    this.#leaders.set(sha256!, id)
    await this.#send(id, signal)
  }

  async #send(id: number, signal: AbortSignal): Promise<void> {
    const { name, path, sha256 } = this.#rows[id]!
    this.#happens(id, { type: 'send' })
    const key = await this.#door.key(path, sha256!)
    const onProgress = (bytes: number) => {
      this.#arrivals += 1
      this.#happens(id, { type: 'sent', bytes })
    }
    this.#arrives(id, await this.#door.send(this.#files[id]!, { name, key, signal, onProgress }))
  }

  #arrives(id: number, upload: Upload): void {
    this.#arrivals += 1
    this.#claimed.add(upload.upload_id)
    this.#happens(id, { type: 'arrived', upload })
  }

  /** The very file that was sent before the page was loaded anew, and not another one like it. */
  #isOf(upload: Upload, id: number): boolean {
    const { batch_id: batchId, upload_id: uploadId, name } = upload
    return batchId === this.batchId && name === this.#rows[id]!.name && !this.#claimed.has(uploadId)
  }

  #holdAll(): void {
    for (const { id } of this.#rows) this.#happens(id, { type: 'held' })
    this.#firstWaiting = 0
  }

  #happens(id: number, event: RowEvent): void {
    const now = after(this.#rows[id]!, event)
    if (now === this.#rows[id]) return
    this.#rows[id] = now
    if (event.type !== 'read' && event.type !== 'sent') this.#wake()
    this.#tell()
  }

  /** Lanes that had nothing to do look again. */
  #wake(): void {
    const { resolve } = this.#changed
    this.#changed = Promise.withResolvers()
    resolve()
  }

  #turn(phase: Phase): void {
    this.#phase = phase
    if (phase.is !== 'sending') this.#samples = []
    this.#tell()
  }

  /** Thousands of small files change faster than anybody can look. */
  #tell(): void {
    this.#timer ??= setTimeout(
      () => {
        this.#timer = null
        this.#snapshot = null
        const sample = { atMs: this.#door.nowMs(), bytes: this.read().bytes }
        this.#samples = withSample(this.#samples, sample)
        this.#snapshot = null
        for (const watcher of this.#watchers) watcher()
      },
      Math.max(TELL_MS, this.#rows.length / ROWS_PER_MS),
    )
  }
}

/** No answer, or one that says to come back: not the file is at fault. */
function isOutage(error: unknown): boolean {
  if (error instanceof UploadFailed) return error.isOutage
  return (
    error instanceof Transient ||
    (error instanceof HoldfastError && (error.status ?? 503) >= 500 && error.code !== 'storage-full')
  )
}
