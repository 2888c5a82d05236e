/**
 * Follows an engine's job until it has ended or the attempt is let go of.
 *
 * That an engine cannot tell ends nothing while the lease is held: after a pause the job is adopted again and followed on. What the job
 * itself said counts even when its engine cannot be asked.
 */

import type { ExternalRef, Handle, Outcome } from '../executor/executor.ts'

export type JobToFollow = {
  /** Null when the job must be adopted before it can be watched. */
  handle: Handle | null
  ref: () => ExternalRef | null
  adopt: (ref: ExternalRef) => Promise<Handle>
  watch: (handle: Handle) => Promise<Outcome>
  jobOutcome: () => Promise<Outcome | null>
  /** Resolves when the attempt is let go of. */
  left: Promise<Outcome>
  onTrouble: (reason: string) => void
  pauseMs?: number
}

const PAUSE_MS = 1_000
const PAUSE_MS_MAX = 15_000

export async function followJob(job: JobToFollow): Promise<Outcome> {
  let isLeft = false
  const left = job.left.then((outcome) => {
    isLeft = true
    return outcome
  })
  let { handle } = job
  for (let troubles = 0; ; troubles += 1) {
    const outcome = await Promise.race([handle ? job.watch(handle) : adoptAndWatch(), left])
    const ref = job.ref()
    // Before it is handed over there is no job to go on with.
    if (outcome.status !== 'unreachable' || isLeft || ref === null) return outcome
    job.onTrouble(outcome.reason)
    handle = null
    const pauseMs = Math.min(PAUSE_MS_MAX, (job.pauseMs ?? PAUSE_MS) * 2 ** Math.min(troubles, 10))
    await Promise.race([pause(pauseMs), left])
    if (isLeft) return outcome
    const said = await Promise.race([job.jobOutcome().catch(() => null), left])
    if (said) return said
  }

  async function adoptAndWatch(): Promise<Outcome> {
    const ref = job.ref()
    if (ref === null) return { status: 'unreachable', reason: 'the attempt was not handed over' }
    try {
      const adopted = await job.adopt(ref)
      return adopted.ended ?? (await job.watch(adopted))
    } catch (error) {
      return { status: 'unreachable', reason: (error as Error).message }
    }
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref())
}
