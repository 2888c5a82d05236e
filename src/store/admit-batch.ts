/**
 * A batch through admission: names that are taken are answered first, as always, and cost nothing; the others are admitted in one transaction.
 * What is left without an answer can be tried again; an error has left nothing behind, unless the connection was lost at the commit.
 */

import type pg from 'pg'
import { type Admission, explainRefusals, type Patience } from './admit.ts'
import { inTransaction } from './in-transaction.ts'
import type { Lanes } from './lanes.ts'
import { isForeignKeyViolation } from './pg-errors.ts'
import type { NewRun } from './store.ts'
import { type Answers, answerTaken, nameIds } from './taken-names.ts'

/** A batch gives up waiting for a name soon, since all others of its owners wait for it. */
export const BATCH_PATIENCE: Patience = { lockMs: 3_000, nameMs: 100 }
export const ALONE_PATIENCE: Patience = { lockMs: 3_000, nameMs: 1_000 }

/** Names or reservations that change hands between a look and the transaction are looked at again so many times. */
const TRIES_MAX = 5

export type AdmitBatch = (pool: pg.Pool, runs: NewRun[], answers: Answers, patience: Patience) => Promise<void>

export function createAdmitBatch({ lanes, admission }: { lanes: Lanes; admission: Admission }): AdmitBatch {
  return async (pool, runs, answers, patience) => {
    for (let tries = 1; tries <= TRIES_MAX; tries += 1) {
      const isOpen = (run: NewRun) => !answers.has(run)
      await answerTaken(
        pool,
        runs.filter((run) => isOpen(run) && nameIds(run).length > 0),
        answers,
      )
      const open = runs.filter(isOpen)
      if (open.length === 0) return
      await lanes.ensure(pool, open)
      const outcome = await inTransaction(pool, async (client) => {
        const begun = await admission.begin(client, open, patience)
        return admission.admit(client, open, begun, lanes.of)
      }).catch((error: unknown) => {
        // Of its two names it got only one: alone, the next look finds out whose the other is.
        if (open.length > 1 || !isForeignKeyViolation(error, 'idempotency_keys_run_id_fkey')) throw error
        return null
      })
      if (outcome === null) continue
      await lanes.list(pool, [...outcome.created.keys()])
      await explainRefusals(pool, outcome.refused)
      for (const [run, submitted] of outcome.created) answers.set(run, submitted)
      for (const { run, refusal } of outcome.refused) answers.set(run, refusal)
      return answerTaken(pool, outcome.taken, answers)
    }
  }
}
