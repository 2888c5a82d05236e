/**
 * Reads bytes as UTF-8 without repairing them: bad bytes are found, never replaced. A byte order mark is kept as a
 * character.
 */

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** `valid: false` comes with the text up to the first bad byte. */
export function decodeUtf8(bytes: Uint8Array): { valid: boolean; text: string } {
  try {
    return { valid: true, text: decoder.decode(bytes) }
  } catch {
    return { valid: false, text: longestGoodStart(bytes) }
  }
}

/** Found by halving: a start of the bytes decodes as far as it goes exactly when no bad byte is in it. */
function longestGoodStart(bytes: Uint8Array): string {
  let good = 0
  let bad = bytes.length + 1
  while (bad - good > 1) {
    const middle = (good + bad) >>> 1
    if (decodeStart(bytes.subarray(0, middle)) === null) bad = middle
    else good = middle
  }
  return decodeStart(bytes.subarray(0, good)) ?? ''
}

/** Null when a byte is bad; a character cut off at the end is left out. */
function decodeStart(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: true })
  } catch {
    return null
  }
}
