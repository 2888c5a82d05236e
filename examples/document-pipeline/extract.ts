/** D2: the text of a document of any kind. What is past the limits of pages and characters is left out, and said so. */

import { type Deadline, deadlineIn } from './deadline.ts'
import { decodeText } from './decode-text.ts'
import { extractCsv } from './extract-csv.ts'
import { extractDocx } from './extract-docx.ts'
import { extractHtml } from './extract-html.ts'
import { extractMarkdown } from './extract-markdown.ts'
import { extractPdf } from './extract-pdf.ts'
import type { Identified } from './identify.ts'
import type { Limits } from './limits.ts'

export type Extracted = Omit<Identified, 'delimiter'> & {
  title: string | null
  text: string
  truncated: boolean
  rows: number | null
  columns: number | null
}

type Found = { text: string; truncated: boolean } & Partial<Pick<Extracted, 'title' | 'rows' | 'columns' | 'warnings'>>

const TITLE_CHARACTERS_MAX = 300

export async function extract(bytes: Buffer, identified: Identified, limits: Limits): Promise<Extracted> {
  const { delimiter: _, ...about } = identified
  const found = await textOf(bytes, identified, limits, deadlineIn(limits.extractMs))
  const text = clean(found.text)
  const warnings = [...about.warnings, ...(found.warnings ?? [])]
  if (found.truncated) warnings.push('only the first part was read; the rest is past the limits')
  return {
    ...about,
    title: found.title ? clean(found.title) : firstLine(text),
    text,
    truncated: found.truncated,
    rows: found.rows ?? null,
    columns: found.columns ?? null,
    warnings,
  }
}

async function textOf(bytes: Buffer, about: Identified, limits: Limits, deadline: Deadline): Promise<Found> {
  const { kind, encoding, delimiter } = about
  if (kind === 'pdf') return extractPdf(bytes, limits, deadline)
  if (kind === 'docx') return extractDocx(bytes, limits, deadline)
  const charactersMax = kind === 'text' ? limits.charactersMax : limits.sourceCharactersMax
  const source = decodeText(bytes, encoding ?? 'utf-8', charactersMax)
  if (kind === 'text') return { ...source, text: source.text.replaceAll('\r\n', '\n').trim() }
  if (kind === 'csv') return extractCsv(source.text, delimiter ?? ',', source.truncated, limits, deadline)
  const read = kind === 'html' ? extractHtml : extractMarkdown
  const found = await read(source.text, limits.charactersMax, deadline)
  return { ...found, truncated: found.truncated || source.truncated }
}

/** One spelling of each letter, and no NUL, which a database has no place for. */
function clean(text: string): string {
  return text.replaceAll('\0', '').normalize('NFC')
}

/** Where nothing says what the title is. */
function firstLine(text: string): string | null {
  const line = text.trimStart().split('\n', 1)[0]!.trim()
  return line ? line.slice(0, TITLE_CHARACTERS_MAX).toWellFormed() : null
}
