/**
 * The text of a Word document: what stands in the paragraphs of its main part. Deleted text, field codes and the second
 * version of drawings are left out. No XML entity but the five that XML has is known; a document that declares some is refused.
 */

import type { Deadline } from './deadline.ts'
import { decodeText, encodingOf } from './decode-text.ts'
import { MAIN_PART } from './identify.ts'
import type { Limits } from './limits.ts'
import { openZip } from './open-zip.ts'
import { RefusedDocument } from './refused-document.ts'
import { TextBuilder } from './text-builder.ts'

export type DocxText = { text: string; truncated: boolean }

const CHUNK_CHARACTERS = 64 * 1024
const DEPTH_MAX = 1000

export async function extractDocx(bytes: Buffer, limits: Limits, deadline: Deadline): Promise<DocxText> {
  const zip = await openZip(bytes, limits)
  const part = await zip.read(MAIN_PART)
  const encoding = encodingOf(part)
  if (encoding === null) throw damaged('its main part is no text')
  const { text: xml } = decodeText(part, encoding, limits.partBytesMax)
  const text = new TextBuilder(limits.charactersMax)
  const at = await readXml(xml, text, deadline)
  return { text: text.toString(), truncated: at < xml.length }
}

/** Answers how far it read: to the end, or until the text was full. */
async function readXml(xml: string, text: TextBuilder, deadline: Deadline): Promise<number> {
  const { Parser } = await import('htmlparser2')
  const state = { depth: 0, inText: false, fallbackDepth: 0, isDocument: false, isClosed: false }
  const parser = new Parser(
    {
      onprocessinginstruction(name) {
        if (name.startsWith('!')) throw unsafe()
      },
      onopentagname(name) {
        if (++state.depth > DEPTH_MAX) throw damaged(`its elements are nested more than ${DEPTH_MAX} deep`)
        if (name === 'w:document') state.isDocument = true
        if (name === 'mc:Fallback') state.fallbackDepth++
        state.inText = name === 'w:t' && state.fallbackDepth === 0
        if (name === 'w:tab') text.addTab()
        else if (name === 'w:br' || name === 'w:cr') text.breakLine()
      },
      onclosetag(name, isImplied) {
        state.depth--
        state.inText = false
        if (name === 'mc:Fallback') state.fallbackDepth--
        else if (name === 'w:p') text.breakLine()
        else if (name === 'w:tbl') text.breakLine(2)
        else if (name === 'w:document' && !isImplied) state.isClosed = true
      },
      ontext(piece) {
        if (state.inText) text.add(piece)
      },
    },
    { xmlMode: true, decodeEntities: true },
  )
  let at = 0
  for (; at < xml.length && !text.isFull; at += CHUNK_CHARACTERS) {
    deadline.check()
    parser.write(xml.slice(at, at + CHUNK_CHARACTERS))
  }
  parser.end()
  if (!state.isDocument) throw damaged('its main part is not what Word writes')
  if (!state.isClosed && !text.isFull) throw damaged('its main part breaks off')
  return Math.min(at, xml.length)
}

function damaged(why: string): RefusedDocument {
  return new RefusedDocument('DamagedDocument', `the document is damaged: ${why}; save it again and upload that`)
}

function unsafe(): RefusedDocument {
  const message = 'the document declares XML entities, which no word processor does; save it again with one you trust'
  return new RefusedDocument('UnsafeDocument', message)
}
