/**
 * Who asks. Without tokens everyone on this machine is the administrator, acting for the owner that the `Holdfast-Owner` header
 * names; with tokens the token says who it is, and only operators and administrators may name another owner or see the objects of all.
 */

import type { FastifyRequest } from 'fastify'
import { Refusal } from '../run/errors.ts'
import type { Actor } from '../store/ports/audit.ts'
import type { Token } from '../store/ports/tokens.ts'
import type { Role } from './api.ts'
import { ownerNamedBy, ownerOf } from './header.ts'

export type Principal = {
  role: Role
  /** Whose runs a request makes. */
  owner: string
  /** Whose objects a request may see: null for everyone's. */
  sees: string | null
  tokenId: string | null
  /** Of a worker token: the only queues it may take runs from; null for all. */
  queues?: string[] | null
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set before any route: `open` when there are no tokens. */
    caller: Principal | 'open' | null
  }
}

/** Of a request to a public route: whatever it asks for, it sees nobody's objects. No owner has an empty name. */
export const NOBODY: Principal = Object.freeze({ role: 'public', owner: '', sees: '', tokenId: null, queues: null })

const RANK: Partial<Record<Role, number>> = { public: 0, viewer: 1, submitter: 2, operator: 3, admin: 4 }

export function principalOf(request: FastifyRequest): Principal {
  const { caller } = request
  if (caller === null) throw new Error('the request was not admitted')
  if (caller !== 'open') return caller
  return { role: 'admin', owner: ownerOf(request.raw), sees: null, tokenId: null, queues: null }
}

/** Who did it, for the audit. */
export function actorOf(request: FastifyRequest): Actor {
  const { tokenId, owner } = principalOf(request)
  return { tokenId, owner, requestId: request.id }
}

/** Or the refusal of a `Holdfast-Owner` header that this token may not send. */
export function principalOfToken(token: Token, request: FastifyRequest): Principal | Refusal {
  const { id: tokenId, role, owner, queues } = token
  const named = ownerNamedBy(request.raw)
  if (named instanceof Refusal) return named
  if (role === 'operator' || role === 'admin') return { role, owner: named ?? owner, sees: null, tokenId, queues }
  if (named === null || named === owner) return { role, owner, sees: owner, tokenId, queues }
  return forbidden(role, 'operator', 'act for another owner')
}

/** Each role may do what those below it may. A worker stands beside them: routes for workers are for it and for administrators. */
export function mayUse(role: Role, needed: Role): boolean {
  if (needed === 'public') return true
  if (needed === 'worker') return role === 'worker' || role === 'admin'
  return (RANK[role] ?? 0) >= RANK[needed]!
}

export function forbidden(role: Role, needed: Role, what = 'use this route'): Refusal {
  const detail = `A token with the role ${role} may not ${what}; the role ${needed} is needed.`
  return new Refusal('forbidden', detail, { extra: { needed_role: needed } })
}
