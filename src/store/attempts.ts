/** The verbs of attempts whose code runs elsewhere, bound to their pools. */

import type pg from 'pg'
import { createAdopt, letGo } from './adopt.ts'
import { extendByToken } from './extend-by-token.ts'
import { handOver, started } from './hand-over.ts'
import { forgetJobOutcomes, jobOutcomes, keepJobOutcome } from './keep-job-outcome.ts'
import { findByToken, redeemTicket } from './open-attempt.ts'
import type { Attempts } from './ports/attempts.ts'
import { recordUsage } from './record-usage.ts'

type Answered = <T>(asked: Promise<T>) => Promise<T>

/** Requests are answered on `reads`; what workers do on `work`, whose plans are pinned. */
export function createAttempts({ work, reads }: { work: pg.Pool; reads: pg.Pool }, answered: Answered): Attempts {
  return {
    handOver: (fence, to) => answered(handOver(work, fence, to)),
    async redeemTicket(runId, ticketHash, tokenHash) {
      const open = await answered(redeemTicket(reads, runId, ticketHash, tokenHash))
      if (open) await answered(started(reads, open))
      return open
    },
    started: (fence, externalRef) => started(work, fence, externalRef),
    findByToken: (runId, tokenHash) => answered(findByToken(reads, runId, tokenHash)),
    extendByToken: (runId, tokenHash, options) => answered(extendByToken(reads, runId, tokenHash, options)),
    keepJobOutcome: (runId, tokenHash, outcome) => answered(keepJobOutcome(reads, runId, tokenHash, outcome)),
    jobOutcomes: (fences) => jobOutcomes(work, fences),
    adoptExpired: createAdopt(work),
    letGo: (fence) => letGo(work, fence),
    recordUsage: (fence, usage) => recordUsage(work, fence, usage),
    forgetJobOutcomes: (limit) => forgetJobOutcomes(reads, limit),
  }
}
