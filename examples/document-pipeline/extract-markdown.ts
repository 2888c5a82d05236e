/** The text of a Markdown document: its words without the marks, HTML in it read as HTML. The first heading is the title. */

import type { Deadline } from './deadline.ts'
import { extractHtml, type HtmlText } from './extract-html.ts'
import { TextBuilder } from './text-builder.ts'

const TITLE_CHARACTERS_MAX = 300

export async function extractMarkdown(source: string, charactersMax: number, deadline: Deadline): Promise<HtmlText> {
  const { default: markdownIt } = await import('markdown-it')
  const tokens = markdownIt({ html: true, linkify: false, typographer: false }).parse(source, {})
  const text = new TextBuilder(charactersMax)
  let title: string | null = null
  for (const [index, token] of tokens.entries()) {
    if (index % 100 === 0) deadline.check()
    if (token.type === 'inline') {
      const words = (token.children ?? []).map(wordsOf).join('')
      if (title === null && tokens[index - 1]?.type === 'heading_open') title = words.slice(0, TITLE_CHARACTERS_MAX)
      for (const line of words.split('\n')) {
        text.add(line)
        text.breakLine()
      }
    } else if (token.type === 'html_block') {
      const inside = await extractHtml(token.content, charactersMax - text.length, deadline)
      addLines(text, inside.text)
    } else if (token.type === 'fence' || token.type === 'code_block') addLines(text, token.content)
    if (token.nesting === -1 && token.block) text.breakLine(token.type === 'paragraph_close' && token.hidden ? 1 : 2)
    if (text.isFull) break
  }
  return { title: title?.toWellFormed() || null, text: text.toString(), truncated: text.isFull }
}

type Token = { type: string; content: string }

function wordsOf({ type, content }: Token): string {
  if (type === 'softbreak' || type === 'hardbreak') return '\n'
  return type === 'html_inline' ? ' ' : content
}

function addLines(text: TextBuilder, lines: string): void {
  for (const line of lines.split('\n')) {
    text.add(line)
    text.breakLine()
  }
}
