/** Reads `postmaster.pid`, the file by which Postgres itself guards a data folder and tells how far a start has come. */

import { chown, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isSurelyNot } from './process-state.ts'

/** The process id of the server that holds the folder, as far as the file says; null without one. */
export async function lockHolder(dataFolder: string): Promise<number | null> {
  const [pid] = await linesOf(dataFolder)
  return pid ? Number.parseInt(pid, 10) : null
}

/** True once the server with this process id accepts connections. */
export async function isReady(dataFolder: string, pid: number): Promise<boolean> {
  const lines = await linesOf(dataFolder)
  return lines[0] === String(pid) && lines[7]?.trim() === 'ready'
}

/**
 * After a power cut the file may name a process id that belongs to some other program by now, or to a zombie nobody buries, and
 * Postgres would refuse to start for ever. It ignores its own parent's id, so ours is put in its place. The file is not deleted, because Postgres also
 * finds in it the shared memory by which it recognises survivors of the dead server. Only Linux tells what a process is.
 */
export async function disownReusedPid(dataFolder: string): Promise<void> {
  const lines = await linesOf(dataFolder)
  const pid = Number.parseInt(lines[0] ?? '', 10)
  if (!(pid > 0) || !isSurelyNot(pid, 'postgres')) return
  const path = join(dataFolder, 'postmaster.pid')
  const draft = `${path}.${process.pid}`
  // The dying server may remove its file at any moment; then there is nothing left to disown.
  const file = await stat(path).catch(() => null)
  if (!file) return
  await writeFile(draft, [String(process.pid), ...lines.slice(1)].join('\n'), { mode: 0o600 })
  await chown(draft, file.uid, file.gid)
  if ((await lockHolder(dataFolder)) === pid) await rename(draft, path)
  await rm(draft, { force: true })
}

async function linesOf(dataFolder: string): Promise<string[]> {
  const text = await readFile(join(dataFolder, 'postmaster.pid'), 'utf8').catch(() => '')
  return text.split('\n')
}
