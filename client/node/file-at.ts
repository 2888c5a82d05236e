/**
 * A file on disk as something to upload, for Node: `client.files.upload(await fileAt('report.pdf'))`.
 *
 * Nothing is read before it is sent, and never more than one piece. A file that changes meanwhile is told: half of one and half of the
 * other is no file.
 */

import { type FileHandle, open } from 'node:fs/promises'
import { basename } from 'node:path'

export type FileOnDisk = {
  name: string
  size: number
  /** Changes whenever the file does. */
  version: string
  /** The bytes from `from` up to, not including, `to`. */
  read(from: number, to: number): Promise<Uint8Array<ArrayBuffer>>
  close(): Promise<void>
}

/** It is opened for the first byte and stays open until `close`. */
export async function fileAt(path: string, { name = basename(path) }: { name?: string } = {}): Promise<FileOnDisk> {
  const file = await open(path, 'r')
  try {
    const { size, version } = await stateOf(file)
    if (!(await file.stat()).isFile()) throw new TypeError(`${path} is not a file`)
    return {
      name,
      size,
      version,
      read: (from, to) => readPiece(file, path, version, from, to),
      close: () => file.close(),
    }
  } catch (error) {
    await file.close()
    throw error
  }
}

async function stateOf(file: FileHandle): Promise<{ size: number; version: string }> {
  const { size, mtimeNs, ino } = await file.stat({ bigint: true })
  return { size: Number(size), version: `${ino}-${size}-${mtimeNs}` }
}

async function readPiece(
  file: FileHandle,
  path: string,
  version: string,
  from: number,
  to: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const piece = new Uint8Array(to - from)
  let filled = 0
  while (filled < piece.byteLength) {
    const { bytesRead } = await file.read(piece, filled, piece.byteLength - filled, from + filled)
    if (bytesRead === 0) break
    filled += bytesRead
  }
  if (filled < piece.byteLength || (await stateOf(file)).version !== version)
    throw new TypeError(`${path} changed while it was uploaded`)
  return piece
}
