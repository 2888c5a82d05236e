/**
 * Spread: facts become deliveries, in one transaction.
 *
 * Facts are taken under a lock that others skip, so each is spread by one relay; `spread_at` is committed with
 * everything that was made of it, so it is spread once, whenever somebody dies. Rows are locked in the same order by
 * all: facts, documents, counts, watches, receivers, deliveries. Receivers are locked before their deliveries, as a
 * claim does, and shortly before the commit.
 *
 * A fact that cannot be spread for a reason of its own is set aside with the reason, and holds up no other.
 */

import type pg from 'pg'
import type { Fact, SpreadSettings } from '../run/fact.ts'
import type { FactRun } from '../run/fact-body.ts'
import {
  batchesToWatch,
  deliveriesOf,
  factOfMark,
  type Hearer,
  Hearers,
  type Mark,
  marksPassed,
  type RunsOfFacts,
  runsToCount,
} from '../run/spread.ts'
import { countDocuments } from './count-documents.ts'
import { inTransaction } from './in-transaction.ts'
import { insertDeliveries } from './insert-deliveries.ts'
import { isConnectionLost, isLockTimeout, isSerializationFailure, isStatementTimeout } from './pg-errors.ts'
import type { Spread } from './ports/outbox.ts'
import { writeFacts } from './write-facts.ts'

const COLUMNS = 'id, kind, owner, run_id AS "runId", batch_id AS "batchId", at, data'

const TAKE = `
SELECT ${COLUMNS}, clock() AS now FROM outbox WHERE spread_at IS NULL ORDER BY at, id LIMIT $1 FOR UPDATE SKIP LOCKED`

const TAKE_ONE = `
SELECT ${COLUMNS}, clock() AS now FROM outbox WHERE id = $1 AND spread_at IS NULL FOR UPDATE SKIP LOCKED`

const READ_RECEIVERS = `
SELECT id, channel, owner, kinds, created_at AS "createdAt" FROM receivers WHERE owner = ANY($1::text[]) AND is_enabled`

// A run that was retried is still about its document. The document is looked for by its key, and its name by the run.
const READ_RUNS = `
SELECT r.id, r.model, r.model_version AS "modelVersion", r.queue, r.title, r.tags, r.trace_parent AS "traceParent", r.last_error_class AS "errorClass",
  r.last_error_attempt AS "errorAttempt", d.name AS document
FROM unnest($1::uuid[]) AS f(id)
JOIN model_runs r ON r.id = ANY (ARRAY[f.id])
LEFT JOIN LATERAL (
  SELECT COALESCE((SELECT name FROM run_files WHERE run_id = r.id AND file_id = o.file_id LIMIT 1), 'unnamed document') AS name
  FROM documents o
  WHERE o.owner = r.owner AND o.payload_hash = r.payload_hash AND (o.run_id = r.id OR r.retry_of IS NOT NULL) OFFSET 0
) d ON true`

const READ_TITLES = `SELECT id, title FROM batches WHERE id = ANY($1::uuid[])`

const WATCH = `
INSERT INTO batch_watches AS w (batch_id, owner, due_at)
SELECT batch_id, owner, clock() + $3 * interval '1 second' FROM unnest($1::uuid[], $2::text[]) AS b(batch_id, owner)
ORDER BY batch_id
ON CONFLICT (batch_id) DO UPDATE SET due_at = excluded.due_at`

const MARK_SPREAD = `UPDATE outbox SET spread_at = clock() WHERE id = ANY($1::text[])`

const SET_ASIDE = `
UPDATE outbox SET spread_at = clock(), data = data || jsonb_build_object('spread_error', $2::text)
WHERE id = $1 AND spread_at IS NULL`

type TakenFact = Fact & { now: Date }
type Done = { facts: number; deliveries: number }

export async function spreadFacts(pool: pg.Pool, limit: number, settings: SpreadSettings): Promise<Spread> {
  let taken: TakenFact[] = []
  try {
    const done = await inTransaction(pool, async (client) => {
      taken = await take(client, 'take_facts', TAKE, limit)
      return spreadTaken(client, taken, settings)
    })
    return { ...done!, isMore: taken.length === limit, broken: 0 }
  } catch (error) {
    if (taken.length === 0 || isPassing(error)) throw error
    return spreadOneByOne(pool, taken, settings)
  }
}

async function spreadOneByOne(pool: pg.Pool, facts: readonly Fact[], settings: SpreadSettings): Promise<Spread> {
  const spread = { facts: 0, deliveries: 0, broken: 0 }
  for (const { id } of facts) {
    try {
      const done = await inTransaction(pool, async (client) =>
        spreadTaken(client, await take(client, 'take_fact', TAKE_ONE, id), settings),
      )
      spread.facts += done!.facts
      spread.deliveries += done!.deliveries
    } catch (error) {
      if (isPassing(error) || isStatementTimeout(error)) throw error
      await pool.query(SET_ASIDE, [id, error instanceof Error ? error.message : String(error)])
      spread.broken += 1
    }
  }
  return { ...spread, isMore: true }
}

async function take(client: pg.PoolClient, name: string, text: string, which: unknown): Promise<TakenFact[]> {
  return (await client.query<TakenFact>({ name, text, values: [which] })).rows
}

async function spreadTaken(
  client: pg.PoolClient,
  facts: readonly TakenFact[],
  settings: SpreadSettings,
): Promise<Done> {
  if (facts.length === 0) return { facts: 0, deliveries: 0 }
  const { now } = facts[0]!
  const hearers = new Hearers(await readHearers(client, facts))
  const runs = await readRuns(client, facts)
  const counts = await countDocuments(client, runsToCount(facts, runs, hearers))
  const marks = marksPassed(counts, settings.progressEvery)
  const titles = await readTitles(client, marks)
  await watch(client, batchesToWatch(facts, hearers), settings.batchQuietSeconds)
  const ofBatches = marks.filter(({ batchId }) => batchId !== null)
  await writeFacts(client, {
    facts: ofBatches.map((mark) => factOfMark(mark, titles.get(mark.batchId!) ?? null, now)),
    isSpread: true,
  })
  await client.query({ name: 'mark_spread', text: MARK_SPREAD, values: [facts.map(({ id }) => id)] })
  const deliveries = deliveriesOf({ facts, hearers, runs, marks, titles, now, settings })
  return { facts: facts.length, deliveries: await insertDeliveries(client, deliveries) }
}

async function readHearers(client: pg.PoolClient, facts: readonly Fact[]): Promise<Hearer[]> {
  const values = [[...new Set(['*', ...facts.map(({ owner }) => owner)])]]
  return (await client.query<Hearer>({ name: 'read_hearers', text: READ_RECEIVERS, values })).rows
}

type RunRow = Omit<FactRun, 'lastError'> & { errorClass: string | null; errorAttempt: number | null }

async function readRuns(client: pg.PoolClient, facts: readonly Fact[]): Promise<RunsOfFacts> {
  const ids = [...new Set(facts.flatMap(({ runId }) => runId ?? []))]
  if (ids.length === 0) return new Map()
  const { rows } = await client.query<RunRow>({ name: 'read_runs_of_facts', text: READ_RUNS, values: [ids] })
  return new Map(
    rows.map(({ errorClass, errorAttempt, ...run }) => {
      const isFailed = errorClass !== null && errorAttempt !== null
      return [run.id, { ...run, lastError: isFailed ? { class: errorClass, attempt: errorAttempt } : null }]
    }),
  )
}

async function readTitles(client: pg.PoolClient, marks: readonly Mark[]): Promise<Map<string, string | null>> {
  const ids = [...new Set(marks.flatMap(({ toldBatchId }) => toldBatchId ?? []))]
  if (ids.length === 0) return new Map()
  const { rows } = await client.query<{ id: string; title: string | null }>(READ_TITLES, [ids])
  return new Map(rows.map(({ id, title }) => [id, title]))
}

async function watch(
  client: pg.PoolClient,
  batches: readonly { batchId: string; owner: string }[],
  quietSeconds: number,
): Promise<void> {
  if (batches.length === 0) return
  const values = [batches.map(({ batchId }) => batchId), batches.map(({ owner }) => owner), quietSeconds]
  await client.query({ name: 'watch_batches', text: WATCH, values })
}

/** The same facts may be spread when it is tried again; nothing is wrong with them. */
function isPassing(error: unknown): boolean {
  return isConnectionLost(error) || isSerializationFailure(error) || isLockTimeout(error)
}
