/**
 * Headers for bytes that somebody's program made. A browser saves them under a harmless name and never shows, runs or guesses what they are;
 * were they shown after all, they would be in a sandbox, away from the pages and the session of this service.
 */

const ATTACHMENT = {
  'Content-Type': 'application/octet-stream',
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "sandbox; default-src 'none'; frame-ancestors 'none'",
  'Cross-Origin-Resource-Policy': 'same-origin',
  // Whether the caller may see it is asked each time.
  'Cache-Control': 'private, no-cache',
}

/** Characters that nobody sees, some of which turn the direction of those around them, and what is a slash elsewhere. */
const DECEPTIVE = /[\p{Cc}\p{Cf}\\]/gu

/** `name` may hold folders: only what follows the last slash is offered for saving. `sha256` is hexadecimal. */
export function attachmentHeaders({ name, sha256 }: { name: string; sha256: string }): Record<string, string> {
  return {
    ...ATTACHMENT,
    'Content-Disposition': `attachment; filename*=UTF-8''${extendedValue(fileNameOf(name))}`,
    'Repr-Digest': `sha-256=:${Buffer.from(sha256, 'hex').toString('base64')}:`,
    ETag: etagOf(sha256),
  }
}

export function etagOf(sha256: string): string {
  return `"${sha256}"`
}

function fileNameOf(name: string): string {
  const last = name.slice(name.lastIndexOf('/') + 1)
  return /^\.*$/.test(last) ? 'file' : last.toWellFormed().replace(DECEPTIVE, '_')
}

/** The value of a header parameter of RFC 8187: percent-encoded UTF-8, which holds no line end, quote or lone character beyond ASCII. */
function extendedValue(text: string): string {
  const hexOf = (character: string) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`
  return encodeURIComponent(text).replace(/['()*]/g, hexOf)
}
