/**
 * Writes a small ZIP archive. What it says about an entry can be made to differ from what the entry is, for archives that
 * lie.
 */

import { crc32, deflateRawSync } from 'node:zlib'

export type ZipEntry = {
  name: string
  bytes: Buffer
  /** `bytes` is already deflated; then `size` is what the archive says it unpacks to. */
  deflated?: boolean
  size?: number
  /** General purpose flags; 1 is "encrypted". */
  flags?: number
}

const UTF8_NAME = 0x0800
const DEFLATE = 8
/** 1 January 1980, the first day ZIP knows, so that equal contents give equal bytes. */
const FIRST_DAY = 0x21

export function writeZip(entries: ZipEntry[]): Buffer {
  const locals: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const entry of entries) {
    const name = Buffer.from(entry.name)
    const data = entry.deflated ? entry.bytes : deflateRawSync(entry.bytes)
    const about = aboutEntry(entry, data, name)
    const local = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), about, name, data])
    const central = Buffer.alloc(14)
    central.writeUInt32LE(offset, 10)
    directory.push(Buffer.from('PK\x01\x02\x14\x00', 'latin1'), about, central, name)
    locals.push(local)
    offset += local.length
  }
  const central = Buffer.concat(directory)
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06', 'latin1')
  end.writeUInt16LE(entries.length, 8)
  end.writeUInt16LE(entries.length, 10)
  end.writeUInt32LE(central.length, 12)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...locals, central, end])
}

/** The part that stands in front of an entry as well as in the directory. */
function aboutEntry(entry: ZipEntry, data: Buffer, name: Buffer): Buffer {
  const about = Buffer.alloc(26)
  about.writeUInt16LE(20, 0)
  about.writeUInt16LE(UTF8_NAME | (entry.flags ?? 0), 2)
  about.writeUInt16LE(DEFLATE, 4)
  about.writeUInt16LE(FIRST_DAY, 8)
  about.writeUInt32LE(entry.deflated ? 0 : crc32(entry.bytes), 10)
  about.writeUInt32LE(data.length, 14)
  about.writeUInt32LE(entry.size ?? entry.bytes.length, 18)
  about.writeUInt16LE(name.length, 22)
  return about
}

/** Deflated zeros: about one byte for each thousand, made without unpacking them anywhere. */
export function deflatedZeros(megabytes: number): Buffer {
  const piece = deflateRawSync(Buffer.alloc(1024 * 1024), { finishFlush: 3 })
  return Buffer.concat([...Array.from({ length: megabytes }, () => piece), deflateRawSync(Buffer.alloc(0))])
}
