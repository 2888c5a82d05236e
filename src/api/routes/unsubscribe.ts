/**
 * The link at the end of each mail. GET asks and changes nothing: programs that look for bad links open it too. POST unsubscribes: the
 * page does it, and mail programs do it with one click. The link itself is the right to do so, hence nobody has to sign in.
 */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { UnsubscribeQuery } from '../../contract/recipient.ts'
import { Refusal } from '../../run/errors.ts'
import { readUnsubscribeToken, type Unsubscription } from '../../run/unsubscribe-token.ts'
import type { ApiDeps } from '../api.ts'
import { checkedQuery } from '../query.ts'
import { askPage, donePage, nothingPage, UNSUBSCRIBE_POLICY } from '../unsubscribe-page.ts'
import { UNSUBSCRIBE_DOC, UNSUBSCRIBE_PAGE_DOC } from './recipient-docs.ts'

const BODY_BYTES_MAX = 8_192

export function unsubscribeRoutes(app: FastifyInstance, { store, log }: ApiDeps): void {
  let key: Promise<string> | null = null

  async function askedOf(request: FastifyRequest): Promise<Unsubscription & { token: string }> {
    const { token, all } = checkedQuery(request, UnsubscribeQuery)
    key ??= store.signingKey('unsubscribe').catch((error) => {
      key = null
      throw error
    })
    const asked = readUnsubscribeToken(await key, token)
    if (!asked) {
      throw new Refusal(
        'unsubscribe-link-invalid',
        'This link is not whole, or was not made here. Nothing was changed.',
      )
    }
    return { ...asked, token, ...(all === 'true' && { kind: null }) }
  }

  app.get('/unsubscribe', { config: { role: 'public', doc: UNSUBSCRIBE_PAGE_DOC } }, async (request, reply) => {
    const asked = await askedOf(request)
    const found = await store.receivers.findAddress(asked.receiverId, null)
    return sendPage(reply, found ? askPage({ ...asked, address: found.address }) : nothingPage())
  })

  app.register((scope, _options, done) => {
    // A mail program sends a form, and the link says everything: whatever comes is read to its end and not looked at.
    scope.removeAllContentTypeParsers()
    const whole = { parseAs: 'buffer', bodyLimit: BODY_BYTES_MAX } as const
    scope.addContentTypeParser('*', whole, (_request, _bytes, parsed) => parsed(null))
    const post = { role: 'public', body: 'upload', doc: UNSUBSCRIBE_DOC } as const
    scope.post('/unsubscribe', { config: post }, async (request, reply) => {
      const { receiverId, kind } = await askedOf(request)
      const left = await store.receivers.unsubscribe(receiverId, kind)
      log.info({ request_id: request.id, receiver_id: receiverId, kind: kind ?? 'all' }, 'unsubscribed')
      return sendPage(reply, left ? donePage({ address: left.address, kind }) : nothingPage())
    })
    done()
  })
}

function sendPage(reply: FastifyReply, text: string): FastifyReply {
  return (
    reply
      .header('Content-Type', 'text/html; charset=utf-8')
      .header('Content-Security-Policy', UNSUBSCRIBE_POLICY)
      .header('X-Content-Type-Options', 'nosniff')
      .header('Cache-Control', 'no-store')
      // The address holds the token. Under `no-referrer` browsers would call the origin of the form null, which is refused.
      .header('Referrer-Policy', 'same-origin')
      .send(text)
  )
}
