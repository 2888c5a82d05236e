/**
 * Blobs as files in one folder, e.g. `./artifacts/<run id>.a<attempt>.json`.
 *
 * Bytes go to a temporary file beside the target, are synced, renamed into place, and then the folder is synced:
 * after a power cut a blob is there whole or not at all. The folder knows who it is by a small file, so that a
 * database can refuse a process that was started with another folder.
 */

import { randomUUID } from 'node:crypto'
import { link, mkdir, open, opendir, readdir, readFile, rename, stat, unlink } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { BlobMissing, type BlobStore, BlobStoreFull, nameOf, refOf } from './blob.ts'

const IDENTITY_FILE = '.holdfast-folder'
const TEMPORARY_PREFIX = '.writing-'
const TEMPORARY_AGE_MS_MAX = 24 * 60 * 60 * 1_000
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/**
 * Makes the folder when it is not there and removes temporary files that a dead process left in it more than a day
 * ago.
 */
export async function createDiskBlobStore(options: { folder: string }): Promise<BlobStore> {
  const folder = resolve(options.folder)
  const created = await mkdir(folder, { recursive: true })
  if (created) await syncFolder(dirname(created))
  await removeLeftovers(folder)
  return {
    async put(name, bytes) {
      const ref = refOf(name)
      await inTemporaryFile(folder, name, bytes, (temporary) => rename(temporary, join(folder, name)))
      return { ref }
    },
    async get(ref) {
      const file = join(folder, nameOf(ref))
      return readFile(file).catch((error) => missing(ref, error))
    },
    async open(ref) {
      const file = await open(join(folder, nameOf(ref)), 'r').catch((error) => missing(ref, error))
      try {
        const { size } = await file.stat()
        // The stream closes the file: at its end, on an error, and when it is destroyed.
        return { size, stream: file.createReadStream() }
      } catch (error) {
        await file.close()
        throw error
      }
    },
    async delete(ref) {
      await unlinkIfThere(join(folder, nameOf(ref)))
    },
    async *names() {
      for await (const { name } of await opendir(folder)) if (!name.startsWith('.')) yield name
    },
    identity: () => readOrMakeIdentity(folder),
  }
}

/**
 * Writes a synced temporary file, lets `publish` give it its name, and syncs the folder. The temporary name never
 * survives.
 */
async function inTemporaryFile(
  folder: string,
  name: string,
  bytes: Uint8Array | AsyncIterable<Uint8Array>,
  publish: (temporary: string) => Promise<void>,
): Promise<void> {
  const temporary = join(folder, `${TEMPORARY_PREFIX}${randomUUID()}`)
  try {
    const file = await open(temporary, 'wx', 0o644)
    try {
      await file.writeFile(bytes)
      await file.sync()
    } finally {
      await file.close()
    }
    await publish(temporary)
    await syncFolder(folder)
  } catch (error) {
    await unlinkIfThere(temporary).catch(() => {})
    const code = codeOf(error)
    if (code === 'ENOSPC' || code === 'EDQUOT') throw new BlobStoreFull(name, { cause: error })
    throw error
  }
}

async function readOrMakeIdentity(folder: string): Promise<string> {
  const path = join(folder, IDENTITY_FILE)
  const known = await readIdentity(path)
  if (known) return known
  try {
    // A hard link fails when the name is taken and never shows half a file, so of two processes at once one wins and
    // both agree.
    await inTemporaryFile(folder, IDENTITY_FILE, Buffer.from(`${randomUUID()}\n`), async (temporary) => {
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

async function removeLeftovers(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!name.startsWith(TEMPORARY_PREFIX)) continue
    const path = join(folder, name)
    // Another process may be removing the same file at this moment.
    const age = await stat(path).then(
      ({ mtimeMs }) => Date.now() - mtimeMs,
      () => 0,
    )
    if (age > TEMPORARY_AGE_MS_MAX) await unlinkIfThere(path)
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
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
