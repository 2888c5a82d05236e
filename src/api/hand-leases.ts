/**
 * From claimed runs to what a remote worker gets: each attempt is given a token of its own, of which only the hash is
 * stored, and the worker the times by the database's clock and what earlier attempts have done.
 */

import { randomBytes } from 'node:crypto'
import type { LeaseFileObject, LeaseObject, StartedObject } from '../contract/lease.ts'
import type { DoneStepObject } from '../contract/step.ts'
import { newAttemptToken, SECRET_BYTES } from '../run/attempt-token.ts'
import type { OpenAttempt } from '../store/ports/attempts.ts'
import type { LeaseTimes } from '../store/ports/remote.ts'
import type { Lease, Store } from '../store/store.ts'
import { type DoneStepsDeps, doneSteps } from './done-steps.ts'
import { type LeaseFilesDeps, leaseFiles } from './lease-files.ts'

/** Of the steps of one answer, from the second run on. */
const STEP_BYTES_MAX = 64 * 1024 * 1024

export type HandDeps = DoneStepsDeps & LeaseFilesDeps & { store: Pick<Store, 'remote' | 'steps' | 'files'> }

/** A lease that was lost meanwhile is left out; `unfit`: those whose steps are too much for one answer, to be given back. */
export async function handLeases(
  deps: HandDeps,
  leases: Lease[],
  leaseMs: number,
): Promise<{ handed: LeaseObject[]; unfit: Lease[] }> {
  const { steps, unfit } = await stepsOf(deps, leases)
  const files = new Map<string, LeaseFileObject[]>()
  for (const lease of leases) files.set(lease.runId, await leaseFiles(deps, lease))
  const secrets = leases
    .filter((lease) => !unfit.includes(lease))
    .map((lease) => ({ lease, ...newAttemptToken(randomBytes(SECRET_BYTES)) }))
  const times = await deps.store.remote.handOver(secrets.map(({ lease, hash }) => ({ fence: lease, tokenHash: hash })))
  const handed = secrets.flatMap(({ lease, token }) => {
    const known = times.get(lease.runId)
    return known
      ? [
          {
            ...leaseObject(lease, known, leaseMs, {
              steps: steps.get(lease.runId) ?? [],
              files: files.get(lease.runId)!,
            }),
            token,
          },
        ]
      : []
  })
  return { handed, unfit }
}

export async function startedObject(deps: HandDeps, open: OpenAttempt, leaseMs: number): Promise<StartedObject> {
  const steps = await doneSteps(deps, open.runId)
  return leaseObject(open, open, leaseMs, { steps, files: await leaseFiles(deps, open) })
}

/** A first attempt has steps when it goes on from another run. */
async function stepsOf(deps: HandDeps, leases: Lease[]) {
  const have = await Promise.all(leases.map(({ runId }) => deps.store.steps.hasAny(runId)))
  const later = leases.filter((_, index) => have[index])
  const bytesOf = await deps.store.steps.bytesOf(later.map(({ runId }) => runId))
  const steps = new Map<string, DoneStepObject[]>()
  const unfit: Lease[] = []
  let bytes = 0
  for (const lease of later) {
    const more = bytesOf.get(lease.runId)
    if (more === undefined) continue
    if (bytes > 0 && bytes + more > STEP_BYTES_MAX) {
      unfit.push(lease)
      continue
    }
    bytes += more
    steps.set(lease.runId, await doneSteps(deps, lease.runId))
  }
  return { steps, unfit }
}

function leaseObject(
  lease: Lease,
  { leaseExpiresAt, deadlineAt }: LeaseTimes,
  leaseMs: number,
  { steps, files }: Pick<StartedObject, 'steps' | 'files'>,
): StartedObject {
  return {
    run_id: lease.runId,
    attempt: lease.attempt,
    model: lease.model,
    model_version: lease.modelVersion,
    queue: lease.queue,
    owner: lease.owner,
    parameters: lease.parameters,
    payload_hash: lease.payloadHash,
    seed: lease.seed,
    max_attempts: lease.maxAttempts,
    timeout_seconds: lease.timeoutSeconds,
    files,
    steps,
    deadline: deadlineAt.toISOString(),
    lease_seconds: leaseMs / 1_000,
    lease_expires_at: leaseExpiresAt.toISOString(),
  }
}
