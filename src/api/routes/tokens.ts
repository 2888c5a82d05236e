/** Access tokens: make one (it is shown in that answer only), list them, revoke one. For administrators; each act is audited. */

import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { TokenBody, TokenListAnswer, TokenMadeAnswer, TokenObject } from '../../contract/access.ts'
import { PAGE_LIMIT_DEFAULT, PageQuery } from '../../contract/page.ts'
import { Refusal } from '../../run/errors.ts'
import type { Access } from '../access.ts'
import type { ApiDeps } from '../api.ts'
import { checkedBody } from '../body.ts'
import { storeNewToken } from '../make-token.ts'
import { presentToken } from '../present-token.ts'
import { actorOf } from '../principal.ts'
import { checkedQuery } from '../query.ts'
import type { RouteDoc } from '../route-doc.ts'
import { isRunId } from '../run-id.ts'
import { sendPrivate } from '../send-json.ts'

const MAKE_DOC: RouteDoc = {
  summary: 'Make an access token',
  description:
    'The token is in this answer only; the service keeps its hash. The first token ends open access: from then on every request needs one.',
  tag: 'access',
  body: TokenBody,
  answers: { 201: { description: 'The token. Keep it: it cannot be shown again.', schema: TokenMadeAnswer } },
  refusals: [],
}

const LIST_DOC: RouteDoc = {
  summary: 'List access tokens',
  description: 'Newest first, revoked and expired ones included.',
  tag: 'access',
  query: PageQuery,
  answers: { 200: { description: 'A page of tokens.', schema: TokenListAnswer } },
  refusals: [],
}

const REVOKE_DOC: RouteDoc = {
  summary: 'Revoke an access token',
  description:
    'It stops working within seconds, and so do the sessions that were started with it. Revoking again changes nothing.',
  tag: 'access',
  params: z.strictObject({ id: z.string() }),
  answers: { 200: { description: 'The token, revoked.', schema: TokenObject } },
  refusals: ['token-not-found'],
}

export function tokenRoutes(app: FastifyInstance, { store, log, access }: ApiDeps & { access: Access }): void {
  app.post('/tokens', { config: { role: 'admin', body: 'required', doc: MAKE_DOC } }, async (request, reply) => {
    const body = checkedBody(request, TokenBody)
    const { token, text } = await storeNewToken(store.tokens, body, actorOf(request))
    access.mode.close()
    const { id, role, owner } = token
    // Not token_id: values of names with that word are hidden in logs.
    log.info({ request_id: request.id, access_id: id, access_role: role, owner }, 'token made')
    return sendPrivate(reply.code(201), { ...presentToken(token), token: text } satisfies TokenMadeAnswer)
  })

  app.get('/tokens', { config: { role: 'admin', doc: LIST_DOC } }, async (request, reply) => {
    const { limit = PAGE_LIMIT_DEFAULT, cursor = null } = checkedQuery(request, PageQuery)
    const page = await store.tokens.list({ limit, cursor })
    const answer: TokenListAnswer = { data: page.tokens.map(presentToken), next_cursor: page.nextCursor }
    return sendPrivate(reply, answer)
  })

  app.delete('/tokens/:id', { config: { role: 'admin', doc: REVOKE_DOC } }, async (request, reply) => {
    const { id } = request.params as { id: string }
    const token = isRunId(id) ? await store.tokens.revoke(id.toLowerCase(), actorOf(request)) : null
    if (!token) throw new Refusal('token-not-found', `There is no token ${JSON.stringify(id)}.`)
    access.ended()
    log.info({ request_id: request.id, access_id: token.id }, 'token revoked')
    return sendPrivate(reply, presentToken(token))
  })
}
