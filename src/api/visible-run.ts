/** Other owners' runs are answered like runs that do not exist: same status, same words. */

import type { FastifyRequest } from 'fastify'
import type { Store } from '../store/store.ts'
import { type Principal, principalOf } from './principal.ts'
import { runIdOf, runNotFound } from './run-path.ts'

/** Above every number: only the run itself is read. */
export const NO_EVENTS = { after: 999_999_999, limit: 1 }

/** The run that the path names. Throws like `assertVisible`. */
export async function visibleRunId(request: FastifyRequest, { feed }: Pick<Store, 'feed'>): Promise<string> {
  const runId = runIdOf(request)
  assertVisible(principalOf(request), await feed.ofRun(runId, NO_EVENTS), runId)
  return runId
}

/** Throws for a run that is not there, and for one that this caller may not see. */
export function assertVisible<Owned extends { owner: string }>(
  principal: Principal,
  run: Owned | null | undefined,
  id: string,
): asserts run is Owned {
  if (!run || !maySee(principal, run.owner)) throw runNotFound(id)
}

export function maySee({ sees }: Principal, owner: string): boolean {
  return sees === null || sees === owner
}
