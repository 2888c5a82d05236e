/** The pages behind the link in a mail. One file without scripts; nothing is loaded from anywhere, and the policy sent with it forbids the browser to. */

import { createHash } from 'node:crypto'
import type { MailKind } from '../run/fact-kinds.ts'
import { html, type Markup } from '../run/html.ts'

const STYLE = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 34rem; margin: 4rem auto; padding: 0 1.5rem; }
button { font: inherit; padding: 0.5rem 1rem; margin: 0.25rem 0; cursor: pointer; }
`

export const UNSUBSCRIBE_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ')

const ABOUT: Record<MailKind, string> = {
  duplicate: 'documents that had been uploaded before',
  failure: 'documents that could not be processed',
  progress: 'how many documents are done',
  batch_finished: 'uploads that are finished',
}

/** Asks, and changes nothing. The forms lead to the same path, wherever that is. */
export function askPage({ address, kind, token }: { address: string; kind: MailKind | null; token: string }): string {
  const one = kind && form(`?token=${token}`, `No more mails about ${ABOUT[kind]}`)
  return page(
    'Unsubscribe',
    html`<p>Which mails should no longer come to <strong>${address}</strong>?</p>
${one}${form(`?token=${token}&all=true`, 'No more mails at all')}<p>Nothing changes until you choose.</p>`,
  )
}

export function donePage({ address, kind }: { address: string; kind: MailKind | null }): string {
  const which = kind === null ? 'no more mails' : html`no more mails about ${ABOUT[kind]}`
  return page(
    'Unsubscribed',
    html`<p><strong>${address}</strong> gets ${which}. One that is on its way at this moment may still come.</p>
<p>To get them again, ask whoever runs the service, or put the address back under its recipients.</p>`,
  )
}

/** Of an address that was deleted meanwhile. */
export function nothingPage(): string {
  return page('Unsubscribed', html`<p>This address gets no mails from here any more. There is nothing left to do.</p>`)
}

function form(action: string, label: string): Markup {
  return html`<form method="post" action="${action}"><button>${label}</button></form>
`
}

function page(title: string, body: Markup): string {
  const head = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title}</title>
`
  const rest = html`</head>
<body>
<main>
<h1>${title}</h1>
${body}
</main>
</body>
</html>
`
  return `${head.text}<style>${STYLE}</style>\n${rest.text}`
}
