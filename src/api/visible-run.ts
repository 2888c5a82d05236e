/** Other owners' runs are answered like runs that do not exist: same status, same words. */

import type { Principal } from './principal.ts'
import { runNotFound } from './run-path.ts'

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
