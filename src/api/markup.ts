/** HTML put together from text: whatever is not markup already is escaped, so that no text can become markup by accident. */

export class Markup {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

export type Fragment = Markup | string | number | null | false | undefined | readonly Fragment[]

export function html(parts: TemplateStringsArray, ...fragments: Fragment[]): Markup {
  return new Markup(parts.map((part, index) => part + textOf(fragments[index])).join(''))
}

function textOf(fragment: Fragment): string {
  if (fragment === null || fragment === undefined || fragment === false) return ''
  if (fragment instanceof Markup) return fragment.text
  if (typeof fragment === 'object') return fragment.map(textOf).join('')
  return escapeHtml(String(fragment))
}

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ESCAPES[character]!)
}

/** The little Markdown that descriptions use: paragraphs, lists of lines that begin with a dash, and `code`. */
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
