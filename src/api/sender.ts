/** Who asks for a run and what the request says about it outside its body. */

import type { FastifyRequest } from 'fastify'
import { idempotencyKey, traceParentOf } from './header.ts'
import { principalOf } from './principal.ts'
import type { Sender } from './resolve-run.ts'

/** With whose runs the sender may see: null for everyone's. */
export type SeeingSender = Sender & { sees: string | null }

export function senderOf(request: FastifyRequest, bodyKey: string | null | undefined): SeeingSender {
  const { owner, sees } = principalOf(request)
  return { owner, sees, key: idempotencyKey(request.raw, bodyKey), traceParent: traceParentOf(request.raw) }
}
