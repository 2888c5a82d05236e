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
