/**
 * The dashboard under `/ui/`. Everyone gets it: it holds no data, and everything it shows it asks the API for, as whoever signed in. Every path
 * below that names no file is a view of the app and answers with its page, so that every view has a link.
 */

import { randomBytes } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { Refusal } from '../../run/errors.ts'
import { chooseEncoding } from '../accept-encoding.ts'
import type { ApiDeps } from '../api.ts'
import { ABSENT_POLICY, absentPage, RELOAD_SECONDS } from '../dashboard-absent-page.ts'
import { createDashboardFolder, type DashboardFile } from '../dashboard-folder.ts'
import { baseFrom, dashboardPolicy, fillPage, pathBelow } from '../dashboard-page.ts'
import { namesEtag } from '../etag.ts'
import type { RouteDoc } from '../route-doc.ts'

const CONDITION = { 'if-none-match': 'The ETag of an earlier answer; 304 when it still holds.' }

const ROOT_DOC: RouteDoc = {
  summary: 'Go to the dashboard',
  description: 'For a browser. A program, which does not ask for HTML, gets 404.',
  tag: 'service',
  answers: { 302: { description: 'A browser is sent to the dashboard.', headers: { Location: '`ui/`, relatively.' } } },
  refusals: ['not-found'],
}

const ENTRY_DOC: RouteDoc = {
  summary: 'Go to the dashboard',
  tag: 'service',
  answers: { 302: { description: 'The dashboard is one slash further.', headers: { Location: '`ui/`, relatively.' } } },
  refusals: [],
}

const PAGE_DOC: RouteDoc = {
  summary: 'Load the dashboard',
  description:
    'The files of the web app. Every path that names none of them, outside `assets/`, answers with its page.',
  tag: 'service',
  params: z.object({ path: z.string().describe('Of a file or a view of the app; it may have slashes.') }),
  headers: CONDITION,
  answers: {
    200: {
      description: 'The page, or a file of the app.',
      type: 'text/html',
      also: [
        'text/javascript',
        'text/css',
        'image/svg+xml',
        'image/png',
        'image/x-icon',
        'font/woff2',
        'application/json',
        'application/manifest+json',
        'text/plain',
        'application/octet-stream',
      ],
      headers: { ETag: 'Of a file: names these very bytes.' },
    },
    304: { description: 'The caller has the file.' },
    503: { description: 'There is no dashboard yet; the page says why.', type: 'text/html' },
  },
  refusals: ['not-found'],
}

export function dashboardRoutes(app: FastifyInstance, { dashboard, log }: ApiDeps): void {
  const folder = dashboard ? createDashboardFolder({ dir: dashboard.dir, log }) : null
  const state = () => dashboard?.buildState?.() ?? 'idle'

  app.get('/', { config: { role: 'public', doc: ROOT_DOC } }, async (request, reply) => {
    reply.header('Vary', 'Accept')
    if (/\btext\/html\b/i.test(request.headers.accept ?? '')) return redirect(request, reply)
    throw new Refusal('not-found', 'There is nothing at "/". The API is described at /docs/api and /openapi.json.')
  })

  app.get('/ui', { config: { role: 'public', doc: ENTRY_DOC } }, async (request, reply) => redirect(request, reply))

  app.get('/ui/*', { config: { role: 'public', doc: PAGE_DOC } }, async (request, reply) => {
    const below = pathBelow(request.url)
    if (below === null) throw nothingAt(request)
    const path = (request.params as { '*': string })['*']
    const file = (await folder?.file(path)) ?? null
    if (file) return sendFile(request, reply, file, path.startsWith('assets/'))
    if (path.startsWith('assets/')) throw nothingAt(request)
    const built = (await folder?.page()) ?? null
    return built === null ? sendAbsent(reply, state()) : sendPage(reply, built, baseFrom(below))
  })
}

/** Relative to where the browser is, which only the browser knows. */
function redirect(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const query = /\?[^#]*/.exec(request.url)?.[0] ?? ''
  return reply.code(302).header('Location', `ui/${query}`).header('Cache-Control', 'no-store').send()
}

function nothingAt(request: FastifyRequest): Refusal {
  const path = request.url.split('?', 1)[0]!
  return new Refusal('not-found', `There is nothing at ${JSON.stringify(path.slice(0, 200))}.`)
}

async function sendFile(
  request: FastifyRequest,
  reply: FastifyReply,
  file: DashboardFile,
  isHashed: boolean,
): Promise<FastifyReply> {
  const encoding = chooseEncoding(request.headers['accept-encoding'], file.encodings)
  const etag = file.etag(encoding)
  reply
    .header('ETag', etag)
    // The name of an asset changes with its bytes.
    .header('Cache-Control', isHashed ? 'public, max-age=31536000, immutable' : 'no-cache')
    .header('Vary', 'Accept-Encoding')
    .header('X-Content-Type-Options', 'nosniff')
    .header('Referrer-Policy', 'no-referrer')
    .header('Cross-Origin-Resource-Policy', 'same-origin')
  if (namesEtag(request.headers['if-none-match'], etag)) return reply.code(304).send()
  if (encoding !== 'identity') reply.header('Content-Encoding', encoding)
  return reply.header('Content-Type', file.type).send(await file.bytes(encoding))
}

function sendPage(reply: FastifyReply, built: string, base: string): FastifyReply {
  const nonce = randomBytes(16).toString('base64url')
  return asHtml(reply, dashboardPolicy(nonce)).send(fillPage(built, { base, nonce }))
}

function sendAbsent(reply: FastifyReply, state: Parameters<typeof absentPage>[0]): FastifyReply {
  return asHtml(reply, ABSENT_POLICY).code(503).header('Retry-After', RELOAD_SECONDS).send(absentPage(state))
}

function asHtml(reply: FastifyReply, policy: string): FastifyReply {
  return (
    reply
      .header('Content-Type', 'text/html; charset=utf-8')
      .header('Content-Security-Policy', policy)
      // What is allowed in it is said anew with each answer.
      .header('Cache-Control', 'no-store')
      .header('X-Content-Type-Options', 'nosniff')
      .header('Referrer-Policy', 'no-referrer')
  )
}
