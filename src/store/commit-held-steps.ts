/**
 * Commit steps by the fences of the worker that holds the leases: one statement for a whole batch of runs.
 *
 * The rows of the attempts are locked first and must still be open under the epoch of the writer, so "kept" is never said by a lost lease, and
 * an end waits until what was kept before it is durable. Several steps of one run get numbers that follow each other. A failing batch is
 * repeated item by item, so that a bad one never fails its neighbours.
 *
 * All commits of a run go through one lane, one after the other; only a twin of a sending whose answer was lost can be under way beside it.
 */

import type pg from 'pg'
import { plainArray } from './array-literal.ts'
import { GroupCommit } from './group-commit.ts'
import { isConnectionLost, isSerializationFailure, isUniqueViolation } from './pg-errors.ts'
import type { HeldCommit, HeldFence, NewStep, StepLimits } from './ports/steps.ts'
import { factsOf } from './step-row.ts'

// Sorted by run, so that two statements lock in the same order. See settle.ts for `= ANY (ARRAY[x])`. Of a batch that was kept as a whole,
// which nearly all are, nothing is answered; only otherwise is each of them looked for among those that were kept.
const COMMIT_HELD = `
WITH item AS MATERIALIZED (
  SELECT * FROM unnest($2::uuid[], $3::int[], $4::int[], $5::text[], $6::timestamptz[], $7::int[], $8::text[], $9::text[], $10::text[], $11::int[],
      $12::text[], $13::int[], $14::float8[], $15::bigint[])
    WITH ORDINALITY AS u(run_id, attempt, epoch, name, started_at, tries, output, output_ref, output_hash, output_bytes,
      item_of, item_no, cpu_seconds, peak_memory_bytes, place)
), held AS MATERIALIZED (
  SELECT i.* FROM item i JOIN run_attempts a ON a.run_id = ANY (ARRAY[i.run_id]) AND a.attempt = i.attempt
  WHERE a.lease_epoch = i.epoch AND a.worker_id = $1 AND a.finished_at IS NULL
  FOR NO KEY UPDATE OF a
), looked AS MATERIALIZED (
  SELECT h.*, COALESCE(l.no, 0) AS no_before, COALESCE(l.named_upto, l.no, 0) AS named_before,
    COALESCE(l.bytes_upto, CASE WHEN l.no > 0 THEN (SELECT sum(s.output_bytes) FROM run_steps s WHERE s.run_id = h.run_id) END, 0) AS bytes_before,
    k.output_hash AS known_hash
  FROM held h LEFT JOIN LATERAL (
    SELECT no, named_upto, bytes_upto FROM run_steps s WHERE s.run_id = h.run_id ORDER BY s.no DESC LIMIT 1
  ) l ON true LEFT JOIN LATERAL (
    SELECT s.output_hash FROM run_steps s WHERE s.run_id = ANY (ARRAY[h.run_id]) AND s.name = h.name
  ) k ON true
), upto AS MATERIALIZED (
  SELECT l.*, no_before + row_number() OVER line AS no, named_before + count(*) FILTER (WHERE item_of IS NULL) OVER line AS named,
    bytes_before + sum(output_bytes) OVER line AS bytes
  FROM looked l WHERE known_hash IS NULL
  WINDOW line AS (PARTITION BY run_id ORDER BY place)
), kept AS (
  INSERT INTO run_steps (run_id, name, no, attempt, started_at, finished_at, tries, output, output_ref, output_hash, output_bytes,
    item_of, item_no, cpu_seconds, peak_memory_bytes, named_upto, bytes_upto)
  SELECT run_id, name, no, attempt, CASE WHEN started_at IS NOT NULL THEN LEAST(started_at, clock()) END, clock(), tries, output::json,
    output_ref, output_hash, output_bytes, item_of, item_no, cpu_seconds, peak_memory_bytes, named, bytes
  FROM upto WHERE named <= $16 AND no - named <= $17 AND bytes <= $18
  ON CONFLICT (run_id, name) DO NOTHING
  RETURNING run_id, name
)
SELECT i.place::int, CASE WHEN l.place IS NULL THEN 'lost' WHEN l.known_hash = i.output_hash THEN 'repeated' WHEN l.known_hash IS NOT NULL THEN 'conflict'
  WHEN u.named <= $16 AND u.no - u.named <= $17 AND u.bytes <= $18 THEN 'again' ELSE 'full' END AS verdict
FROM item i LEFT JOIN looked l ON l.place = i.place LEFT JOIN upto u ON u.place = i.place
WHERE (SELECT count(*) FROM kept) < cardinality($2::uuid[])
  AND NOT EXISTS (SELECT FROM kept k WHERE k.run_id = i.run_id AND k.name = i.name)`

export type HeldItem = { fence: HeldFence; step: NewStep; limits: StepLimits }

/** `again`: someone took its name or its number meanwhile. */
type Verdict = HeldCommit | 'again'

const LOOKS_MAX = 20

export type CommitHeldOptions = { pool: pg.Pool; batchMax?: number; lanes?: number }

export function createCommitHeld({ pool, batchMax = 500, lanes = 2 }: CommitHeldOptions) {
  const groups = Array.from(
    { length: lanes },
    () =>
      new GroupCommit<HeldItem, HeldCommit | Error>({
        flush: (items) => commitInTurns(pool, items),
        batchMax,
        lanes: 1,
      }),
  )

  return async function commitHeld(fence: HeldFence, step: NewStep, limits: StepLimits): Promise<HeldCommit> {
    const verdict = await groups[laneOf(fence.runId, lanes)]!.add({ fence, step, limits })
    if (verdict instanceof Error) throw verdict
    return verdict
  }
}

/** By the last digits of the id, which are random. */
function laneOf(runId: string, lanes: number): number {
  return Number.parseInt(runId.slice(-4), 16) % lanes
}

/** A statement speaks for one worker and one set of limits, and names no step twice. Nearly always that is one turn. */
async function commitInTurns(pool: pg.Pool, items: HeldItem[]): Promise<(HeldCommit | Error)[]> {
  const verdicts = new Map<HeldItem, HeldCommit | Error>()
  for (let open = items; open.length > 0; open = open.filter((item) => !verdicts.has(item))) {
    const turn = firstTurn(open)
    const answers = await commitTurn(pool, turn)
    for (const [index, item] of turn.entries()) verdicts.set(item, answers[index]!)
  }
  return items.map((item) => verdicts.get(item)!)
}

function firstTurn(open: HeldItem[]): HeldItem[] {
  const { fence, limits } = open[0]!
  const names = new Set<string>()
  return open.filter((item) => {
    const name = `${item.fence.runId} ${item.step.name}`
    const fits = item.fence.workerId === fence.workerId && isSame(item.limits, limits) && !names.has(name)
    if (fits) names.add(name)
    return fits
  })
}

function isSame(a: StepLimits, b: StepLimits): boolean {
  return a.steps === b.steps && a.items === b.items && a.bytes === b.bytes
}

async function commitTurn(pool: pg.Pool, items: HeldItem[]): Promise<(HeldCommit | Error)[]> {
  let verdicts: (Verdict | Error)[]
  try {
    verdicts = await commitTogether(pool, items)
  } catch (error) {
    if (isConnectionLost(error) || isSerializationFailure(error)) return items.map(() => error as Error)
    verdicts = items.map(() => 'again')
  }
  const answers: (HeldCommit | Error)[] = []
  for (const [index, item] of items.entries()) {
    const verdict = verdicts[index]!
    // One that is too much makes those after it look so too.
    const isOpen = verdict === 'again' || (verdict === 'full' && items.length > 1)
    answers.push(isOpen ? await commitAlone(pool, item).catch((alone: Error) => alone) : verdict)
  }
  return answers
}

async function commitAlone(pool: pg.Pool, item: HeldItem): Promise<HeldCommit> {
  for (let looks = 1; looks <= LOOKS_MAX; looks += 1) {
    const verdict = await commitTogether(pool, [item]).catch(numberTaken)
    if (verdict[0] !== 'again') return verdict[0]!
  }
  throw new Error(`the steps of run ${item.fence.runId} changed at every look`)
}

function numberTaken(error: unknown): Verdict[] {
  if (isUniqueViolation(error, 'steps_no')) return ['again']
  throw error
}

async function commitTogether(pool: pg.Pool, items: HeldItem[]): Promise<Verdict[]> {
  const places = items.map((_, index) => index)
  // Steps of one run stay in the order in which they came.
  places.sort((a, b) =>
    items[a]!.fence.runId < items[b]!.fence.runId ? -1 : items[a]!.fence.runId > items[b]!.fence.runId ? 1 : a - b,
  )
  const { rows } = await pool.query<{ place: number; verdict: Verdict }>({
    name: 'commit_held_steps',
    text: COMMIT_HELD,
    values: commitValues(places.map((index) => items[index]!)),
  })
  const verdicts = items.map((): Verdict => 'kept')
  for (const { place, verdict } of rows) verdicts[places[place - 1]!] = verdict
  return verdicts
}

function commitValues(items: HeldItem[]): unknown[] {
  const { fence, limits } = items[0]!
  const facts = items.map(({ step }) => factsOf(step))
  return [
    fence.workerId,
    plainArray(items.map((item) => item.fence.runId)),
    plainArray(items.map((item) => item.fence.attempt)),
    plainArray(items.map((item) => item.fence.epoch)),
    facts.map(({ name }) => name),
    facts.map(({ startedAt }) => startedAt),
    plainArray(facts.map(({ tries }) => tries)),
    items.map(({ step }) => step.output.text),
    items.map(({ step }) => step.output.ref),
    plainArray(items.map(({ step }) => step.output.hash)),
    plainArray(items.map(({ step }) => step.output.bytes)),
    facts.map(({ itemOf }) => itemOf),
    plainArray(facts.map(({ itemNo }) => itemNo)),
    plainArray(facts.map(({ cpuSeconds }) => cpuSeconds)),
    plainArray(facts.map(({ peakMemoryBytes }) => peakMemoryBytes)),
    limits.steps,
    limits.items ?? limits.steps,
    limits.bytes,
  ]
}
