/**
 * What a file looks like, by its first bytes and, where these are text, also by its name. It is told to people and to models; nothing is
 * trusted because of it, and no download carries it.
 */

import { fileTypeFromBuffer } from 'file-type'

/** So many of the first bytes are enough; the parts of an office document come before them. */
export const SNIFFED_BYTES = 65_536

const BYTES = 'application/octet-stream'

const BY_EXTENSION: Record<string, string> = {
  csv: 'text/csv',
  tsv: 'text/tab-separated-values',
  md: 'text/markdown',
  markdown: 'text/markdown',
  html: 'text/html',
  htm: 'text/html',
  json: 'application/json',
  jsonl: 'application/jsonl',
  ndjson: 'application/jsonl',
  yaml: 'application/yaml',
  yml: 'application/yaml',
  css: 'text/css',
  js: 'text/javascript',
}

/** Never rejects: bytes that no rule knows are `application/octet-stream`. */
export async function sniffType(firstBytes: Uint8Array, name: string): Promise<string> {
  const known = await fileTypeFromBuffer(firstBytes.subarray(0, SNIFFED_BYTES)).catch(() => undefined)
  const text = known === undefined || known.mime === 'application/xml' ? textOf(firstBytes) : null
  if (text !== null) return typeOfText(text, name) ?? known?.mime ?? 'text/plain'
  return known?.mime ?? BYTES
}

/** Null for bytes that are no text. The last character may be cut in two. */
function textOf(bytes: Uint8Array): string | null {
  const part = bytes.subarray(0, SNIFFED_BYTES)
  try {
    const text = new TextDecoder(encodingOf(part), { fatal: true }).decode(part, { stream: true })
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what text does not hold
    return /[\u0000-\u0008\u000e-\u001a\u001c-\u001f]/.test(text) ? null : text
  } catch {
    return null
  }
}

function encodingOf([first, second]: Uint8Array): string {
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  return first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8'
}

/** What the text itself shows comes first: a page stays a page whatever it is called. */
function typeOfText(text: string, name: string): string | null {
  const start = text.trimStart()
  if (/^(?:<!--[\s\S]*?-->\s*|<\?xml[^>]*\?>\s*)*<(?:!doctype html|html|head|body|script)\b/i.test(start))
    return 'text/html'
  if (/^(?:<!--[\s\S]*?-->\s*|<\?xml[^>]*\?>\s*)*(?:<!doctype svg[^>]*>\s*)?<svg\b/i.test(start)) return 'image/svg+xml'
  const extension = /\.([a-z0-9]+)$/i.exec(name)?.[1]?.toLowerCase() ?? ''
  if (Object.hasOwn(BY_EXTENSION, extension)) return BY_EXTENSION[extension]!
  if (extension !== 'txt' && isWholeJson(start)) return 'application/json'
  return null
}

function isWholeJson(text: string): boolean {
  if (!/^[[{]/.test(text) || text.length >= SNIFFED_BYTES) return false
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
