/**
 * The OpenAPI document as a page for people: every operation with its parameters, its answers and an example, every
 * schema and every error. One file without scripts; nothing is loaded from anywhere, and the policy sent with it forbids the browser to.
 */

import { createHash } from 'node:crypto'
import { html, type Markup } from '../run/html.ts'
import { prose, words } from './markup.ts'
import type { OpenApiDocument, Operation, Response } from './openapi.ts'
import type { JsonSchema } from './openapi-schemas.ts'
import { curlExample } from './reference-example.ts'
import { fieldTable, kindOf, OPTIONAL, schemaAnchor } from './reference-schema.ts'
import { REFERENCE_STYLE } from './reference-style.ts'

const styleHash = createHash('sha256').update(REFERENCE_STYLE).digest('base64')

export const REFERENCE_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${styleHash}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

type Entry = { path: string; method: string; operation: Operation }
type Tag = { name: string; description: string; entries: Entry[] }

export function renderReference(document: OpenApiDocument): string {
  const entries = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): Entry => ({ path, method: method.toUpperCase(), operation })),
  )
  const byTag: Tag[] = document.tags.map(({ name, description }) => ({
    name,
    description,
    entries: entries.filter(({ operation }) => operation.tags.includes(name)),
  }))
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${document.info.title} API</title>
`
  const body = html`</head>
<body>
<main>
<h1>${document.info.title} API</h1>
${prose(document.info.description)}
<p>The same as a file for programs: <a href="/openapi.json">OpenAPI 3.1</a>.</p>
<nav aria-label="Operations">
${byTag.map((tag) => html`<h4>${tag.name}</h4>\n<ul>${tag.entries.map(contentsLine)}</ul>\n`)}
<h4>more</h4>
<ul>
<li><a href="#access">How to be let in</a></li>
<li><a href="#errors">Errors</a></li>
<li><a href="#schemas">Schemas</a></li>
</ul>
</nav>
${accessSection(document)}
${byTag.map((tag) => tagSection(tag, document))}
${errorSection(document)}
${schemaSection(document)}
</main>
</body>
</html>
`
  return `${page.text}<style>${REFERENCE_STYLE}</style>\n${body.text}`
}

function contentsLine({ path, method, operation }: Entry): Markup {
  const { operationId, summary } = operation
  const name = html`<span class="method">${method}</span>${path}`
  return html`<li><a href="#${operationId}">${name}</a> <span class="soft">${summary}</span></li>\n`
}

function tagSection({ name, description, entries }: Tag, document: OpenApiDocument): Markup {
  return html`<h2 id="tag-${name}">${name}</h2>
<p>${words(description)}</p>
${entries.map((entry) => article(entry, document))}`
}

function accessSection({ components }: OpenApiDocument): Markup {
  return html`<h2 id="access">How to be let in</h2>
<ul>${Object.values(components.securitySchemes).map(({ description }) => html`<li>${words(String(description))}</li>`)}
<li>Without any tokens, on this machine only: no credentials are needed.</li></ul>
`
}

function article({ path, method, operation }: Entry, document: OpenApiDocument): Markup {
  const { operationId, summary, description, parameters = [], requestBody } = operation
  const body = requestBody && Object.values(requestBody.content)[0]?.schema
  return html`<article id="${operationId}">
<h3><a href="#${operationId}"><span class="method">${method}</span>${path}</a></h3>
<p>${summary}. <span class="soft">Needs the role ${operation['x-role']}.</span></p>
${description ? prose(description) : null}
${parameters.length > 0 && html`<h4>Parameters</h4>\n${parameterTable(parameters)}`}
${body && html`<h4>Body${requestBody.required ? '' : ', optional'}</h4>\n${bodyOf(body)}`}
<h4>Example</h4>
<pre><code>${curlExample(path, method, operation, document.components.schemas)}</code></pre>
<h4>Answers</h4>
${answerTable(operation, document)}
</article>
`
}

function bodyOf(schema: JsonSchema): Markup {
  return html`${fieldTable(schema) ?? html`<p>${kindOf(schema)}</p>\n`}`
}

function parameterTable(parameters: NonNullable<Operation['parameters']>): Markup {
  const rows = parameters.map(
    (one) => html`<tr><td><code>${one.name}</code>${one.required ? null : OPTIONAL}</td><td>${one.in}</td>
<td>${kindOf(one.schema)}</td><td>${words(one.description ?? '')}</td></tr>\n`,
  )
  return html`<div class="wide"><table><thead><tr><th>name</th><th>in</th><th>value</th><th>meaning</th></tr></thead><tbody>
${rows}</tbody></table></div>
`
}

function answerTable({ responses }: Operation, { components }: OpenApiDocument): Markup {
  const rows = Object.entries(responses).map(([status, response]) => {
    const shown = '$ref' in response ? components.responses[response.$ref.split('/').at(-1)!]! : response
    return html`<tr><td>${status}</td><td>${answerBody(shown)}</td><td>${answerWords(shown)}</td></tr>\n`
  })
  return html`<div class="wide"><table><thead><tr><th>status</th><th>body</th><th>meaning</th></tr></thead><tbody>
${rows}</tbody></table></div>
`
}

function answerBody({ content = {} }: Response): Markup {
  return html`${Object.entries(content).map(([type, { schema }]) => {
    if (type === 'application/problem+json') return html`<div><a href="#${schemaAnchor('Problem')}">Problem</a></div>`
    return html`<div>${type === 'application/json' ? kindOf(schema) : type}</div>`
  })}`
}

function answerWords({ description, content = {} }: Response): Markup {
  const codes = Object.keys(content['application/problem+json']?.examples ?? {})
  const links = codes.map((code) => html`<a href="#error-${code}"><code>${code}</code></a> `)
  const onlyProblems = codes.length > 0 && Object.keys(content).length === 1
  return html`${onlyProblems ? null : html`${words(description.split(' Or `')[0]!)} `}${links}`
}

function errorSection({ components }: OpenApiDocument): Markup {
  const rows = Object.entries(components.examples).map(([code, { value }]) => {
    const { status, title, next, retryable } = value as {
      status: number
      title: string
      next: string
      retryable: boolean
    }
    return html`<tr id="error-${code}"><td><code>${code}</code></td><td>${status}</td><td>${retryable ? 'yes' : 'no'}</td>
<td>${title}.</td><td>${next}</td></tr>\n`
  })
  return html`<h2 id="errors">Errors</h2>
<p>Build on the code; titles and details are for people. Retry says that the same request, sent again unchanged, may succeed.</p>
<div class="wide"><table>
<thead><tr><th>code</th><th>status</th><th>retry</th><th>meaning</th><th>what to do next</th></tr></thead><tbody>
${rows}</tbody></table></div>
`
}

function schemaSection({ components }: OpenApiDocument): Markup {
  return html`<h2 id="schemas">Schemas</h2>
${Object.entries(components.schemas).map(
  ([name, schema]) => html`<article id="${schemaAnchor(name)}"><h3>${name}</h3>
${schema.description ? prose(String(schema.description)) : null}${bodyOf(schema)}</article>\n`,
)}`
}
