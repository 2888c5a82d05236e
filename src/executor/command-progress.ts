/**
 * Follows the file in which a program reports its progress, one JSON value per line, the newest last. Only the newest is of interest: when
 * much was written since the last look, only its end is read. A file that became shorter or another one is read from its beginning.
 */

import type { FileHandle } from 'node:fs/promises'
import { parseStrictJson } from '../run/json.ts'
import { hideTexts } from '../run/redaction.ts'
import { openPlainFile } from './plain-file.ts'

const LOOK_MS = 200
const READ_BYTES_MAX = 64 * 1024
const LINE_CHARS_MAX = 16 * 1024

export class ProgressFile {
  readonly #path: string
  readonly #hidden: readonly string[]
  readonly #onProgress: (value: unknown) => void
  readonly #onProblem: (message: string) => void
  #timer: NodeJS.Timeout | undefined
  #looking: Promise<void> | null = null
  #place = { inode: 0, offset: 0 }
  #complained = false

  constructor(options: {
    path: string
    hidden: readonly string[]
    onProgress: (value: unknown) => void
    onProblem: (message: string) => void
  }) {
    this.#path = options.path
    this.#hidden = options.hidden
    this.#onProgress = options.onProgress
    this.#onProblem = options.onProblem
    this.#timer = setInterval(() => {
      this.#looking ??= this.#look(false).finally(() => {
        this.#looking = null
      })
    }, LOOK_MS)
  }

  /** Reads what is left, also a last line without an end. */
  async end(): Promise<void> {
    clearInterval(this.#timer)
    await this.#looking
    await this.#look(true)
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  async #look(atEnd: boolean): Promise<void> {
    let file: FileHandle | null = null
    try {
      file = await openPlainFile(this.#path)
      const line = file && (await this.#newestLine(file, atEnd))
      if (line) this.#report(line)
    } catch (error) {
      this.#complain((error as Error).message)
    } finally {
      await file?.close()
    }
  }

  async #newestLine(file: FileHandle, atEnd: boolean): Promise<string | null> {
    const { size, ino } = await file.stat()
    if (ino !== this.#place.inode || size < this.#place.offset) this.#place = { inode: ino, offset: 0 }
    const { offset } = this.#place
    if (size === offset) return null
    const from = Math.max(offset, size - READ_BYTES_MAX)
    const { buffer, bytesRead } = await file.read(Buffer.alloc(size - from), 0, size - from, from)
    const bytes = buffer.subarray(0, bytesRead)
    const end = atEnd ? bytes.length : bytes.lastIndexOf('\n') + 1
    this.#place.offset = from + end
    const lines = bytes.subarray(0, end).toString('utf8').split('\n')
    // What precedes the first line feed may be the rest of a line whose beginning was not read.
    if (from > offset) lines.shift()
    return lines.findLast((line) => line.trim() !== '') ?? null
  }

  #report(line: string): void {
    if (line.length > LINE_CHARS_MAX) throw new Error(`a line is longer than ${LINE_CHARS_MAX} characters`)
    this.#onProgress(parseStrictJson(hideTexts(line, this.#hidden)))
  }

  /** Once: a program that does it wrongly does so each time. */
  #complain(why: string): void {
    if (this.#complained) return
    this.#complained = true
    this.#onProblem(`progress left out: ${why}`)
  }
}
