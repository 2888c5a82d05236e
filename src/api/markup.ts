/** The little Markdown that descriptions use, as HTML. */

import { html, type Markup } from '../run/html.ts'

/** Paragraphs, lists of lines that begin with a dash, and `code`. */
export function prose(text: string): Markup {
  const blocks = text.split(/\n\s*\n/).filter((block) => block.trim() !== '')
  return html`${blocks.map((block) => {
    const lines = block.trim().split('\n')
    if (!lines.every((line) => line.startsWith('- '))) return html`<p>${words(block)}</p>\n`
    return html`<ul>${lines.map((line) => html`<li>${words(line.slice(2))}</li>`)}</ul>\n`
  })}`
}

/** One line of it. */
export function words(text: string): Markup {
  const pieces = text.trim().split(/`([^`]+)`/)
  return html`${pieces.map((piece, index) => (index % 2 === 1 ? html`<code>${piece}</code>` : piece))}`
}
