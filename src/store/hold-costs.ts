/** Writes what new runs hold into the ledger, in the transaction that creates them. */

import type pg from 'pg'
import type { NewRun } from './store.ts'

const HOLD = `
INSERT INTO cost_ledger (run_id, owner, model, currency, held, rate_per_second, on_failure, on_cancel, created_at)
SELECT run_id, owner, model, currency, held, rate_per_second, on_failure, on_cancel, clock()
FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::numeric[], $6::numeric[], $7::text[], $8::text[])
  AS i(run_id, owner, model, currency, held, rate_per_second, on_failure, on_cancel)`

export async function holdCosts(db: pg.ClientBase, runs: readonly NewRun[]): Promise<void> {
  const costly = runs.flatMap((run) => (run.cost ? [{ ...run.cost, run }] : []))
  if (costly.length === 0) return
  await db.query({
    name: 'hold_costs',
    text: HOLD,
    values: [
      costly.map(({ run }) => run.id),
      costly.map(({ run }) => run.owner),
      costly.map(({ run }) => run.model),
      costly.map(({ currency }) => currency),
      costly.map(({ estimate }) => estimate),
      costly.map(({ ratePerSecond }) => ratePerSecond),
      costly.map(({ onFailure }) => onFailure),
      costly.map(({ onCancel }) => onCancel),
    ],
  })
}
