/** How a token looks on the wire and on a terminal: all of it but the token itself, which nobody knows any more. */

import type { TokenObject } from '../contract/access.ts'
import type { Token } from '../store/ports/tokens.ts'

export function presentToken(token: Token): TokenObject {
  return {
    token_id: token.id,
    name: token.name,
    role: token.role,
    owner: token.owner,
    queues: token.queues,
    created_at: token.createdAt.toISOString(),
    created_by: token.createdBy,
    expires_at: token.expiresAt?.toISOString() ?? null,
    last_used_at: token.lastUsedAt?.toISOString() ?? null,
    revoked_at: token.revokedAt?.toISOString() ?? null,
  }
}
