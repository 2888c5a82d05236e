/**
 * A place in the feed of all events, as text that any process can go on from.
 *
 * Everything up to the moment `after` has been delivered. Within a batch, which reaches up to the moment `until`,
 * everything up to and including `last` has been delivered too; batches are in the order of transaction, run and
 * number. `cluster` says which database the numbers belong to and `atMs` when it was, for the case that they mean
 * nothing any more.
 */

import type { Moment } from './moment.ts'

export type FeedKey = { xid: number; runId: string; seq: number }

export type FeedCursor = {
  /** 16 hex digits. */
  cluster: string
  atMs: number
  after: Moment
  batch: { until: Moment; last: FeedKey } | null
}

export const CURSOR_LENGTH_MAX = 4_096
const VERSION = 1
const XIP_MAX = 1_000

export function encodeCursor({ cluster, atMs, after, batch }: FeedCursor): string {
  const bytes: number[] = [VERSION, ...Buffer.from(cluster, 'hex')]
  writeNumber(bytes, Math.max(0, Math.round(atMs)))
  writeMoment(bytes, after)
  if (batch) {
    writeMoment(bytes, batch.until)
    writeNumber(bytes, batch.last.xid)
    bytes.push(...Buffer.from(batch.last.runId.replaceAll('-', ''), 'hex'))
    writeNumber(bytes, batch.last.seq)
  }
  return Buffer.from(bytes).toString('base64url')
}

/** Null for what no `encodeCursor` has made. */
export function decodeCursor(text: string): FeedCursor | null {
  if (text.length > CURSOR_LENGTH_MAX || !/^[A-Za-z0-9_-]+$/.test(text)) return null
  try {
    const cursor = readCursor({ bytes: Buffer.from(text, 'base64url'), next: 0 })
    return encodeCursor(cursor) === text ? cursor : null
  } catch {
    return null
  }
}

type Source = { bytes: Buffer; next: number }

function readCursor(source: Source): FeedCursor {
  if (source.bytes[source.next++] !== VERSION) throw new RangeError('another version')
  const cluster = readHex(source, 8)
  const atMs = readNumber(source)
  const after = readMoment(source)
  if (source.next === source.bytes.length) return { cluster, atMs, after, batch: null }
  const until = readMoment(source)
  const xid = readNumber(source)
  const hex = readHex(source, 16)
  const runId = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
  return { cluster, atMs, after, batch: { until, last: { xid, runId, seq: readNumber(source) } } }
}

/** Numbers lie close together, so differences are short. */
function writeMoment(bytes: number[], { xmin, xmax, xip }: Moment): void {
  writeNumber(bytes, xmin)
  writeNumber(bytes, xmax - xmin)
  writeNumber(bytes, xip.length)
  let before = xmin
  for (const xid of xip) {
    writeNumber(bytes, xid - before)
    before = xid
  }
}

function readMoment(source: Source): Moment {
  const xmin = readNumber(source)
  const xmax = xmin + readNumber(source)
  const count = readNumber(source)
  if (count > XIP_MAX) throw new RangeError('too many transactions')
  const xip: number[] = []
  let before = xmin
  for (let index = 0; index < count; index += 1) {
    before += readNumber(source)
    xip.push(before)
  }
  if (before > xmax) throw new RangeError('a transaction beyond the end')
  return { xmin, xmax, xip }
}

/** Seven bits in each byte, the lowest first; the highest bit says that more follow. */
function writeNumber(bytes: number[], value: number): void {
  let rest = value
  while (rest >= 128) {
    bytes.push((rest % 128) + 128)
    rest = Math.floor(rest / 128)
  }
  bytes.push(rest)
}

function readNumber(source: Source): number {
  let value = 0
  for (let unit = 1; ; unit *= 128) {
    const byte = source.bytes[source.next++]
    if (byte === undefined) throw new RangeError('too short')
    value += (byte % 128) * unit
    if (!Number.isSafeInteger(value)) throw new RangeError('too large')
    if (byte < 128) return value
  }
}

function readHex(source: Source, length: number): string {
  const end = source.next + length
  if (end > source.bytes.length) throw new RangeError('too short')
  const hex = source.bytes.toString('hex', source.next, end)
  source.next = end
  return hex
}
