/**
 * Settle: end an attempt, if the lease is still held.
 *
 * One statement for a whole batch, guarded by lease owner and epoch (which only a RUNNING row has). A run it did not change was
 * settled before by this very attempt (the reply was lost) or was taken away: then nothing changes but the record, which
 * gains a `late_result_discarded` event. A failing batch is repeated item by item.
 */

import type pg from 'pg'
import type { RunStatus } from '../run/status.ts'
import { plainArray } from './array-literal.ts'
import { settleCost } from './close-costs.ts'
import { GroupCommit } from './group-commit.ts'
import { isBadRow, isConnectionLost, isSerializationFailure } from './pg-errors.ts'
import { settleSuccesses } from './settle-successes.ts'
import type { Settled, Settlement, Store } from './store.ts'

// Ids arrive sorted and the plan is a nested loop over them, so two batches lock their rows in the same order. `= ANY (ARRAY[x])`
// keeps it that way: it can only be a look-up into the table, so that no plan, not even one made while the table was empty, turns the
// loop around and reads the table for each item.
const settleText = ({ cost }: { cost: boolean }) => `
WITH item AS MATERIALIZED (
  SELECT * FROM unnest($2::uuid[], $3::int[], $4::text[], $5::text[], $6::text[], $7::text[], $8::float8[], $9::text[], $10::text[], $11::text[],
      $12::int[]${cost ? ', $13::numeric[]' : ''})
    AS u(id, epoch, result_ref, result_hash, result_text, kind, delay_seconds, error_class, error_message,
      error_stack, exit_code${cost ? ', cost' : ''})
), settled AS (
  UPDATE model_runs r SET
    status = CASE i.kind WHEN 'succeed' THEN run_status 'SUCCEEDED' WHEN 'fail' THEN 'FAILED' WHEN 'cancel' THEN 'CANCELLED'
      ELSE CASE WHEN r.cancel_requested_at IS NOT NULL THEN run_status 'CANCELLED'
        WHEN i.kind IN ('retry', 'lost') AND r.attempt_count - r.release_count >= r.max_attempts THEN 'FAILED'
        ELSE 'PENDING' END END,
    finished_at = CASE WHEN i.kind IN ('succeed', 'fail', 'cancel') OR r.cancel_requested_at IS NOT NULL
      OR (i.kind IN ('retry', 'lost') AND r.attempt_count - r.release_count >= r.max_attempts) THEN clock() END,
    available_at = CASE WHEN i.kind IN ('retry', 'lost') AND r.cancel_requested_at IS NULL
      AND r.attempt_count - r.release_count < r.max_attempts THEN clock() + i.delay_seconds * interval '1 second' ELSE r.available_at END,
    release_count = r.release_count + CASE i.kind WHEN 'release' THEN 1 ELSE 0 END,
    reclaim_count = r.reclaim_count + CASE i.kind WHEN 'lost' THEN 1 ELSE 0 END,
    lease_owner = NULL, lease_expires_at = NULL, deadline_at = NULL,
    result_ref = i.result_ref, result_hash = i.result_hash,
    last_error = COALESCE(i.error_message, r.last_error),
    last_error_class = COALESCE(i.error_class, r.last_error_class),
    last_error_attempt = CASE WHEN i.error_message IS NULL THEN r.last_error_attempt ELSE r.attempt_count END,
    event_seq = r.event_seq + 1
  FROM item i
  WHERE r.id = ANY (ARRAY[i.id]) AND r.lease_owner = $1 AND r.lease_epoch = i.epoch
  RETURNING r.id, r.status, r.attempt_count, r.event_seq, r.available_at, i.kind, i.error_class, i.error_message,
    i.error_stack, i.exit_code, i.result_ref, i.result_text${cost ? ', i.cost' : ''}
), ended AS (
  UPDATE run_attempts a SET
    state = CASE s.kind WHEN 'succeed' THEN attempt_state 'SUCCEEDED' WHEN 'cancel' THEN 'CANCELLED' WHEN 'release' THEN 'RELEASED'
      WHEN 'lost' THEN 'LOST' ELSE 'FAILED' END,
    finished_at = clock(), error_class = s.error_class, error_message = s.error_message, error_stack = s.error_stack,
    exit_code = s.exit_code, result_ref = s.result_ref
  FROM settled s WHERE a.run_id = ANY (ARRAY[s.id]) AND a.attempt = s.attempt_count
), stored AS (
  INSERT INTO run_results (run_id, attempt, result)
  SELECT id, attempt_count, result_text::json FROM settled WHERE result_text IS NOT NULL
), recorded AS (
  INSERT INTO run_events (run_id, seq, type, at, status, attempt, worker_id, message, data)
  SELECT id, event_seq,
    CASE status WHEN 'SUCCEEDED' THEN 'succeeded' WHEN 'FAILED' THEN 'failed' WHEN 'CANCELLED' THEN 'cancelled'
      ELSE CASE kind WHEN 'release' THEN 'released' WHEN 'lost' THEN 'lost' ELSE 'retry_scheduled' END END,
    clock(), status, attempt_count, $1, error_message,
    CASE WHEN error_class IS NOT NULL THEN jsonb_build_object('error_class', error_class, 'available_at',
      CASE status WHEN 'PENDING' THEN available_at END) END
  FROM settled
)${cost ? settleCost('s.status') : ''}
SELECT id, status FROM settled`

const SETTLE = settleText({ cost: false })
const SETTLE_COST = settleText({ cost: true })

/** Of attempts that could not be settled: those this worker had ended the same way, under this epoch, before. */
const READ_ENDED = `
SELECT a.run_id, r.status
FROM unnest($1::uuid[], $2::int[], $3::text[], $4::int[], $5::text[]) AS i(run_id, attempt, worker_id, epoch, kind)
JOIN run_attempts a ON a.run_id = i.run_id AND a.attempt = i.attempt
JOIN model_runs r ON r.id = a.run_id
WHERE a.finished_at IS NOT NULL AND a.worker_id = i.worker_id AND a.lease_epoch = i.epoch
  AND a.state::text = CASE i.kind WHEN 'succeed' THEN 'SUCCEEDED' WHEN 'cancel' THEN 'CANCELLED' WHEN 'release' THEN 'RELEASED'
    WHEN 'lost' THEN 'LOST' ELSE 'FAILED' END
  -- A run that was taken back has a lost attempt too, and not by the word of its worker.
  AND (i.kind <> 'lost' OR a.error_class IS DISTINCT FROM 'WorkerLost')`

const RECORD_LATE = `
WITH item AS MATERIALIZED (
  SELECT * FROM unnest($1::uuid[], $2::int[], $3::text[], $4::int[], $5::text[]) AS i(id, attempt, worker_id, epoch, kind)
), late AS (
  UPDATE model_runs r SET event_seq = r.event_seq + 1 FROM item i WHERE r.id = ANY (ARRAY[i.id])
  RETURNING r.id, r.event_seq, r.status, i.attempt, i.worker_id, i.epoch, i.kind
)
INSERT INTO run_events (run_id, seq, type, at, status, attempt, worker_id, message, data)
SELECT id, event_seq, 'late_result_discarded', clock(), status, attempt, worker_id,
  'an attempt reported after it had lost its lease', jsonb_build_object('epoch', epoch, 'reported', kind)
FROM late`

export type SettleOptions = { pool: pg.Pool; batchMax?: number; lanes?: number }

export type Settle = Pick<Store, 'settle' | 'settleAll'>

export function createSettle({ pool, batchMax = 1_000, lanes = 2 }: SettleOptions): Settle {
  const group = new GroupCommit<Settlement, Settled | Error>({ flush: settleBatch, batchMax, lanes })

  /**
   * A statement speaks for one worker, and a run named twice in a batch, by an old attempt and by the present one, is settled in
   * turns: each has its own answer. So are successes that bring facets or places, and runs with a cost. Nearly always there is one
   * worker and one turn.
   */
  async function settleBatch(items: Settlement[]): Promise<(Settled | Error)[]> {
    if (isOneTurn(items)) return settleTurn(items)
    const outcomes = new Map<Settlement, Settled | Error>()
    for (let open = items; open.length > 0; open = open.filter((item) => !outcomes.has(item))) {
      const together = open.toReversed().filter((item) => isOfOneTurn(item, open[0]!))
      const turn = [...new Map(together.map((item) => [item.runId, item])).values()]
      const answers = await settleTurn(turn)
      for (const [index, item] of turn.entries()) outcomes.set(item, answers[index]!)
    }
    return items.map((item) => outcomes.get(item)!)
  }

  async function settleTurn(items: Settlement[]): Promise<(Settled | Error)[]> {
    try {
      return await settleTogether(items)
    } catch (error) {
      // What cannot be indexed never costs a run its result.
      if (items.length === 1 && items[0]!.found && isBadRow(error)) return settleTurn([withoutFound(items[0]!)])
      // Nor does what cannot be charged: the janitor closes it.
      if (items.length === 1 && items[0]!.cost && isBadRow(error)) return settleTurn([withoutCost(items[0]!)])
      if (items.length === 1 || isConnectionLost(error) || isSerializationFailure(error))
        return items.map(() => error as Error)
      const outcomes: (Settled | Error)[] = []
      for (const item of items) {
        outcomes.push(...(await settleTurn([item])))
      }
      return outcomes
    }
  }

  async function settleTogether(items: Settlement[]): Promise<Settled[]> {
    const sorted = items.toSorted((a, b) => (a.runId < b.runId ? -1 : 1))
    const statusOf = await settleRows(pool, sorted)
    const missed = items.filter((item) => !statusOf(item))
    const repeated = missed.length > 0 ? await answerMissed(missed) : new Map<string, RunStatus>()
    return items.map((item) => {
      const status = statusOf(item)
      if (status) return { status, repeated: false }
      const before = repeated.get(item.runId)
      return before ? { status: before, repeated: true } : { status: 'stale', repeated: false }
    })
  }

  async function answerMissed(items: Settlement[]): Promise<Map<string, RunStatus>> {
    const { rows } = await pool.query<{ run_id: string; status: RunStatus }>(READ_ENDED, [
      items.map((item) => item.runId),
      items.map((item) => item.attempt),
      items.map((item) => item.workerId),
      items.map((item) => item.epoch),
      items.map((item) => item.kind),
    ])
    const ended = new Map(rows.map((row) => [row.run_id, row.status]))
    const late = items.filter((item) => !ended.has(item.runId)).sort((a, b) => (a.runId < b.runId ? -1 : 1))
    if (late.length > 0) {
      await pool.query(RECORD_LATE, [
        late.map((item) => item.runId),
        late.map((item) => item.attempt),
        late.map((item) => item.workerId),
        late.map((item) => item.epoch),
        late.map((item) => item.kind),
      ])
    }
    return ended
  }

  return {
    async settle(settlement) {
      const outcome = await group.add(settlement)
      if (outcome instanceof Error) throw outcome
      return outcome
    },
    settleAll: (settlements) => group.addAll(settlements) as Promise<(Settled | Error)[]>,
  }
}

type StatusOf = (item: Settlement) => RunStatus | undefined

/** The new status of each; undefined where the lease was not held. */
async function settleRows(pool: pg.Pool, sorted: Settlement[]): Promise<StatusOf> {
  if (sorted.every((item) => item.kind === 'succeed')) {
    const isSettled = await settleSuccesses(pool, sorted)
    return (item) => (isSettled(item) ? 'SUCCEEDED' : undefined)
  }
  const hasCost = sorted[0]!.cost !== undefined
  const { rows } = await pool.query<{ id: string; status: RunStatus }>({
    name: hasCost ? 'settle_cost' : 'settle',
    text: hasCost ? SETTLE_COST : SETTLE,
    values: hasCost
      ? [...settleValues(sorted), plainArray(sorted.map((item) => item.cost!.reported))]
      : settleValues(sorted),
  })
  const statuses = new Map(rows.map((row) => [row.id, row.status]))
  return (item) => statuses.get(item.runId)
}

function isOneTurn(items: Settlement[]): boolean {
  const first = items[0]!
  return (
    items.every((item) => isOfOneTurn(item, first)) && new Set(items.map((item) => item.runId)).size === items.length
  )
}

function isOfOneTurn(item: Settlement, first: Settlement): boolean {
  const isAlike = (item.found === undefined) === (first.found === undefined)
  return item.workerId === first.workerId && isAlike && (item.cost === undefined) === (first.cost === undefined)
}

function withoutFound({ found: _, ...item }: Settlement): Settlement {
  return item
}

function withoutCost({ cost: _, ...item }: Settlement): Settlement {
  return item
}

function settleValues(items: Settlement[]): unknown[] {
  return [
    items[0]!.workerId,
    plainArray(items.map((item) => item.runId)),
    plainArray(items.map((item) => item.epoch)),
    items.map((item) => item.result?.ref ?? null),
    plainArray(items.map((item) => item.result?.hash)),
    items.map((item) => item.result?.text ?? null),
    plainArray(items.map((item) => item.kind)),
    plainArray(items.map((item) => item.delaySeconds ?? 0)),
    items.map((item) => item.error?.class ?? null),
    items.map((item) => item.error?.message ?? null),
    items.map((item) => item.error?.stack ?? null),
    plainArray(items.map((item) => item.error?.exitCode)),
  ]
}
