/**
 * Sessions for people: a token is exchanged for a cookie, so that no script of a page ever holds the token. The cookie carries a secret
 * of its own whose hash is a row beside its token; it may do what the token may, and ends with it, by time, or by signing out.
 */

import type { FastifyInstance } from 'fastify'
import { SessionBody, SessionObject } from '../../contract/access.ts'
import { Refusal } from '../../run/errors.ts'
import type { Credential } from '../../store/ports/tokens.ts'
import type { Access } from '../access.ts'
import type { ApiDeps } from '../api.ts'
import { checkedBody } from '../body.ts'
import { principalOf } from '../principal.ts'
import type { RouteDoc } from '../route-doc.ts'
import { sendPrivate } from '../send-json.ts'
import { hashOf, makeSession } from '../token-text.ts'

/** A week. */
const SESSION_SECONDS = 7 * 24 * 3600

const COOKIE = {
  'Set-Cookie': '`__Host-holdfast`, HttpOnly, Secure, SameSite=Strict; on plain http on this machine `holdfast`.',
}

const START_DOC: RouteDoc = {
  summary: 'Exchange a token for a session cookie',
  description:
    'For browsers. While the service is open there is nothing to exchange: the answer says so and sets no cookie.',
  tag: 'access',
  body: SessionBody,
  answers: { 200: { description: 'Who the caller is from now on.', schema: SessionObject, headers: COOKIE } },
  refusals: ['unauthorized', 'rate-limited'],
}

const READ_DOC: RouteDoc = {
  summary: 'Who am I',
  description: 'Answers everyone: without a valid token or session, role and owner are null.',
  tag: 'access',
  answers: { 200: { description: 'Who the caller is.', schema: SessionObject } },
  refusals: [],
}

const END_DOC: RouteDoc = {
  summary: 'End the session',
  description: 'Ends the session of the cookie and takes the cookie back. Without one nothing changes.',
  tag: 'access',
  answers: { 204: { description: 'There is no session any more.', headers: COOKIE } },
  refusals: [],
}

export function sessionRoutes(app: FastifyInstance, deps: ApiDeps & { access: Access }): void {
  const { store, access, log } = deps

  app.post('/session', { config: { role: 'public', body: 'required', doc: START_DOC } }, async (request, reply) => {
    const { token: text } = checkedBody(request, SessionBody)
    if (request.caller === 'open') return sendPrivate(reply, openSession(principalOf(request).owner))
    const { token } = await access.liveToken(text)
    const limited = access.limited(token.id, reply)
    if (limited) throw limited
    const session = makeSession()
    const started = await store.tokens.startSession({
      hash: hashOf(session),
      tokenId: token.id,
      ttlSeconds: SESSION_SECONDS,
    })
    if (!started) throw new Refusal('unauthorized', 'The access token has ended.')
    log.info({ request_id: request.id, access_id: token.id, owner: token.owner }, 'session started')
    reply.header('Set-Cookie', access.cookieOf(request, session, SESSION_SECONDS))
    return sendPrivate(reply, tokenSession({ token, sessionExpiresAt: started.expiresAt }))
  })

  app.get('/session', { config: { role: 'public', doc: READ_DOC } }, async (request, reply) => {
    if (request.caller === 'open') return sendPrivate(reply, openSession(principalOf(request).owner))
    const found = await access.whoAsks(request)
    return sendPrivate(reply, found ? tokenSession(found) : { ...NOBODY_SESSION })
  })

  app.delete('/session', { config: { role: 'public', doc: END_DOC } }, async (request, reply) => {
    const session = access.sessionOf(request)
    if (session !== null) {
      const refused = access.guardCookie(request)
      if (refused) throw refused
      await store.tokens.endSession(hashOf(session))
      access.ended()
    }
    return reply
      .code(204)
      .header('Set-Cookie', access.cookieOf(request, '', 0))
      .send()
  })
}

const NOBODY_SESSION: SessionObject = {
  mode: 'tokens',
  role: null,
  owner: null,
  token_id: null,
  token_name: null,
  expires_at: null,
}

function openSession(owner: string): SessionObject {
  return { ...NOBODY_SESSION, mode: 'open', role: 'admin', owner }
}

function tokenSession({ token, sessionExpiresAt }: Pick<Credential, 'token' | 'sessionExpiresAt'>): SessionObject {
  const { id, name, role, owner, expiresAt } = token
  const endsAt = sessionExpiresAt ?? expiresAt
  return {
    mode: 'tokens',
    role,
    owner,
    token_id: id,
    token_name: name,
    expires_at: endsAt?.toISOString() ?? null,
  }
}
