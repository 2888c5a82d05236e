/** A letter as HTML: no images, no scripts, nothing that is loaded from anywhere. Whatever is not our own words is escaped by `html`. */

import { html, type Markup } from '../../run/html.ts'
import { number } from './documents.ts'
import type { Block, Footer, Letter } from './letter.ts'

export function asHtml({ subject, blocks }: Letter, footer: Footer | null): string {
  return html`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${subject}</title></head>
<body style="margin:0;padding:24px;font:16px/1.5 system-ui,sans-serif;color:#1a1a1a;background:#fff">
<div style="max-width:600px">
${blocks.map(markupOf)}${footer && footerMarkup(footer)}</div>
</body>
</html>
`.text
}

function markupOf(block: Block): Markup {
  switch (block.kind) {
    case 'paragraph':
      return html`<p>${block.text}</p>\n`
    case 'documents':
      return html`<ul>
${block.documents.map(({ name, url }) => html`<li><a href="${url}">${name}</a></li>\n`)}</ul>
${block.more > 0 && html`<p>and ${number(block.more)} more</p>\n`}`
    case 'facts':
      return html`${block.rows.map(({ name, value }) => html`<p><strong>${name}:</strong> ${value}</p>\n`)}`
    case 'link':
      return html`<p><a href="${block.url}">${block.label}</a></p>\n`
  }
}

function footerMarkup({ why, unsubscribeUrl }: Footer): Markup {
  const link =
    unsubscribeUrl !== null && html` <a href="${unsubscribeUrl}" style="color:#666">Get no more of these.</a>`
  return html`<hr style="border:0;border-top:1px solid #ddd;margin-top:32px">
<p style="font-size:13px;color:#666">${why}${link}</p>
`
}
