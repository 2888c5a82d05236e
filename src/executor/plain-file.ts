/**
 * Reads files a program has left in its folder. Only regular files are read: a link is not followed, a pipe or a device is never waited for,
 * and no more than asked for gets into memory.
 */

import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'

export class NotPlainFile extends Error {
  override readonly name = 'NotPlainFile'
}

const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY

/** Null when there is nothing of that name. Throws NotPlainFile. The caller closes it. */
export async function openPlainFile(path: string): Promise<FileHandle | null> {
  let file: FileHandle
  try {
    file = await open(path, FLAGS)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return null
    if (code === 'ELOOP' || code === 'EMLINK') throw new NotPlainFile('it is a link, and links are not followed')
    if (code === 'ENXIO') throw new NotPlainFile('it is no regular file')
    throw new NotPlainFile(`it cannot be opened (${code})`)
  }
  if ((await file.stat()).isFile()) return file
  await file.close()
  throw new NotPlainFile('it is no regular file')
}

/** `bytes` is null when the file is larger than allowed. */
export async function readPlainFile(
  path: string,
  bytesMax: number,
): Promise<{ bytes: Buffer | null; size: number } | null> {
  const file = await openPlainFile(path)
  if (file === null) return null
  try {
    const { size } = await file.stat()
    return { bytes: size > bytesMax ? null : await file.readFile(), size }
  } finally {
    await file.close()
  }
}
