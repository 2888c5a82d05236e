/** Makes a token, for the API and for the command line alike. Its text exists in the answer only. */

import type { TokenBody } from '../contract/access.ts'
import { Refusal } from '../run/errors.ts'
import type { Actor } from '../store/ports/audit.ts'
import type { Token, Tokens } from '../store/ports/tokens.ts'
import { createRunIds } from './run-id.ts'
import { hashOf, makeToken } from './token-text.ts'

const nextId = createRunIds()

/** Throws a Refusal for queues of a token that takes no runs. */
export async function storeNewToken(
  tokens: Pick<Tokens, 'create'>,
  body: TokenBody,
  actor: Actor,
): Promise<{ token: Token; text: string }> {
  if (body.queues && body.role !== 'worker') {
    const detail = 'is for the role worker only'
    throw new Refusal('invalid-body', `/queues ${detail}.`, { errors: [{ pointer: '/queues', detail }] })
  }
  const text = makeToken()
  const token = await tokens.create(
    {
      id: nextId(),
      name: body.name ?? `${body.role} ${body.owner}`.slice(0, 255),
      hash: hashOf(text),
      role: body.role,
      owner: body.owner,
      queues: body.queues ? [...new Set(body.queues)] : null,
      expiresInSeconds: body.expires_in_seconds ?? null,
    },
    actor,
  )
  return { token, text }
}
