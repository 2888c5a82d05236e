/** The text of a PDF, page by page in the order it was written, up to the limits on pages, characters and time. */

import type { PDFDocumentProxy } from 'unpdf/pdfjs'
import type { Deadline } from './deadline.ts'
import type { Limits } from './limits.ts'
import { withPdf } from './open-pdf.ts'
import { RefusedDocument } from './refused-document.ts'
import { TextBuilder } from './text-builder.ts'

export type PdfText = { title: string | null; text: string; pagesRead: number; truncated: boolean; warnings: string[] }

const TITLE_CHARACTERS_MAX = 300
/** A page tree that says it holds a billion pages is believed this far. */
const LOST_PAGES_MAX = 20

export async function extractPdf(bytes: Buffer, limits: Limits, deadline: Deadline): Promise<PdfText> {
  return withPdf(bytes, async (pdf) => {
    const text = new TextBuilder(limits.charactersMax)
    const pageCount = Math.min(pdf.numPages, limits.pagesMax)
    let pagesRead = 0
    let pagesLost = 0
    let lastError: unknown
    for (let number = 1; number <= pageCount && !text.isFull && pagesLost < LOST_PAGES_MAX; number++) {
      try {
        await readPage(pdf, number, text, deadline)
        pagesRead++
      } catch (thrown) {
        if (thrown instanceof RefusedDocument) throw thrown
        pagesLost++
        lastError = thrown
      }
    }
    if (pagesRead === 0) throw lastError ?? new Error('it has no pages')
    const warnings = [
      ...(pagesLost > 0 ? [`${pagesLost} pages could not be read`] : []),
      ...(text.length === 0 ? ['it holds no text, as a scan does; recognise its letters first'] : []),
    ]
    const truncated = text.isFull || pagesRead + pagesLost < pdf.numPages
    return { title: await titleOf(pdf), text: text.toString(), pagesRead, truncated, warnings }
  })
}

async function readPage(pdf: PDFDocumentProxy, number: number, text: TextBuilder, deadline: Deadline): Promise<void> {
  deadline.check()
  const page = await pdf.getPage(number)
  const reader = page.streamTextContent().getReader()
  try {
    for (let chunk = await reader.read(); !chunk.done && !text.isFull; chunk = await reader.read()) {
      deadline.check()
      for (const item of chunk.value.items) {
        if (!('str' in item)) continue
        text.add(item.str)
        if (item.hasEOL) text.breakLine()
      }
    }
  } finally {
    await reader.cancel(new Error('enough read')).catch(() => {})
    page.cleanup()
  }
  text.breakLine(2)
}

async function titleOf(pdf: PDFDocumentProxy): Promise<string | null> {
  const about = await pdf.getMetadata().catch(() => null)
  const title = (about?.info as { Title?: unknown } | undefined)?.Title
  return typeof title === 'string' && title.trim() ? title.trim().slice(0, TITLE_CHARACTERS_MAX).toWellFormed() : null
}
