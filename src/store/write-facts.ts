/**
 * Facts that are no events of a run, written down where they become true: those of batches, and those of quotas when
 * somebody wants them.
 */

import type pg from 'pg'
import type { NewFact } from '../run/fact.ts'

const VALUES = `unnest($1::text[], $2::text[], $3::text[], $4::uuid[], $5::uuid[], $6::text[])
  AS f(id, kind, owner, run_id, batch_id, data)`
const INSERT = 'INSERT INTO outbox (id, kind, owner, run_id, batch_id, data, at, spread_at)'

const WRITE = `
${INSERT} SELECT id, kind, owner, run_id, batch_id, data::jsonb, clock(), CASE WHEN $7::boolean THEN clock() END
FROM ${VALUES} ORDER BY id ON CONFLICT DO NOTHING`

/** Only those that a receiver asked for by their own kind. `id`: how they are named. */
export const wantedFacts = (id: string) => `
${INSERT} SELECT ${id}, kind, owner, run_id, batch_id, data::jsonb, clock(), NULL
FROM ${VALUES} WHERE EXISTS (SELECT FROM wanted_events w WHERE w.owner IN (f.owner, '*') AND w.type = f.kind)
ORDER BY 1 ON CONFLICT DO NOTHING`

const WRITE_WANTED = wantedFacts('f.id')

type Db = Pick<pg.ClientBase, 'query'>

/** `isSpread`: who hears of them is told in the same transaction. One that is there already is left as it is. */
export async function writeFacts(
  db: Db,
  { facts, isSpread }: { facts: readonly NewFact[]; isSpread: boolean },
): Promise<void> {
  if (facts.length === 0) return
  await db.query({ name: 'write_facts', text: WRITE, values: [...factColumns(facts), isSpread] })
}

export async function writeWantedFacts(db: Db, facts: readonly NewFact[]): Promise<void> {
  if (facts.length === 0) return
  await db.query({ name: 'write_wanted_facts', text: WRITE_WANTED, values: factColumns(facts) })
}

export function factColumns(facts: readonly NewFact[]): unknown[] {
  return [
    facts.map(({ id }) => id),
    facts.map(({ kind }) => kind),
    facts.map(({ owner }) => owner),
    facts.map(({ runId }) => runId),
    facts.map(({ batchId }) => batchId),
    facts.map(({ data }) => JSON.stringify(data)),
  ]
}
