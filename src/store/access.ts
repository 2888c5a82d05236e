/** Who may do what, and who did: the verbs of tokens, sessions and the audit, bound to a pool. */

import type pg from 'pg'
import { listAudit, recordAudit } from './audit.ts'
import { endSession, findByHash, startSession } from './credentials.ts'
import type { Store } from './store.ts'
import { anyTokenExists, createToken, listTokens, revokeToken, touchTokens } from './tokens.ts'

export function openAccess(
  pool: pg.Pool,
  answered: <T>(asked: Promise<T>) => Promise<T>,
): Pick<Store, 'tokens' | 'audit'> {
  return {
    tokens: {
      create: (token, actor) => answered(createToken(pool, token, actor)),
      findByHash: (hashes) => answered(findByHash(pool, hashes)),
      list: (page) => answered(listTokens(pool, page)),
      revoke: (id, actor) => answered(revokeToken(pool, id, actor)),
      touch: (ids) => touchTokens(pool, ids),
      anyExist: () => answered(anyTokenExists(pool)),
      startSession: (session) => answered(startSession(pool, session)),
      endSession: (hash) => answered(endSession(pool, hash)),
    },
    audit: {
      record: (event) => answered(recordAudit(pool, event)),
      list: (page) => answered(listAudit(pool, page)),
    },
  }
}
