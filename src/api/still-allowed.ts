/**
 * Whether a caller that was let in may still have what it asked for: its token lives, and the service is not open any
 * more or still is.
 */

import type { FastifyRequest } from 'fastify'
import type { Access } from './access.ts'
import { mayUse } from './principal.ts'

export function createStillAllowed(access: Pick<Access, 'mode' | 'whoAsks'>) {
  return async (request: FastifyRequest): Promise<boolean> => {
    const { caller } = request
    if (caller === 'open') return (await access.mode.current()) === 'open'
    if (caller === null) return false
    const found = await access.whoAsks(request)
    return found?.token.id === caller.tokenId && mayUse(found.token.role, request.routeOptions.config.role!)
  }
}
