/**
 * Blobs as files in one folder, e.g. `./artifacts/<run id>.a<attempt>.json`.
 *
 * Bytes go to a temporary file beside the target, are synced, renamed into place, and then the folder is synced:
 * after a power cut a blob is there whole or not at all. The folder knows who it is by a small file, so that a
 * database can refuse a process that was started with another folder.
 */

import { randomUUID } from 'node:crypto'
import { type FileHandle, link, mkdir, open, opendir, readdir, readFile, rename, stat, unlink } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { type BlobFacts, BlobMissing, type BlobStore, BlobStoreFull, isBlobName, nameOf, refOf } from './blob.ts'
import { assertSize, assertWhole, Digest, factsOf, rangeWithin, verified } from './digest.ts'

const IDENTITY_FILE = '.holdfast-folder'
const TEMPORARY_PREFIX = '.writing-'
const TEMPORARY_AGE_MS_MAX = 24 * 60 * 60 * 1_000
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

const WRITE_BYTES = 1_048_576

/** `openFile` stands for the disk where a test wants it to fail. */
export type DiskOptions = { folder: string; openFile?: typeof open }

type Place = { folder: string; openFile: typeof open }
type Bytes = Uint8Array | AsyncIterable<Uint8Array>

/**
 * Makes the folder when it is not there and removes temporary files that a dead process left in it more than a day
 * ago.
 */
export async function createDiskBlobStore({ folder: path, openFile = open }: DiskOptions): Promise<BlobStore> {
  const folder = resolve(path)
  const place = { folder, openFile }
  const created = await mkdir(folder, { recursive: true })
  if (created) await syncFolder({ folder: dirname(created), openFile })
  await removeLeftovers(folder, TEMPORARY_AGE_MS_MAX)
  return {
    async put(name, bytes) {
      const ref = refOf(name)
      const facts = await inTemporaryFile(place, name, bytes, (temporary) => rename(temporary, join(folder, name)))
      return { ref, ...facts }
    },
    async get(ref, expect) {
      const bytes = await readFile(join(folder, nameOf(ref))).catch((error) => missing(ref, error))
      if (expect) assertWhole(ref, factsOf(bytes), expect)
      return bytes
    },
    async open(ref, { range, expect } = {}) {
      const file = await openFile(join(folder, nameOf(ref)), 'r').catch((error) => missing(ref, error))
      try {
        const { size } = await file.stat()
        assertSize(ref, size, expect)
        // The stream closes the file: at its end, on an error, and when it is destroyed.
        if (range) return { size, stream: file.createReadStream(rangeWithin(ref, size, range)) }
        return { size, stream: verified(ref, file.createReadStream(), expect) }
      } catch (error) {
        await file.close()
        throw error
      }
    },
    async stat(ref) {
      return statOf(join(folder, nameOf(ref)))
    },
    async delete(ref) {
      await unlinkIfThere(join(folder, nameOf(ref)))
    },
    async *list() {
      for await (const { name } of await opendir(folder)) {
        const facts = isBlobName(name) ? await statOf(join(folder, name)) : null
        if (facts) yield { name, ...facts }
      }
    },
    removeUnfinished: (olderThanMs) => removeLeftovers(folder, olderThanMs),
    identity: () => readOrMakeIdentity(place),
  }
}

/**
 * Writes a synced temporary file, lets `publish` give it its name, and syncs the folder. The temporary name never
 * survives.
 */
async function inTemporaryFile(
  place: Place,
  name: string,
  bytes: Bytes,
  publish: (temporary: string) => Promise<void>,
): Promise<BlobFacts> {
  const temporary = join(place.folder, `${TEMPORARY_PREFIX}${randomUUID()}`)
  try {
    const file = await place.openFile(temporary, 'wx', 0o644)
    let facts: BlobFacts
    try {
      facts = await write(file, bytes)
      await file.sync()
    } finally {
      await file.close()
    }
    await publish(temporary)
    await syncFolder(place)
    return facts
  } catch (error) {
    await unlinkIfThere(temporary).catch(() => {})
    const code = codeOf(error)
    if (code === 'ENOSPC' || code === 'EDQUOT') throw new BlobStoreFull(name, { cause: error })
    throw error
  }
}

/** What comes piece by piece is written while the next pieces arrive, many small ones together. */
async function write(file: FileHandle, bytes: Bytes): Promise<BlobFacts> {
  if (bytes instanceof Uint8Array) {
    await file.writeFile(bytes)
    return factsOf(bytes)
  }
  const digest = new Digest()
  let gathered: Uint8Array[] = []
  let gatheredBytes = 0
  let writing = Promise.resolve()
  async function flush() {
    await writing
    writing = writeAll(file, gathered)
    // Whoever flushes next is told of a failure; closing the file waits for what is still being written.
    writing.catch(() => {})
    gathered = []
    gatheredBytes = 0
  }
  for await (const piece of bytes) {
    digest.add(piece)
    gathered.push(piece)
    gatheredBytes += piece.byteLength
    if (gatheredBytes >= WRITE_BYTES) await flush()
  }
  await flush()
  await writing
  return digest.facts()
}

/** The system may take a part of them at a time. */
async function writeAll(file: FileHandle, pieces: Uint8Array[]): Promise<void> {
  let rest = pieces
  while (rest.length > 0) {
    let { bytesWritten } = await file.writev(rest)
    rest = rest.flatMap((piece) => {
      const written = Math.min(bytesWritten, piece.byteLength)
      bytesWritten -= written
      return written < piece.byteLength ? [piece.subarray(written)] : []
    })
  }
}

async function readOrMakeIdentity(place: Place): Promise<string> {
  const path = join(place.folder, IDENTITY_FILE)
  const known = await readIdentity(path)
  if (known) return known
  try {
    // A hard link fails when the name is taken and never shows half a file, so of two processes at once one wins and
    // both agree.
    await inTemporaryFile(place, IDENTITY_FILE, Buffer.from(`${randomUUID()}\n`), async (temporary) => {
      await link(temporary, path)
      await unlink(temporary)
    })
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
  }
  const made = await readIdentity(path)
  if (!made) throw new Error(`the file ${path} vanished while it was being made`)
  return made
}

async function readIdentity(path: string): Promise<string | null> {
  try {
    const id = (await readFile(path, 'utf8')).trim()
    if (UUID.test(id)) return id
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null
    throw error
  }
  throw new Error(
    `the file ${path} does not hold a folder id; restore it from a backup, or delete it if the folder is new`,
  )
}

async function removeLeftovers(folder: string, olderThanMs: number): Promise<number> {
  let removed = 0
  for (const name of await readdir(folder)) {
    if (!name.startsWith(TEMPORARY_PREFIX)) continue
    const path = join(folder, name)
    const found = await statOf(path)
    if (!found || Date.now() - found.modifiedAt.getTime() <= olderThanMs) continue
    await unlinkIfThere(path)
    removed += 1
  }
  return removed
}

/** Null when it is gone: another process may be removing the same file at this moment. */
async function statOf(path: string): Promise<{ bytes: number; modifiedAt: Date } | null> {
  try {
    const { size, mtime } = await stat(path)
    return { bytes: size, modifiedAt: mtime }
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null
    throw error
  }
}

async function syncFolder({ folder, openFile }: Place): Promise<void> {
  const handle = await openFile(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

function missing(ref: string, error: unknown): never {
  if (codeOf(error) === 'ENOENT') throw new BlobMissing(ref, { cause: error })
  throw error
}

async function unlinkIfThere(path: string): Promise<void> {
  try {
    await unlink(path)
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error
  }
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code
}
