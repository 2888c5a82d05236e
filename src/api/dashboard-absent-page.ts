/** What stands under `/ui/` while there is no dashboard to show: why, and what to do. Without scripts; nothing is loaded from anywhere. */

import { createHash } from 'node:crypto'
import { html, type Markup } from '../run/html.ts'

/** `idle`: nobody is building it. */
export type DashboardBuildState = 'building' | 'failed' | 'idle'

const STYLE = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 38rem; margin: 4rem auto; padding: 0 1.5rem; }
pre { padding: 0.75rem 1rem; overflow-x: auto; border: 1px solid #8888; border-radius: 4px; }
`

export const ABSENT_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** The page asks again by itself while there is something to wait for. */
export const RELOAD_SECONDS = 2

const BY_HAND = html`<pre><code>npm run build -w dashboard</code></pre>
<p>It is shown as soon as it is there; the service need not be started again.</p>`

const TEXTS: Record<DashboardBuildState, { title: string; body: Markup }> = {
  building: {
    title: 'The dashboard is being built',
    body: html`<p>This happens once after an installation or an update and takes less than a minute. This page shows the dashboard as soon as it is ready.</p>`,
  },
  failed: {
    title: 'The dashboard could not be built',
    body: html`<p>The log of the service says why. To build it by hand, in the folder of the checkout:</p>
${BY_HAND}`,
  },
  idle: {
    title: 'The dashboard has not been built',
    body: html`<p>To build it, in the folder of the checkout:</p>
${BY_HAND}
<p>With <code>HOLDFAST_DASHBOARD_DIR</code> set, that folder must hold a built one.</p>`,
  },
}

export function absentPage(state: DashboardBuildState): string {
  const { title, body } = TEXTS[state]
  const reload =
    state === 'building' &&
    html`<meta http-equiv="refresh" content="${RELOAD_SECONDS}">
`
  const head = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
${reload}<title>${title}</title>
`
  const rest = html`</head>
<body>
<main>
<h1>${title}</h1>
${body}
<p>The service itself works: everything that the dashboard shows is also in its API.</p>
</main>
</body>
</html>
`
  return `${head.text}<style>${STYLE}</style>\n${rest.text}`
}
