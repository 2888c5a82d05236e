/** Binds what concerns remote workers to a pool. */

import type pg from 'pg'
import { endedAttempt } from './ended-attempt.ts'
import { handLeases } from './hand-leases.ts'
import type { Remote } from './ports/remote.ts'
import { registeredVersions } from './registered-versions.ts'
import { holderSeen, remoteSeen } from './remote-presence.ts'
import type { Store } from './store.ts'

type Answered = <T>(asked: Promise<T>) => Promise<T>

export function createRemote(
  pool: pg.Pool,
  { claim, settle }: Pick<Store, 'claim' | 'settle'>,
  answered: Answered,
): Remote {
  return {
    claim: (request) => answered(claim(request)),
    settle: (settlement) => answered(settle(settlement)),
    versions: (models) => answered(registeredVersions(pool, models)),
    seen: (worker) => answered(remoteSeen(pool, worker)),
    holderSeen: (runId) => answered(holderSeen(pool, runId)),
    ended: (runId, tokenHash) => answered(endedAttempt(pool, runId, tokenHash)),
    handOver: (leases) => answered(handLeases(pool, leases)),
  }
}
