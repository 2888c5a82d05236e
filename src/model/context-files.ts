/** The input files of an attempt as a model sees them: local copies that were checked, to be read and never to be changed. */

import { createReadStream, type ReadStream } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { InputFile } from '../executor/executor.ts'
import { jsonPointer } from '../run/json-pointer.ts'
import { Fatal } from './failure.ts'

/** `parameter` is the JSON pointer to the file among the parameters; `path` is good until the attempt ends. */
export type ContextFile = Readonly<InputFile> & {
  /** All of it, in memory. */
  read(): Promise<Buffer>
  stream(): ReadStream
}

export function contextFiles(files: readonly InputFile[] = []): readonly ContextFile[] {
  return files.map((file) => ({
    ...file,
    read: () => readFile(file.path),
    stream: () => createReadStream(file.path),
  }))
}

/** The one file of a parameter; throws a Fatal when there is none, or more than one. */
export function fileOf(files: readonly ContextFile[], parameter: string): ContextFile {
  const pointer = jsonPointer([parameter])
  const found = files.filter((file) => file.parameter === pointer || file.parameter.startsWith(`${pointer}/`))
  if (found.length === 1) return found[0]!
  if (found.length > 1) {
    throw new Fatal(`the parameter ${parameter} has ${found.length} files; take them from ctx.files`)
  }
  const others = [...new Set(files.map((file) => file.parameter))].slice(0, 20).join(', ')
  throw new Fatal(`the parameter ${parameter} has no file; ${others ? `files are at ${others}` : 'the run has none'}`)
}
