/** Tokens for tests of a service that asks for them. */

import type { AccessConfig } from '../../src/api/api.ts'
import { storeNewToken } from '../../src/api/make-token.ts'
import type { TokenBody } from '../../src/contract/access.ts'
import type { Store } from '../../src/store/store.ts'

export const TOKENS_ONLY: AccessConfig = { mode: 'tokens', ratePerMinute: 0, rateBurst: null, openRatePerMinute: 0 }

export type TestToken = { id: string; text: string; headers: { authorization: string } }

export async function testToken(
  store: Store,
  role: TokenBody['role'],
  more: Partial<TokenBody> = {},
): Promise<TestToken> {
  const actor = { tokenId: null, owner: 'test', requestId: null }
  const { token, text } = await storeNewToken(store.tokens, { role, owner: 'alice', ...more }, actor)
  return { id: token.id, text, headers: { authorization: `Bearer ${text}` } }
}

/** One that has ended. */
export async function revokedToken(store: Store, role: TokenBody['role']): Promise<TestToken> {
  const token = await testToken(store, role)
  await store.tokens.revoke(token.id, { tokenId: null, owner: 'test', requestId: null })
  return token
}
