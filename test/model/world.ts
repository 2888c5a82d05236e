/**
 * The real side of the model test: a database of its own whose clock stands still until it is set, and the store's verbs
 * on it.
 *
 * Claim and reclaim remember where they ended for speed. Here each call starts without a memory, so that which runs it
 * takes follows from the rows alone.
 */

import { createAdopt, letGo } from '../../src/store/adopt.ts'
import { cancelRun } from '../../src/store/cancel.ts'
import { createClaim } from '../../src/store/claim.ts'
import { deleteExpiredKeys } from '../../src/store/clean-keys.ts'
import { openPool } from '../../src/store/connect.ts'
import { handOver, started } from '../../src/store/hand-over.ts'
import { type Beat, beat } from '../../src/store/heartbeat.ts'
import { keepJobOutcome } from '../../src/store/keep-job-outcome.ts'
import { redeemTicket } from '../../src/store/open-attempt.ts'
import type { AdoptOptions, Fence, JobOutcome } from '../../src/store/ports/attempts.ts'
import { type ProgressItem, saveProgress } from '../../src/store/progress.ts'
import { setQueuePaused } from '../../src/store/queues.ts'
import { confirmOverdueCancels, createReclaim } from '../../src/store/reclaim.ts'
import { createSettle } from '../../src/store/settle.ts'
import type { ClaimRequest } from '../../src/store/store.ts'
import { createSubmit } from '../../src/store/submit.ts'
import { createTestDatabase } from '../support/database.ts'

const STANDING_CLOCK = `
CREATE TABLE holdfast.standing_clock (at timestamptz NOT NULL);
INSERT INTO holdfast.standing_clock VALUES (statement_timestamp());
CREATE OR REPLACE FUNCTION holdfast.clock() RETURNS timestamptz LANGUAGE sql STABLE PARALLEL SAFE
AS $$ SELECT at FROM holdfast.standing_clock $$`

const SET_CLOCK = `UPDATE holdfast.standing_clock SET at = timestamptz 'epoch' + $1 * interval '1 millisecond'`

export type World = Awaited<ReturnType<typeof openWorld>>

export async function openWorld() {
  const database = await createTestDatabase()
  await database.query(STANDING_CLOCK)
  const pool = openPool({ url: database.url, name: 'model test', max: 4, pinPlans: true })
  return {
    pool,
    submit: createSubmit({ batchPool: pool, singlePool: pool }),
    ...createSettle({ pool }),
    claim: (request: ClaimRequest) => createClaim({ pool })(request),
    reclaim: (limit: number) => createReclaim(pool)({ limit }),
    confirmCancels: (options: { afterMs: number; limit: number }) => confirmOverdueCancels(pool, options),
    beat: (request: Beat) => beat(pool, request),
    cancel: (runId: string) => cancelRun(pool, runId),
    saveProgress: (items: ProgressItem[]) => saveProgress(pool, items),
    handOver: (fence: Fence, ticket: string) =>
      handOver(pool, fence, {
        engine: true,
        externalRef: { at: fence.attempt },
        ticketHash: Buffer.from(ticket, 'hex'),
      }),
    started: (fence: Fence) => started(pool, fence),
    async redeemTicket(runId: string, ticket: string, token: string) {
      const open = await redeemTicket(pool, runId, Buffer.from(ticket, 'hex'), Buffer.from(token, 'hex'))
      if (open) await started(pool, open)
      return open
    },
    keepJobOutcome: (runId: string, token: string, outcome: JobOutcome) =>
      keepJobOutcome(pool, runId, Buffer.from(token, 'hex'), outcome),
    adopt: (options: AdoptOptions) => createAdopt(pool)(options),
    letGo: (fence: Fence) => letGo(pool, fence),
    setPaused: (queue: string, paused: boolean) => setQueuePaused(pool, queue, paused),
    cleanKeys: () => deleteExpiredKeys(pool, 10_000),
    async setClock(nowMs: number): Promise<void> {
      await pool.query({ name: 'set_clock', text: SET_CLOCK, values: [nowMs] })
    },
    async close(): Promise<void> {
      await pool.end()
      await database.drop()
    },
  }
}
