/**
 * The cookie that stands for a person's token in a browser. Scripts cannot read it and no other site can make the browser send it.
 *
 * Its name begins with `__Host-`, which browsers accept over https only and for this very host. On plain http on this machine, where
 * they would not, it has another name, which is not believed anywhere else.
 */

import type { FastifyRequest } from 'fastify'
import { isLocalHost } from './guards.ts'
import { isSession } from './token-text.ts'

const SECURE_NAME = '__Host-holdfast'
const LOCAL_NAME = 'holdfast'

export type CookiePlace = { publicUrl?: string | null }

export function sessionCookie(
  request: FastifyRequest,
  place: CookiePlace,
  value: string,
  maxAgeSeconds: number,
): string {
  const isLocal = isPlainLocal(request, place)
  const name = isLocal ? LOCAL_NAME : SECURE_NAME
  const attributes = `Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Strict`
  return `${name}=${value}; ${attributes}${isLocal ? '' : '; Secure'}`
}

/** The session the browser holds; null without one. */
export function sessionOf(request: FastifyRequest, place: CookiePlace): string | null {
  const header = request.headers.cookie
  if (header === undefined) return null
  const name = isPlainLocal(request, place) ? LOCAL_NAME : SECURE_NAME
  for (const part of header.split(';')) {
    const [key, value = ''] = part.trim().split('=', 2)
    if (key === name && isSession(value)) return value
  }
  return null
}

function isPlainLocal({ headers }: FastifyRequest, { publicUrl }: CookiePlace): boolean {
  if (publicUrl?.startsWith('https:') || headers['x-forwarded-proto'] === 'https') return false
  return isLocalHost(headers.host)
}
