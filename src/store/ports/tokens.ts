/**
 * The port to access tokens and to the sessions that browsers hold in their place. A token is known by its SHA-256; the token itself
 * is stored nowhere. Tokens are revoked and never deleted, and what one may do never changes.
 */

import type { Actor } from './audit.ts'

export const TOKEN_ROLES = ['viewer', 'submitter', 'worker', 'operator', 'admin'] as const

export type TokenRole = (typeof TOKEN_ROLES)[number]

export type Token = {
  id: string
  name: string
  role: TokenRole
  /** Whose runs its holder makes. */
  owner: string
  /** Of a worker token: the only queues it may take runs from; null for all. */
  queues: string[] | null
  createdAt: Date
  createdBy: string
  expiresAt: Date | null
  lastUsedAt: Date | null
  revokedAt: Date | null
}

export type NewToken = Pick<Token, 'id' | 'name' | 'role' | 'owner' | 'queues'> & {
  /** SHA-256 as 64 hex digits. */
  hash: string
  expiresInSeconds: number | null
}

/** What a presented token or session leads to. `state` and `sessionExpiresAt` are of the moment of the look-up. */
export type Credential = {
  hash: string
  token: Token
  state: 'live' | 'expired' | 'revoked'
  /** Null for a token. */
  sessionExpiresAt: Date | null
}

export interface Tokens {
  create(token: NewToken, actor: Actor): Promise<Token>
  /** Tokens and sessions with these hashes, in any order; hashes that lead to nothing are left out. */
  findByHash(hashes: string[]): Promise<Credential[]>
  /** Newest first. */
  list(page: { limit: number; cursor: string | null }): Promise<{ tokens: Token[]; nextCursor: string | null }>
  /** Ends a token and with it its sessions; the second time changes nothing. Null when there is no such token. */
  revoke(id: string, actor: Actor): Promise<Token | null>
  /** Notes that these were used just now; a note younger than a minute is left as it is. */
  touch(ids: string[]): Promise<void>
  /** Whether a token was ever made, revoked ones included. */
  anyExist(): Promise<boolean>
  /** A session of a live token, which ends with it at the latest. Null when the token is not live. */
  startSession(session: { hash: string; tokenId: string; ttlSeconds: number }): Promise<{ expiresAt: Date } | null>
  endSession(hash: string): Promise<void>
}
