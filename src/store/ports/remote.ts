/** Remote workers as they are known: who asks for leases, and how an attempt ended whose worker did not hear the answer. */

import type { AttemptState, RunStatus } from '../../run/status.ts'
import type { ClaimRequest, Lease, Settled, Settlement } from '../store.ts'
import type { Fence } from './attempts.ts'

export type RemoteWorker = {
  workerId: string
  host: string
  pid: number
  version: string
  queues: string[]
  /** `name@version`. */
  models: string[]
  concurrency: number
}

/** An attempt that is over, found by the token it had. */
export type EndedAttempt = {
  attempt: number
  epoch: number
  holder: string
  state: AttemptState
  errorClass: string | null
  /** Of the run, as the end of this attempt left it. */
  runStatus: RunStatus
}

/** A registered version, as far as leasing it needs. */
export type OfferedVersion = { model: string; version: string; queue: string; concurrency: number | null }

export type LeaseTimes = { leaseExpiresAt: Date; deadlineAt: Date }

export interface Remote {
  /** As the verbs of workers, refused in words a client can act on when the database cannot be reached. */
  claim(request: ClaimRequest): Promise<Lease[]>
  settle(settlement: Settlement): Promise<Settled>
  /** All registered versions of these models. */
  versions(models: string[]): Promise<OfferedVersion[]>
  /** The worker lives and offers this. Registers no model. */
  seen(worker: RemoteWorker): Promise<void>
  /** The holder of the run's lease lives; written at most every ten seconds. */
  holderSeen(runId: string): Promise<void>
  ended(runId: string, tokenHash: Buffer): Promise<EndedAttempt | null>
  /**
   * Notes the tokens of claimed attempts and answers, by run, the times of those that are still held, by the database's
   * clock.
   */
  handOver(leases: { fence: Fence; tokenHash: Buffer }[]): Promise<Map<string, LeaseTimes>>
}
