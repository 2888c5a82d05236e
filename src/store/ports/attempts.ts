/**
 * Attempts whose code runs elsewhere: a remote worker, Ray, Kubernetes.
 *
 * Such code holds an attempt token: random, only its SHA-256 is stored, on the attempt's row. It is good while that attempt is the open one of
 * its run; adoption keeps it, and reclaim, release and settle end it. A worker that hands an attempt to an engine notes where, and under
 * which token, before it asks the engine, so that whoever takes the lease over can find the job.
 */

import type { Lease } from '../store.ts'

/** Where an engine runs an attempt, such as `{cluster, submission_id}`; kept as it is. */
export type ExternalRef = { readonly [name: string]: unknown }

/** An attempt's lease, as far as writes about it are fenced. */
export type Fence = { runId: string; epoch: number; attempt: number }

/** The open attempt a token belongs to. */
export type OpenAttempt = Lease & {
  /** Who holds the lease: a worker's id. */
  holder: string
  externalRef: ExternalRef | null
  cancelRequested: boolean
  leaseExpiresAt: Date
  deadlineAt: Date
}

/** An engine's attempt is SUBMITTED until its first sign of life. */
export type HandOver =
  | { engine: true; externalRef: ExternalRef; ticketHash: Buffer }
  | { engine: false; tokenHash: Buffer }

/** What an engine's job said of its own end, kept until the holder of the lease settles it. */
export type JobOutcome =
  | { ok: true; result_text: string; cost?: number }
  | {
      ok: false
      cost?: number
      error: { class: string; message: string; stack: string | null; retryable?: boolean; exit_code?: number | null }
    }

export type Adopted = Lease & {
  externalRef: ExternalRef
  holderBefore: string
  /** Until the attempt's deadline; below zero when that is over. */
  remainingSeconds: number
}

export type AdoptOptions = {
  workerId: string
  leaseMs: number
  executors: string[]
  limit: number
  /** Only runs of these; without it, of any model. */
  models?: { model: string; version: string }[]
}

export type Usage = { cpuSeconds: number | null; peakMemoryBytes: number | null }

export interface Attempts {
  /** Notes where the attempt goes and how its code proves itself; false when the lease is lost. A remote worker has its token at once. */
  handOver(fence: Fence, to: HandOver): Promise<boolean>
  /**
   * A job's first act: it trades the ticket it was started with for a token of its own making. A ticket is good for one token; the same
   * two again are a repeated request.
   */
  redeemTicket(runId: string, ticketHash: Buffer, tokenHash: Buffer): Promise<OpenAttempt | null>
  /** The first sign of life: SUBMITTED becomes RUNNING. Later ones change nothing but a given `externalRef`. */
  started(fence: Fence, externalRef?: ExternalRef): Promise<void>
  findByToken(runId: string, tokenHash: Buffer): Promise<OpenAttempt | null>
  /** Extends the lease of a remote worker's attempt, never past its deadline and grace; null when the token is no longer good. */
  extendByToken(
    runId: string,
    tokenHash: Buffer,
    options: { leaseMs: number; deadlineGraceMs: number },
  ): Promise<{ cancelRequested: boolean; leaseExpiresAt: Date; deadlineAt: Date } | null>
  /** Keeps what a job says of its end; false when the token is no longer good. The first one stays. */
  keepJobOutcome(runId: string, tokenHash: Buffer, outcome: JobOutcome): Promise<boolean>
  /** Of these attempts, those whose job has said how it ended. */
  jobOutcomes(fences: Fence[]): Promise<{ runId: string; outcome: JobOutcome }[]>
  /** Takes expired leases of attempts that an engine has, under a new epoch and without a new attempt. */
  adoptExpired(options: AdoptOptions): Promise<Adopted[]>
  /** Ends the lease of an engine's attempt at once, so that another worker adopts it; false when it was lost before. */
  letGo(fence: Fence): Promise<boolean>
  /** What the attempt used, known at its end. */
  recordUsage(fence: Fence, usage: Usage): Promise<void>
  /** Deletes what jobs of ended attempts said; answers how many. */
  forgetJobOutcomes(limit: number): Promise<number>
}
