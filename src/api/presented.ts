/** What a request shows to say who asks: a bearer token, or the session cookie of a browser; and what that is worth. */

import type { FastifyRequest } from 'fastify'
import { Refusal } from '../run/errors.ts'
import type { Credential } from '../store/ports/tokens.ts'
import type { KnownTokens } from './known-tokens.ts'
import { type CookiePlace, sessionOf } from './session-cookie.ts'
import { isToken } from './token-text.ts'

const BEARER = /^bearer +(\S+)$/i

export type Presented = { text: string; isCookie: boolean }

/** An Authorization header decides alone, also when it is wrong. */
export function presentedBy(request: FastifyRequest, place: CookiePlace): Presented | Refusal {
  const { authorization } = request.headers
  if (authorization !== undefined) {
    const text = BEARER.exec(authorization)?.[1]
    if (text !== undefined && isToken(text)) return { text, isCookie: false }
    return new Refusal('unauthorized', 'The Authorization header does not hold a token of this service.')
  }
  const session = sessionOf(request, place)
  if (session !== null) return { text: session, isCookie: true }
  return new Refusal('unauthorized', 'This request needs an access token, and there is none with it.')
}

/** The refusal of what does not open anything any more, or never did. */
export function worthless(found: Credential | null, isCookie: boolean): Refusal | undefined {
  if (found?.state === 'live') return undefined
  const what = isCookie ? 'session' : 'access token'
  if (found === null) return new Refusal('unauthorized', `The ${what} is not known here.`)
  return new Refusal('unauthorized', `The ${what} ${found.state === 'expired' ? 'has expired' : 'was revoked'}.`)
}

/** Who asks on a public route: null for a caller who shows nothing that is worth something. */
export async function whoAsks(
  tokens: KnownTokens,
  request: FastifyRequest,
  place: CookiePlace,
): Promise<Credential | null> {
  const presented = presentedBy(request, place)
  if (presented instanceof Refusal) return null
  const found = await tokens.find(presented.text)
  return found?.state === 'live' ? found : null
}

/** What the token in this text is worth; throws the refusal of a request that presents it. */
export async function liveToken(tokens: KnownTokens, text: string): Promise<Credential> {
  const found = isToken(text) ? await tokens.find(text) : null
  const refused = worthless(found, false)
  if (refused) throw refused
  return found!
}
