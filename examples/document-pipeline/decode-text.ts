/**
 * Bytes to text: by byte order mark, else UTF-16 by its zeros, else UTF-8, else Windows-1252. Says when the bytes are no
 * text at all.
 */

export type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252'

/** Bytes looked at; a text shows what it is in its first ones. */
const SAMPLE_BYTES = 64 * 1024
/** Of the looked-at bytes: more control characters than this are no text. */
const CONTROL_SHARE_MAX = 0.002
/** Of every second byte: UTF-16 of most scripts that use spaces has this many zeros there. */
const UTF16_ZERO_SHARE = 0.3

/** Null when it is no text. */
export function encodingOf(bytes: Uint8Array): Encoding | null {
  if (bytes[0] === 0xff && bytes[1] === 0xfe && !(bytes[2] === 0 && bytes[3] === 0)) return 'utf-16le'
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be'
  const sample = bytes.subarray(0, SAMPLE_BYTES)
  const counts = countZeros(sample)
  if (counts.even + counts.odd > 0) return utf16Of(sample, counts)
  const isCut = bytes.length > sample.length
  if (isValid(sample, 'utf-8', isCut)) return controlShare(sample) <= CONTROL_SHARE_MAX ? 'utf-8' : null
  return controlShare(sample) <= CONTROL_SHARE_MAX && wordShare(sample) > 0.7 ? 'windows-1252' : null
}

/** Decodes at most `charactersMax` UTF-16 units; what is not valid becomes U+FFFD. A byte order mark is left out. */
export function decodeText(
  bytes: Uint8Array,
  encoding: Encoding,
  charactersMax: number,
): { text: string; truncated: boolean } {
  const bytesMax = charactersMax * (encoding === 'utf-8' ? 4 : 2)
  const decoder = new TextDecoder(encoding)
  const text = decoder.decode(bytes.subarray(0, bytesMax), { stream: bytes.length > bytesMax })
  const truncated = bytes.length > bytesMax || text.length > charactersMax
  return { text: truncated ? text.slice(0, charactersMax).toWellFormed() : text, truncated }
}

function countZeros(bytes: Uint8Array): { even: number; odd: number } {
  const counts = { even: 0, odd: 0 }
  for (let at = 0; at < bytes.length; at++) if (bytes[at] === 0) counts[at % 2 === 0 ? 'even' : 'odd']++
  return counts
}

/** A zero is in no text but UTF-16 without a mark, where zeros stand in the high bytes only. */
function utf16Of(bytes: Uint8Array, { even, odd }: { even: number; odd: number }): Encoding | null {
  const half = bytes.length / 2
  const encoding = odd > half * UTF16_ZERO_SHARE && even === 0 ? 'utf-16le' : 'utf-16be'
  if (encoding === 'utf-16be' && !(even > half * UTF16_ZERO_SHARE && odd === 0)) return null
  return isValid(bytes, encoding, true) ? encoding : null
}

function isValid(bytes: Uint8Array, encoding: Encoding, isCut: boolean): boolean {
  try {
    new TextDecoder(encoding, { fatal: true }).decode(bytes, { stream: isCut })
    return true
  } catch {
    return false
  }
}

/** The share of bytes below a space that no text uses: all but tab, line feed, form feed, carriage return and escape. */
function controlShare(bytes: Uint8Array): number {
  let count = 0
  for (const byte of bytes) {
    if ((byte < 0x20 && !(byte === 9 || byte === 10 || byte === 12 || byte === 13 || byte === 27)) || byte === 0x7f)
      count++
  }
  return count / Math.max(1, bytes.length)
}

/** The share of letters, digits, spaces and line ends of ASCII: texts of Western Europe are mostly these. */
function wordShare(bytes: Uint8Array): number {
  let count = 0
  for (const byte of bytes) {
    const letter = byte | 0x20
    if (
      (letter >= 0x61 && letter <= 0x7a) ||
      (byte >= 0x30 && byte <= 0x39) ||
      byte === 32 ||
      byte === 10 ||
      byte === 13
    )
      count++
  }
  return count / Math.max(1, bytes.length)
}
