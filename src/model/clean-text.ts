/** Makes text from user code safe to store: no NUL, no lone surrogate (Postgres refuses both), and no longer than a limit. */

const encoder = new TextEncoder()
const CUT_MARK = ' … [cut]'

/** At most `bytesMax` bytes of UTF-8, plus a mark where something was cut off. */
export function cleanText(text: string, bytesMax: number): string {
  const cut = text.length * 3 <= bytesMax ? text : cutToBytes(text, bytesMax)
  return cut.toWellFormed().replaceAll('\0', '\uFFFD')
}

function cutToBytes(text: string, bytesMax: number): string {
  const { read } = encoder.encodeInto(text, new Uint8Array(bytesMax))
  return read >= text.length ? text : text.slice(0, read) + CUT_MARK
}
