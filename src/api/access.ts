/**
 * Lets a request in, or says why not, before any route sees it: the guards against web pages, then who asks (a bearer token, or the
 * session cookie of a browser), then how often, then whether the role is enough for the route.
 *
 * Public routes ask nobody's name and never wait for the database. What a token is worth may be two seconds old.
 */

import type { FastifyReply, FastifyRequest } from 'fastify'
import { Refusal } from '../run/errors.ts'
import type { Credential } from '../store/ports/tokens.ts'
import { type AccessMode, type ModeWatch, watchMode } from './access-mode.ts'
import type { AccessConfig, ApiDeps } from './api.ts'
import { guard, guardCookie } from './guards.ts'
import { createKnownTokens, type KnownTokens } from './known-tokens.ts'
import { createLastUsed, type LastUsed } from './last-used.ts'
import { liveToken, type Presented, presentedBy, whoAsks, worthless } from './presented.ts'
import { forbidden, mayUse, NOBODY, principalOfToken } from './principal.ts'
import { createRateLimit, type RateLimit } from './rate-limit.ts'
import { type CookiePlace, sessionCookie, sessionOf } from './session-cookie.ts'

const DEFAULTS: AccessConfig = { mode: 'auto', ratePerMinute: 0, rateBurst: null, openRatePerMinute: 0 }

type Done = (error?: Error) => void
/** The refusal, or nothing for a request that may go on. */
type Verdict = Refusal | undefined

export type Access = {
  /** A hook for every request: calls `done` with the refusal, or with nothing after `request.caller` was set. */
  admit(request: FastifyRequest, reply: FastifyReply, done: Done): void
  /** Looks once whether there are tokens. */
  start(): Promise<void>
  mode: ModeWatch
  /** A token or a session was just ended here: nobody relies on what was known. */
  ended(): void
  /** What the rate limit says of one more request with this token, on a public route that takes it from the body. */
  limited(tokenId: string, reply: FastifyReply): Refusal | undefined
  lastUsed: LastUsed
  /** The session of the browser that asks; null without one. */
  sessionOf(request: FastifyRequest): string | null
  /** Set-Cookie of a session; an empty one takes the cookie back. */
  cookieOf(request: FastifyRequest, session: string, maxAgeSeconds: number): string
  guardCookie(request: FastifyRequest): Refusal | undefined
  /** Who asks on a public route: null for a caller without a token or session that is worth something. */
  whoAsks(request: FastifyRequest): Promise<Credential | null>
  /** What the token in this text is worth; throws the refusal of a request that presents it. */
  liveToken(text: string): Promise<Credential>
}

export function createAccess({ store, config, log }: Pick<ApiDeps, 'store' | 'config' | 'log'>): Access {
  const settings = config.access ?? DEFAULTS
  const place = { publicUrl: config.http.publicUrl ?? null }
  const publicOrigin = place.publicUrl === null ? null : new URL(place.publicUrl).origin
  const mode = watchMode({ mode: settings.mode, anyToken: () => store.tokens.anyExist(), log })
  const tokens = createKnownTokens(store.tokens)
  const lastUsed = createLastUsed({ tokens: store.tokens, log })
  const limit = createRateLimit({ perMinute: settings.ratePerMinute, burst: settings.rateBurst })
  const openLimit = createRateLimit({ perMinute: settings.openRatePerMinute, burst: settings.rateBurst })
  const enter = createGate({ place, publicOrigin, tokens, lastUsed, limit, openLimit })

  return {
    mode,
    lastUsed,
    admit(request, reply, done) {
      const current = mode.current()
      if (typeof current === 'string') settle(enter(request, reply, current), done)
      else if (isForEveryone(request)) {
        current.catch(() => {})
        settle(enter(request, reply, mode.lastKnown()), done)
      } else {
        const later = current.then((late) => enter(request, reply, late))
        settle(later, done)
      }
    },
    async start() {
      try {
        await mode.current()
      } catch (error) {
        log.warn({ err: error }, 'could not look for access tokens')
      }
    },
    ended: () => tokens.forget(),
    limited: (tokenId, reply) => limit?.take(tokenId, reply),
    sessionOf: (request) => sessionOf(request, place),
    cookieOf: (request, session, maxAgeSeconds) => sessionCookie(request, place, session, maxAgeSeconds),
    guardCookie: (request) => guardCookie(request, publicOrigin),
    whoAsks: (request) => whoAsks(tokens, request, place),
    liveToken: (text) => liveToken(tokens, text),
  }
}

type Gate = (request: FastifyRequest, reply: FastifyReply, current: AccessMode) => Verdict | Promise<Verdict>

type GateParts = {
  place: CookiePlace
  publicOrigin: string | null
  tokens: KnownTokens
  lastUsed: LastUsed
  limit: RateLimit | null
  openLimit: RateLimit | null
}

function createGate({ place, publicOrigin, tokens, lastUsed, limit, openLimit }: GateParts): Gate {
  function decide(request: FastifyRequest, reply: FastifyReply, by: Presented, found: Credential | null): Verdict {
    const worth = worthless(found, by.isCookie)
    if (worth) return worth
    const { token } = found!
    lastUsed.note(token.id)
    const refused = (by.isCookie ? guardCookie(request, publicOrigin) : undefined) ?? limit?.take(token.id, reply)
    if (refused) return refused
    const needed = request.routeOptions.config.role!
    if (!mayUse(token.role, needed)) return forbidden(token.role, needed)
    const principal = principalOfToken(token, request)
    if (principal instanceof Refusal) return principal
    request.caller = principal
    return undefined
  }

  return (request, reply, current) => {
    const refused = guard(request, current, current === 'open' ? null : publicOrigin)
    if (refused) return refused
    request.caller = current === 'open' ? 'open' : NOBODY
    if (current === 'open') {
      return openLimit === null || isForEveryone(request) ? undefined : openLimit.take(request.ip, reply)
    }
    if (isForEveryone(request)) return undefined
    const presented = presentedBy(request, place)
    if (presented instanceof Refusal) return presented
    const found = tokens.find(presented.text)
    if (!(found instanceof Promise)) return decide(request, reply, presented, found)
    return found.then((late) => decide(request, reply, presented, late))
  }
}

/** Paths without a route tell everyone that they have none. */
function isForEveryone({ routeOptions, is404 }: FastifyRequest): boolean {
  return is404 || routeOptions.config.role === 'public'
}

function settle(verdict: Verdict | Promise<Verdict>, done: Done): void {
  if (verdict instanceof Promise) verdict.then(done, done)
  else done(verdict)
}
