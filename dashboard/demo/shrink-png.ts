/**
 * The same picture in fewer bytes. A browser predicts each pixel from its neighbours before it compresses, which suits
 * photographs; pages of text become smaller without.
 */

import { crc32, deflateSync, inflateSync } from 'node:zlib'

const SIGNATURE_BYTES = 8
/** Length, name and checksum of a chunk. */
const FRAME_BYTES = 12
const TRUE_COLOUR = 2

/** Of pictures in true colour without transparency, which screenshots are; others stay as they are. */
export function shrinkPng(png: Buffer): Buffer {
  const before: Buffer[] = [png.subarray(0, SIGNATURE_BYTES)]
  const pixels: Buffer[] = []
  const after: Buffer[] = []
  for (let at = SIGNATURE_BYTES; at < png.length; ) {
    const length = png.readUInt32BE(at)
    const chunk = png.subarray(at, at + length + FRAME_BYTES)
    if (chunk.toString('latin1', 4, 8) === 'IDAT') pixels.push(chunk.subarray(8, 8 + length))
    else (pixels.length === 0 ? before : after).push(chunk)
    at += chunk.length
  }
  const [bits, colour] = [png[24], png[25]]
  if (bits !== 8 || colour !== TRUE_COLOUR) return png
  const plain = withoutPrediction(inflateSync(Buffer.concat(pixels)), png.readUInt32BE(16) * 3)
  const packed = deflateSync(plain, { level: 9, memLevel: 9 })
  const smaller = Buffer.concat([...before, chunkOf('IDAT', packed), ...after])
  return smaller.length < png.length ? smaller : png
}

/** Each row begins with the kind of its prediction; afterwards that is 0 for all of them. */
function withoutPrediction(rows: Buffer, rowBytes: number): Buffer {
  const plain = Buffer.from(rows)
  for (let start = 0; start < plain.length; start += rowBytes + 1) {
    const kind = plain[start]!
    plain[start] = 0
    for (let column = 1; column <= rowBytes; column += 1) {
      const at = start + column
      const left = column > 3 ? plain[at - 3]! : 0
      const above = start > 0 ? plain[at - rowBytes - 1]! : 0
      const corner = column > 3 && start > 0 ? plain[at - rowBytes - 4]! : 0
      plain[at] = (plain[at]! + predicted(kind, left, above, corner)) & 255
    }
  }
  return plain
}

function predicted(kind: number, left: number, above: number, corner: number): number {
  if (kind === 1) return left
  if (kind === 2) return above
  if (kind === 3) return (left + above) >> 1
  if (kind !== 4) return 0
  const [byLeft, byAbove, byCorner] = [above - corner, left - corner, left + above - 2 * corner].map(Math.abs)
  if (byLeft! <= byAbove! && byLeft! <= byCorner!) return left
  return byAbove! <= byCorner! ? above : corner
}

function chunkOf(name: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(name, 'latin1'), data])
  const numbers = Buffer.alloc(8)
  numbers.writeUInt32BE(data.length, 0)
  numbers.writeUInt32BE(crc32(named), 4)
  return Buffer.concat([numbers.subarray(0, 4), named, numbers.subarray(4)])
}
