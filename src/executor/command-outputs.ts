/**
 * Keeps the files a program left in its output folder.
 *
 * Regular files only, and only those that have no second name: a link, soft or hard, could show a file of somebody else. Names are reduced to
 * harmless ones. What is left out is said; more files or bytes than allowed fail the attempt rather than lose some of them silently.
 */

import { createHash } from 'node:crypto'
import { constants, type Dirent } from 'node:fs'
import { lstat, open, readdir } from 'node:fs/promises'
import { join, matchesGlob } from 'node:path'
import type { Artifact } from './executor.ts'

export type OutputFile = { name: string; path: string; bytes: number }

/** Stores the bytes under the name and answers where they can be found again. */
export type KeepArtifact = (name: string, bytes: AsyncIterable<Uint8Array>) => Promise<{ ref: string }>

export type OutputLimits = { filesMax: number; bytesMax: number }

export class OutputsRefused extends Error {
  override readonly name = 'OutputsRefused'
}

const DEPTH_MAX = 32
const NAMES_MAX = 100_000
/** What can be put on record. */
const NAME_BYTES_MAX = 1_000
const STORED_NAME_CHARS_MAX = 120

/** `onLeftOut` is told what is not kept and why. Throws OutputsRefused. */
export async function findOutputs(
  folder: string,
  options: { globs: readonly string[] | undefined; limits: OutputLimits; onLeftOut: (message: string) => void },
): Promise<OutputFile[]> {
  const { globs, limits, onLeftOut } = options
  const files: OutputFile[] = []
  let names = 0
  let bytes = 0
  const visit = async (relative: string, depth: number): Promise<void> => {
    const entries = await readdir(join(folder, relative), { withFileTypes: true })
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      if (++names > NAMES_MAX) throw new OutputsRefused(`the output folder has more than ${NAMES_MAX} entries`)
      const name = relative === '' ? entry.name : `${relative}/${entry.name}`
      if (entry.isDirectory()) {
        if (depth >= DEPTH_MAX) throw new OutputsRefused(`the output folder is nested deeper than ${DEPTH_MAX} levels`)
        await visit(name, depth + 1)
        continue
      }
      if (globs && !globs.some((glob) => matchesGlob(name, glob))) continue
      const found = await examine(join(folder, name), entry)
      if (typeof found === 'string') {
        onLeftOut(`the output file ${JSON.stringify(name)} was left out: ${found}`)
        continue
      }
      // Two names that are no UTF-8 can become the same, or that of a real file.
      if (files.at(-1)?.name === name) {
        onLeftOut(`the output file ${JSON.stringify(name)} was left out: its name is not valid UTF-8`)
        continue
      }
      if (Buffer.byteLength(name) > NAME_BYTES_MAX) {
        throw new OutputsRefused(`the path of an output file has more than ${NAME_BYTES_MAX} bytes`)
      }
      files.push({ name, path: join(folder, name), bytes: found })
      bytes += found
      if (files.length > limits.filesMax) {
        throw new OutputsRefused(`the program left more than ${limits.filesMax} output files`)
      }
      if (bytes > limits.bytesMax) {
        throw new OutputsRefused(`the output files have more than ${limits.bytesMax} bytes together`)
      }
    }
  }
  await visit('', 1)
  return files
}

/** The size, or why the file is left out. */
async function examine(path: string, entry: Dirent): Promise<number | string> {
  if (entry.isSymbolicLink()) return 'it is a symbolic link'
  if (!entry.isFile()) return 'it is no regular file'
  // A name that is no UTF-8 leads nowhere once it has been decoded.
  const stat = await lstat(path).catch(() => null)
  if (stat === null) return 'its name is not valid UTF-8'
  if (!stat.isFile()) return 'it is no regular file'
  if (stat.nlink > 1) return 'it is a hard link: the file has other names'
  return stat.size
}

/** `onKept` is told of each file once it is stored, also of those before one that fails. */
export async function keepOutputs(
  files: readonly OutputFile[],
  names: { runId: string; attempt: number },
  keep: KeepArtifact,
  onKept: (artifact: Artifact) => void,
): Promise<void> {
  const taken = new Set<string>()
  for (const file of files) {
    const stored = `${names.runId}.a${names.attempt}.files.${freeName(file.name, taken)}`
    const handle = await open(file.path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    const hash = createHash('sha256')
    try {
      // Never more than was counted, whoever still writes to it.
      const stream = handle.createReadStream({ autoClose: false, start: 0, end: Math.max(0, file.bytes - 1) })
      let bytes = 0
      const noted = (chunk: Uint8Array) => {
        hash.update(chunk)
        bytes += chunk.length
      }
      const { ref } = await keep(stored, file.bytes === 0 ? nothing() : watched(stream, noted))
      onKept({ name: file.name, bytes, sha256: hash.digest('hex'), ref })
    } finally {
      await handle.close()
    }
  }
}

async function* watched(stream: AsyncIterable<Uint8Array>, onChunk: (chunk: Uint8Array) => void) {
  for await (const chunk of stream) {
    onChunk(chunk)
    yield chunk
  }
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

/** Letters, digits, dot, dash and underscore; the same harmless name twice gets a number. */
export function freeName(name: string, taken: Set<string>): string {
  const harmless = name.replaceAll(/[^A-Za-z0-9._-]+/g, '_').slice(-STORED_NAME_CHARS_MAX) || '_'
  let free = harmless
  for (let count = 2; taken.has(free); count++) free = `${count}-${harmless}`
  taken.add(free)
  return free
}
