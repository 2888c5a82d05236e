/** The text of a table: a line per record, its fields divided by tabs. Records may differ in length; a quote must be closed. */

import type { Deadline } from './deadline.ts'
import type { Limits } from './limits.ts'
import { RefusedDocument, tooWide } from './refused-document.ts'
import { TextBuilder } from './text-builder.ts'

export type CsvText = { text: string; rows: number; columns: number; truncated: boolean }

/** `isCut`: the source ends in the middle of the table, perhaps in a quoted field. */
export async function extractCsv(
  source: string,
  delimiter: string,
  isCut: boolean,
  limits: Limits,
  deadline: Deadline,
): Promise<CsvText> {
  const { parse } = await import('csv-parse/sync')
  const text = new TextBuilder(limits.charactersMax)
  let rows = 0
  let columns = 0
  const onRecord = (fields: string[]) => {
    if (fields.length > limits.columnsMax) throw tooWide(fields.length, limits.columnsMax)
    if (rows++ % 1000 === 0) deadline.check()
    columns = Math.max(columns, fields.length)
    if (!text.isFull) addRecord(text, fields)
    return null
  }
  try {
    parse(source, {
      bom: true,
      delimiter,
      to: limits.rowsMax,
      skip_empty_lines: true,
      relax_column_count: true,
      relax_quotes: true,
      max_record_size: limits.charactersMax,
      on_record: onRecord,
    })
  } catch (cause) {
    const code = (cause as { code?: string }).code
    if (!(isCut && code === 'CSV_QUOTE_NOT_CLOSED')) throw refusalOf(cause, code)
  }
  return { text: text.toString(), rows, columns, truncated: isCut || text.isFull || rows >= limits.rowsMax }
}

/** Each field becomes a sentence part of its own, so that neighbours do not run together. */
function addRecord(text: TextBuilder, fields: string[]): void {
  for (const [index, field] of fields.entries()) {
    if (index > 0) text.addTab()
    text.add(field)
  }
  text.breakLine()
}

function refusalOf(cause: unknown, code?: string): unknown {
  if (cause instanceof RefusedDocument) return cause
  if (code === 'CSV_MAX_RECORD_SIZE') {
    return new RefusedDocument('DocumentTooLarge', 'a record of the table is too long; is a line end missing?', {
      cause,
    })
  }
  if (code === 'CSV_QUOTE_NOT_CLOSED') {
    return new RefusedDocument('DamagedDocument', 'a quote in the table is never closed; add the one that is missing', {
      cause,
    })
  }
  if (!code?.startsWith('CSV_')) return cause
  const { message } = cause as Error
  return new RefusedDocument('DamagedDocument', `the table cannot be read: ${message}; mend that line`, { cause })
}
