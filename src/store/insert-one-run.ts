/**
 * The submit statement for one run that comes alone, as every run does while the service has little to do: the same rows, guards and order of
 * locks as in `insert-runs.ts`, without arrays and what it takes to put them together. It takes a quarter off the time in Postgres.
 *
 * Each part reads from the one before it, so a run whose name is taken goes no further. One that got its key and not its slot fails on the
 * foreign key of the key, as in a batch.
 */

import type pg from 'pg'
import { ask } from './ask.ts'
import type { Inserted } from './insert-runs.ts'
import { kindOfRun } from './kind-of-run.ts'
import type { NewRun } from './store.ts'
import { TAKE_LAPSED_NAME, takeLapsedSlot } from './take-names.ts'
import { THIS_XID } from './this-xid.ts'

type Parts = { key: boolean; slot: boolean }

/** Without the rarely used columns. */
export function isUsual(run: NewRun): boolean {
  const isPlain = !run.title && run.tags.length === 0 && !run.batchId && !run.traceParent && !run.retryOf
  return isPlain && !run.files && !run.stepsFrom && !run.reservationId
}

// As in a batch: a rule that commits later than this statement began is not seen, and whoever sets it counts this run.
const RULED = `ruled AS MATERIALIZED (
  SELECT EXISTS (SELECT FROM quotas q WHERE q.owner IN ($10::text, '*') AND q.model IN ($1::text, '')) AS is_ruled
), free AS MATERIALIZED (
  SELECT $11::uuid AS id WHERE NOT (SELECT is_ruled FROM ruled)
)`

const KEYED = `keyed AS (
  INSERT INTO idempotency_keys AS held (owner, kind, key, payload_hash, run_id, created_at, expires_at)
  SELECT $10::text, 'key', $16::text, $13::text, id, clock(), clock() + $17::float8 * interval '1 second' FROM free
  ${TAKE_LAPSED_NAME}
  RETURNING run_id AS id
)`

// The parameters of a slot come after those of a key.
const slotted = ({ key }: Parts) => `slotted AS (
  INSERT INTO payload_slots AS held (owner, payload_hash, run_id, expires_at)
  SELECT $10::text, $13::text, id, clock() + $${key ? 18 : 16}::float8 * interval '1 second' FROM ${key ? 'keyed' : 'free'}
  ${takeLapsedSlot(`$${key ? 19 : 17}::boolean`)}
  RETURNING run_id AS id
)`

const created = ({ key, slot }: Parts) => `created AS (
  INSERT INTO model_runs (id, owner, model, model_version, queue, priority, lane, executor, parameters, payload_hash, seed,
    created_at, available_at, timeout_seconds, expected_seconds, max_attempts, event_seq)
  SELECT id, $10::text, $1::text, $2::text, $3::text, $4::smallint, $5::int, $6::text, $12::jsonb, $13::text, $14::bigint,
    clock(), GREATEST($15::timestamptz, clock()), $7::float8, $8::float8, $9::int, 1
  FROM ${slot ? 'slotted' : key ? 'keyed' : 'free'}
  RETURNING id
), findable AS (
  INSERT INTO run_search (run_id, created_at, owner, model, model_version, queue, payload_hash)
  SELECT id, clock(), $10::text, $1::text, $2::text, $3::text, $13::text FROM created
), recorded AS (
  INSERT INTO run_events (run_id, seq, type, at, status, xid)
  SELECT id, 1, 'created', clock(), 'PENDING', ${THIS_XID} FROM created
)
SELECT date_part('epoch', clock()) * 1000 AS created_at_ms, (SELECT is_ruled FROM ruled) AS is_ruled,
  EXISTS (SELECT FROM created) AS is_created`

const statementName = ({ key, slot }: Parts) => `insert_one_run${key ? '_key' : ''}${slot ? '_slot' : ''}`

const STATEMENTS = new Map(
  [true, false]
    .flatMap((key) => [true, false].map((slot) => ({ key, slot })))
    .map((parts) => {
      const ctes = [RULED, ...(parts.key ? [KEYED] : []), ...(parts.slot ? [slotted(parts)] : []), created(parts)]
      return [statementName(parts), `WITH ${ctes.join(', ')}`]
    }),
)

/** Of a run that `isUsual`; `lane` is its lane. */
export async function insertOneRun(db: Pick<pg.ClientBase, 'query'>, run: NewRun, lane: number): Promise<Inserted> {
  const { key, slot } = run
  const name = statementName({ key: key !== null, slot: slot !== null })
  const [answer] = await ask(db, { name, text: STATEMENTS.get(name)! }, [
    ...kindOfRun(run, lane),
    run.id,
    run.parametersText,
    run.payloadHash,
    run.seed,
    run.availableAt,
    ...(key ? [key.key, key.ttlSeconds] : []),
    ...(slot ? [slot.windowSeconds, slot.dedupe === 'succeeded'] : []),
  ])
  const [createdAtMs, isRuled, isCreated] = answer!
  return { createdAtMs: Number(createdAtMs), isRuled: isRuled === 't', isCreated: () => isCreated === 't' }
}
