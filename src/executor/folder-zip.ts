/**
 * A folder as a zip archive, for engines that take a model's files that way. The same files give the same bytes: names are sorted and times
 * left out. Symbolic links are not followed and not packed; caches and repositories stay behind.
 */

import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { crc32, deflateRaw } from 'node:zlib'

const deflate = promisify(deflateRaw)
const LEFT_OUT = new Set(['.git', '__pycache__', 'node_modules', '.venv', '.holdfast', '.DS_Store'])
const FILES_MAX = 10_000
/** 1 January 1980, the first day a zip archive knows. */
const DOS_DATE = 0x21
const DEFLATED = 8
const UTF8_NAMES = 0x0800
const MADE_ON_UNIX = 0x0314

export class FolderTooLarge extends Error {}

export type ArchiveFile = { name: string; content: Buffer; mode?: number }

export async function zipFolder(folder: string, bytesMax: number): Promise<Buffer> {
  const names = await filesOf(folder, '')
  if (names.length > FILES_MAX) throw new FolderTooLarge(`${folder} has more than ${FILES_MAX} files`)
  const files: ArchiveFile[] = []
  let bytes = 0
  for (const name of names) {
    const path = join(folder, name)
    const { mode, size } = await stat(path)
    bytes += size
    if (bytes > bytesMax) throw new FolderTooLarge(`${folder} is larger than ${bytesMax} bytes`)
    files.push({ name, content: await readFile(path), mode })
  }
  return zipFiles(files)
}

export async function zipFiles(files: ArchiveFile[]): Promise<Buffer> {
  const parts: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const { name, content, mode = 0o644 } of files) {
    const { local, central, data } = await entry(name, content, mode, offset)
    parts.push(local, data)
    directory.push(central)
    offset += local.length + data.length
  }
  const list = Buffer.concat(directory)
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50, 0)
  end.writeUInt16LE(files.length, 8)
  end.writeUInt16LE(files.length, 10)
  end.writeUInt32LE(list.length, 12)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...parts, list, end])
}

async function filesOf(folder: string, under: string): Promise<string[]> {
  const entries = await readdir(join(folder, under), { withFileTypes: true })
  const found: string[] = []
  for (const { name, ...kind } of entries.map((one) => ({
    name: one.name,
    dir: one.isDirectory(),
    file: one.isFile(),
  }))) {
    if (LEFT_OUT.has(name) || name.endsWith('.pyc')) continue
    const path = under === '' ? name : `${under}/${name}`
    if (kind.dir) found.push(...(await filesOf(folder, path)))
    else if (kind.file) found.push(path)
  }
  return found.sort()
}

async function entry(name: string, content: Buffer, mode: number, offset: number) {
  const data = await deflate(content, { level: 6 })
  const nameBytes = Buffer.from(name)
  const shared = Buffer.alloc(26)
  shared.writeUInt16LE(20, 0)
  shared.writeUInt16LE(UTF8_NAMES, 2)
  shared.writeUInt16LE(DEFLATED, 4)
  shared.writeUInt16LE(DOS_DATE, 8)
  shared.writeUInt32LE(crc32(content), 10)
  shared.writeUInt32LE(data.length, 14)
  shared.writeUInt32LE(content.length, 18)
  shared.writeUInt16LE(nameBytes.length, 22)
  const local = Buffer.concat([word(0x04034b50), shared, nameBytes])
  const rest = Buffer.alloc(14)
  rest.writeUInt32LE(((mode & 0o777) | 0o100000) * 65_536, 6)
  rest.writeUInt32LE(offset, 10)
  const madeBy = Buffer.alloc(2)
  madeBy.writeUInt16LE(MADE_ON_UNIX, 0)
  const central = Buffer.concat([word(0x02014b50), madeBy, shared, rest, nameBytes])
  return { local, central, data }
}

function word(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value, 0)
  return bytes
}
