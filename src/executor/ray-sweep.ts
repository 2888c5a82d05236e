/**
 * Stops jobs that nobody waits for any more: those of this service whose attempt is not the current one of its run, left behind by a
 * worker that died at the wrong moment or by a stop that never reached the cluster. An attempt is noted before its job is placed, so a job
 * without one is an orphan. Jobs of other services on the cluster are not touched.
 */

import { isOver, type RayClient, type RayJob } from './ray-client.ts'
import { attemptOfSubmission } from './ray-spec.ts'

export type AttemptName = { runId: string; attempt: number }

export type SweepOptions = {
  clusters: ReadonlyMap<string, RayClient>
  installation: string
  /** Whether the attempt is the open one of its run. */
  isCurrent: (attempt: AttemptName) => Promise<boolean>
  onStopped?: (stopped: AttemptName & { cluster: string }) => void
}

/** Answers how many jobs were told to stop. A cluster that does not answer is left for the next time. */
export async function sweepRayJobs(options: SweepOptions): Promise<number> {
  let stopped = 0
  for (const [cluster, client] of options.clusters) {
    const jobs = await client.jobs().catch(() => [])
    for (const job of jobs) {
      const attempt = ourAttempt(job, options.installation)
      if (attempt === null || isOver(job) || (await options.isCurrent(attempt))) continue
      const told = await client.stop(job.submission_id!).catch(() => null)
      if (!told) continue
      stopped += 1
      options.onStopped?.({ ...attempt, cluster })
    }
  }
  return stopped
}

function ourAttempt({ submission_id, metadata }: RayJob, installation: string): AttemptName | null {
  if (metadata?.holdfast !== installation) return null
  return attemptOfSubmission(submission_id ?? '')
}
