/**
 * Requests whose name was taken: a read with a new snapshot finds the run behind the name, and `judgeName` decides between the same
 * run, a refusal and, left without an answer, another try.
 */

import type pg from 'pg'
import { Refusal } from '../run/errors.ts'
import { judgeName, type WantedName } from '../run/idempotency.ts'
import { RUN_COLUMNS, type RunRow, runOfRow } from './run-row.ts'
import type { NewRun, Submitted } from './store.ts'

export type Answer = Submitted | Refusal
export type Answers = Map<NewRun, Answer | Promise<Answer>>

const READ_NAMES = `
WITH wanted AS MATERIALIZED (
  SELECT * FROM unnest($1::text[], $2::text[], $3::text[]) WITH ORDINALITY AS n(owner, kind, key, place)
), held AS (
  SELECT n.place, k.run_id, k.payload_hash, k.expires_at
  FROM wanted n JOIN idempotency_keys k ON k.owner = n.owner AND k.kind = n.kind AND k.key = n.key WHERE n.kind <> 'slot'
  UNION ALL
  SELECT n.place, s.run_id, s.payload_hash, s.expires_at
  FROM wanted n JOIN payload_slots s ON s.owner = n.owner AND s.payload_hash = n.key WHERE n.kind = 'slot'
)
SELECT h.place, h.run_id, h.payload_hash AS key_payload_hash, h.expires_at <= clock() AS expired, ${RUN_COLUMNS.replace(/\b(\w+)\b/g, 'r.$1')}
FROM held h JOIN model_runs r ON r.id = h.run_id`

const READ_BY_IDS = `SELECT ${RUN_COLUMNS} FROM model_runs WHERE id = ANY($1::uuid[])`

/** Lets the key of a request, new or lapsed, lead to the run its other name found, so that a repeat with the key gets the same run. */
const ADOPT_BY_KEY = `
INSERT INTO idempotency_keys AS held (owner, kind, key, payload_hash, run_id, created_at, expires_at)
VALUES ($1, 'key', $2, $3, $4, clock(), clock() + $5 * interval '1 second')
ON CONFLICT (owner, kind, key) DO UPDATE
  SET payload_hash = excluded.payload_hash, run_id = excluded.run_id,
      created_at = excluded.created_at, expires_at = excluded.expires_at
  WHERE held.expires_at <= clock()
    AND EXISTS (SELECT FROM model_runs r WHERE r.id = held.run_id AND r.finished_at IS NOT NULL)`

export async function answerTaken(pool: pg.Pool, runs: NewRun[], answers: Answers): Promise<void> {
  // Without a name a run is missing only when an earlier sending of it, whose reply was lost, had created it.
  const nameless = runs.filter((run) => !run.key && !run.slot && !run.retryOf)
  await answerById(pool, nameless, answers)
  const wanted = runs.flatMap((run) => namesOf(run).map((name) => ({ run, name })))
  if (wanted.length === 0) return
  const { rows } = await pool.query<
    RunRow & { place: number; run_id: string; key_payload_hash: string; expired: boolean }
  >(READ_NAMES, [wanted.map((w) => w.run.owner), wanted.map((w) => w.name.kind), wanted.map((w) => w.name.key)])
  const byPlace = new Map(rows.map((row) => [row.place, row]))
  for (const [index, { run, name }] of wanted.entries()) {
    const row = byPlace.get(index + 1)
    // Keys come first, and an explicit key decides alone.
    if (!row || answers.has(run)) continue
    const verdict = judgeName(
      { ...name, runId: run.id, payloadHash: run.payloadHash },
      {
        runId: row.run_id,
        payloadHash: row.key_payload_hash,
        expired: row.expired,
        status: row.status,
      },
    )
    if (verdict === 'mine') answers.set(run, { run: runOfRow(row), idempotentHit: false })
    else if (verdict === 'hit') {
      const named = name.kind === 'key' || !run.key || (await adoptByKey(pool, run, row.id))
      if (named) answers.set(run, { run: runOfRow(row), idempotentHit: true })
    } else if (verdict === 'conflict') answers.set(run, keyReused(run, row.key_payload_hash, row.id))
  }
}

async function adoptByKey(pool: pg.Pool, run: NewRun, runId: string): Promise<boolean> {
  const values = [run.owner, run.key!.key, run.payloadHash, runId, run.key!.ttlSeconds]
  return (await pool.query(ADOPT_BY_KEY, values)).rowCount === 1
}

/** What an earlier sending, whose reply was lost, had created. */
export async function answerById(pool: pg.Pool, runs: NewRun[], answers: Answers): Promise<void> {
  if (runs.length === 0) return
  const { rows } = await pool.query<RunRow>(READ_BY_IDS, [runs.map((run) => run.id)])
  const found = new Map(rows.map((row) => [row.id, row]))
  for (const run of runs) {
    const row = found.get(run.id)
    if (row) answers.set(run, { run: runOfRow(row), idempotentHit: false })
  }
}

type Name = Pick<WantedName, 'kind' | 'dedupe'> & { key: string }

function namesOf(run: NewRun): Name[] {
  const names: Name[] = []
  if (run.key) names.push({ kind: 'key', key: run.key.key, dedupe: 'active' })
  if (run.retryOf) names.push({ kind: 'retry', key: run.retryOf, dedupe: 'active' })
  if (run.slot) names.push({ kind: 'slot', key: run.payloadHash, dedupe: run.slot.dedupe })
  return names
}

/** One text for each of `namesOf`, the same for every request that wants it. Every submit asks for them, so nothing else is made on the way. */
export function nameIds(run: NewRun): string[] {
  const ids: string[] = []
  if (run.key) ids.push(`key\u0000${run.owner}\u0000${run.key.key}`)
  if (run.retryOf) ids.push(`retry\u0000${run.owner}\u0000${run.retryOf}`)
  if (run.slot) ids.push(`slot\u0000${run.owner}\u0000${run.payloadHash}`)
  return ids
}

function keyReused(run: NewRun, takenHash: string, runId: string): Refusal {
  return new Refusal('idempotency-key-reused', `The idempotency key was used for run ${runId} with another payload.`, {
    extra: { payload_hash: run.payloadHash, original_payload_hash: takenHash, run_id: runId },
  })
}
