/** A folder for one test (file), gone with it. Its name carries our process id, so that leftovers of killed runs are recognised. */

import { mkdtemp, readdir, rm, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isAlive } from '../../src/store/embedded/process-state.ts'

const PREFIX = 'holdfast-test-'
/** Memory that looks like a disk, on most Linux machines. */
const MEMORY = '/dev/shm'
const MEMORY_BYTES_MIN = 8 * 1024 ** 3

export type TempFolder = { path: string; remove(): Promise<void> }

export async function tempFolder(parent = tmpdir()): Promise<TempFolder> {
  const path = await mkdtemp(join(parent, `${PREFIX}${process.pid}-`))
  return { path, remove: () => rm(path, { recursive: true, force: true, maxRetries: 5 }) }
}

/** In memory where there is plenty: for servers whose data nobody wants to keep. */
export async function quickFolder(): Promise<TempFolder> {
  const { bavail, bsize } = await statfs(MEMORY).catch(() => ({ bavail: 0, bsize: 0 }))
  return tempFolder(bavail * bsize >= MEMORY_BYTES_MIN ? MEMORY : tmpdir())
}

export async function removeAbandonedFolders(): Promise<void> {
  for (const parent of [tmpdir(), MEMORY]) {
    for (const name of await readdir(parent).catch(() => [])) {
      const pid = name.startsWith(PREFIX) && Number.parseInt(name.slice(PREFIX.length), 10)
      if (pid && !isAlive(pid)) await rm(join(parent, name), { recursive: true, force: true }).catch(() => {})
    }
  }
}
