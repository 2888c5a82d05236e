/** The text of an HTML document as a reader would see it: no scripts, styles or comments, blocks on lines of their own. */

import type { Deadline } from './deadline.ts'
import { RefusedDocument } from './refused-document.ts'
import { TextBuilder } from './text-builder.ts'

export type HtmlText = { title: string | null; text: string; truncated: boolean }

const CHUNK_CHARACTERS = 16 * 1024
/** A stray end tag makes the parser look through all open elements. */
const DEPTH_MAX = 20_000
const TITLE_CHARACTERS_MAX = 300
const INVISIBLE = words('script style template noscript iframe object svg math canvas select datalist')
const PARAGRAPHS = words(
  'p h1 h2 h3 h4 h5 h6 ul ol dl table blockquote pre section article aside header footer nav main',
)
const LINES = words('div br hr li dt dd tr figure figcaption form fieldset address details summary caption')
const CELLS = words('td th')

export async function extractHtml(html: string, charactersMax: number, deadline: Deadline): Promise<HtmlText> {
  const { Parser } = await import('htmlparser2')
  const text = new TextBuilder(charactersMax)
  const title = new TextBuilder(TITLE_CHARACTERS_MAX)
  let invisibleDepth = 0
  let titleDepth = 0
  let depth = 0
  const parser = new Parser({
    onopentagname(name) {
      if (++depth > DEPTH_MAX) throw tooDeep()
      if (INVISIBLE.has(name)) invisibleDepth++
      else if (name === 'title') titleDepth++
      else breakAt(name, text)
    },
    onclosetag(name) {
      depth--
      if (INVISIBLE.has(name)) invisibleDepth--
      else if (name === 'title') titleDepth--
      else breakAt(name, text)
    },
    ontext(piece) {
      if (invisibleDepth > 0) return
      if (titleDepth > 0) title.add(piece)
      else text.add(piece)
    },
  })
  let at = 0
  for (; at < html.length && !text.isFull; at += CHUNK_CHARACTERS) {
    deadline.check()
    parser.write(html.slice(at, at + CHUNK_CHARACTERS))
  }
  parser.end()
  return { title: title.toString() || null, text: text.toString(), truncated: text.isFull && at < html.length }
}

function breakAt(name: string, text: TextBuilder): void {
  if (PARAGRAPHS.has(name)) text.breakLine(2)
  else if (LINES.has(name)) text.breakLine()
  else if (CELLS.has(name)) text.addTab()
}

function tooDeep(): RefusedDocument {
  const message = `its elements are nested more than ${DEPTH_MAX} deep; save the page as plain text`
  return new RefusedDocument('DamagedDocument', message)
}

function words(list: string): Set<string> {
  return new Set(list.split(' '))
}
