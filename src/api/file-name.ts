/**
 * The name of an uploaded file, made safe to keep and to show: the last part of what the client sent, in whole characters, without those
 * that nobody sees or that turn the direction of others. It is shown and offered for saving; nothing of ours is ever stored under it.
 */

import { FILE_NAME_LENGTH_MAX } from '../contract/file.ts'

const NAMELESS = 'file'

/** Control and format characters, such as the right-to-left override, and ends of lines. Letters that run right to left stay. */
const DECEPTIVE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/** The database has room for so many bytes of UTF-8. */
const BYTES_MAX = 1_024

export function safeFileName(sent: string | null | undefined): string {
  const last = (sent ?? '').slice(Math.max((sent ?? '').lastIndexOf('/'), (sent ?? '').lastIndexOf('\\')) + 1)
  const clean = cut(last.toWellFormed().replace(DECEPTIVE, '_')).trim()
  return /^\.*$/.test(clean) ? NAMELESS : clean
}

/** The end of a long name goes, and its extension stays. A character of several parts is kept whole or left out. */
function cut(name: string): string {
  if (isShort(name)) return name
  const extension = /\.[\p{L}\p{N}]{1,16}$/u.exec(name)?.[0] ?? ''
  const stem = name.slice(0, name.length - extension.length)
  let kept = ''
  for (const { segment } of new Intl.Segmenter(undefined, { granularity: 'grapheme' }).segment(stem.slice(0, 2_000))) {
    if (!isShort(kept + segment + extension)) break
    kept += segment
  }
  return kept + extension
}

function isShort(name: string): boolean {
  return name.length <= FILE_NAME_LENGTH_MAX && Buffer.byteLength(name) <= BYTES_MAX
}

/** The name in a `Content-Disposition` header: `filename*` of RFC 8187 before `filename`. Null without one that can be read. */
export function nameOfDisposition(header: string | undefined): string | null {
  if (header === undefined) return null
  const extended = /;\s*filename\*\s*=\s*utf-8'[^']*'([^;\s]+)/i.exec(header)?.[1]
  const decoded = extended === undefined ? null : decodedOf(extended)
  if (decoded !== null) return decoded
  const [, quoted, bare] = /;\s*filename\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;\s"]+))/i.exec(header) ?? []
  // Node reads headers byte by byte; most programs send names as UTF-8 all the same.
  const text = quoted?.replace(/\\(.)/g, '$1') ?? bare
  return text === undefined ? null : utf8Of(text)
}

function decodedOf(text: string): string | null {
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}

function utf8Of(latin1: string): string {
  const text = Buffer.from(latin1, 'latin1').toString('utf8')
  return text.includes('\ufffd') ? latin1 : text
}
