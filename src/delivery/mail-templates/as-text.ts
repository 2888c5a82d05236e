/** A letter as plain text. */

import { number } from './documents.ts'
import type { Block, Footer, Letter } from './letter.ts'

export function asText({ blocks }: Letter, footer: Footer | null): string {
  const parts = blocks.map(textOf).filter((text) => text !== '')
  return `${[...parts, ...(footer ? [footerText(footer)] : [])].join('\n\n')}\n`
}

function textOf(block: Block): string {
  switch (block.kind) {
    case 'paragraph':
      return block.text
    case 'documents': {
      const named = block.documents.map(({ name, url }) => `- ${name}\n  ${url}`)
      return [...named, ...(block.more > 0 ? [`and ${number(block.more)} more`] : [])].join('\n')
    }
    case 'facts':
      return block.rows.map(({ name, value }) => `${name}: ${value}`).join('\n')
    case 'link':
      return `${block.label}: ${block.url}`
  }
}

// The line of two dashes and a blank is how mail programs know a footer.
function footerText({ why, unsubscribeUrl }: Footer): string {
  return `-- \n${why}${unsubscribeUrl === null ? '' : `\nTo get no more of these: ${unsubscribeUrl}`}`
}
