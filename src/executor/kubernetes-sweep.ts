/**
 * Deletes Jobs that nobody waits for any more: those of this service that have not ended and whose attempt is not the current one of its run, left
 * behind by a worker that died at the wrong moment or by a cancel that never reached Kubernetes. An attempt is noted before its Job
 * is asked for, so a Job without one is an orphan. Jobs that have ended are left to their time to live.
 */

import type { KubernetesClient } from './kubernetes-client.ts'
import { attemptOf, ownSelector } from './kubernetes-job.ts'
import type { Job } from './kubernetes-objects.ts'

export type AttemptName = { runId: string; attempt: number }

export type SweepOptions = {
  client: KubernetesClient
  installation: string
  namespaces: Iterable<string>
  /** Whether the attempt is the open one of its run. */
  isCurrent: (attempt: AttemptName) => Promise<boolean>
  onSwept?: ((swept: AttemptName & { namespace: string }) => void) | undefined
}

/** Never rejects: what cannot be asked now is asked the next time. */
export async function sweepJobs(options: SweepOptions): Promise<void> {
  for (const namespace of options.namespaces) await sweepNamespace(namespace, options).catch(() => {})
}

async function sweepNamespace(namespace: string, { client, installation, isCurrent, onSwept }: SweepOptions) {
  const { items } = await client.listJobs(namespace, ownSelector(installation))
  for (const job of items) {
    const attempt = attemptOf(job)
    const { name, uid, deletionTimestamp } = job.metadata
    if (!attempt || deletionTimestamp || hasEnded(job) || (await isCurrent(attempt))) continue
    if (await client.deleteJob(namespace, name, uid)) onSwept?.({ ...attempt, namespace })
  }
}

function hasEnded({ status }: Job): boolean {
  const ends = ['Complete', 'Failed']
  return status?.conditions?.some((condition) => ends.includes(condition.type) && condition.status === 'True') ?? false
}
