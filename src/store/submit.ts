/**
 * Submit: accept a request once.
 *
 * The usual case is one statement for a whole batch (`insert-runs.ts`). What it did not create had a name that was taken:
 * a second statement, with a new snapshot, reads the run behind the name and `judgeName` decides between the same run, a
 * refusal and another try. A batch that fails is repeated item by item on connections that may wait longer, so that one
 * bad or blocked item never fails or delays its neighbours. After a lost reply the same ids are sent again, which
 * finds what was committed and creates only what was not.
 */

import type pg from 'pg'
import { Refusal } from '../run/errors.ts'
import { judgeName, type WantedName } from '../run/idempotency.ts'
import { GroupCommit } from './group-commit.ts'
import { insertRuns } from './insert-runs.ts'
import {
  isConnectionLost,
  isForeignKeyViolation,
  isLockTimeout,
  isSerializationFailure,
  unavailable,
} from './pg-errors.ts'
import { RUN_COLUMNS, type RunRow, runOfNew, runOfRow } from './run-row.ts'
import type { NewRun, Submitted } from './store.ts'

type Answer = Submitted | Refusal

export type SubmitOptions = {
  /** For batches: gives up waiting for a taken name soon, then the batch is taken apart. */
  batchPool: pg.Pool
  /** For single items: waits up to two seconds for a twin that is still committing. */
  singlePool: pg.Pool
  batchMax?: number
  lanes?: number
  retryForMs?: number
}

export type Submit = { one(run: NewRun): Promise<Answer>; many(runs: NewRun[]): Promise<Answer[]> }

const READ_NAMES = `
SELECT n.place, k.run_id, k.payload_hash AS key_payload_hash, k.expires_at <= clock() AS expired, ${RUN_COLUMNS.replace(/\b(\w+)\b/g, 'r.$1')}
FROM unnest($1::text[], $2::text[], $3::text[]) WITH ORDINALITY AS n(owner, kind, key, place)
JOIN idempotency_keys k ON k.owner = n.owner AND k.kind = n.kind AND k.key = n.key
JOIN model_runs r ON r.id = k.run_id`

const READ_BY_IDS = `SELECT ${RUN_COLUMNS} FROM model_runs WHERE id = ANY($1::uuid[])`

const ENSURE_LANES = `
INSERT INTO lanes (queue, model, model_version, priority)
SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::smallint[]) ORDER BY 1, 2, 3, 4
ON CONFLICT DO NOTHING`

/** Lets the key of a request lead to the run its slot found, so that a repeat with the key gets the same run. */
const ADOPT_BY_KEY = `
INSERT INTO idempotency_keys (owner, kind, key, payload_hash, run_id, created_at, expires_at)
VALUES ($1, 'key', $2, $3, $4, clock(), clock() + $5 * interval '1 second')
ON CONFLICT DO NOTHING`

/** Requests waiting for a commit; at the slowest measured rate a few seconds of work. */
const QUEUE_MAX = 10_000

export function createSubmit(options: SubmitOptions): Submit {
  const { batchPool, singlePool, retryForMs = 10_000 } = options
  const knownLanes = new Set<string>()

  const group = new GroupCommit<NewRun, Answer>({
    flush: submitBatch,
    batchMax: options.batchMax ?? 500,
    lanes: options.lanes ?? 2,
    queueMax: QUEUE_MAX,
    overflow: () => new Refusal('busy', 'Too many requests are waiting for the database.'),
  })

  /** Equal names inside one batch are merged: the first asks for the name, the others find it taken afterwards. */
  async function submitBatch(runs: NewRun[]): Promise<Answer[]> {
    const answers = new Map<NewRun, Answer>()
    const firsts: NewRun[] = []
    const later: NewRun[] = []
    const asked = new Set<string>()
    for (const run of runs) {
      const names = namesOf(run)
      if (names.length > 1 || names.some((name) => asked.has(nameId(run.owner, name)))) later.push(run)
      else firsts.push(run)
      for (const name of names) asked.add(nameId(run.owner, name))
    }
    await answerBatch(firsts, answers, async () =>
      answerTaken(batchPool, await create(batchPool, firsts, answers), answers),
    )
    await answerBatch(later, answers, () => answerTaken(batchPool, later, answers))
    return runs.map((run) => answers.get(run)!)
  }

  async function answerBatch(
    runs: NewRun[],
    answers: Map<NewRun, Answer>,
    together: () => Promise<void>,
  ): Promise<void> {
    if (runs.length === 0) return
    try {
      await ensureLanes(runs)
      await together()
    } catch (error) {
      // Not known which item is at fault, nor, after a lost reply, which were created: each open one is asked again alone.
      if (!(error instanceof Error)) throw error
    }
    const open = runs.filter((run) => !answers.has(run))
    await Promise.all(open.map(async (run) => answers.set(run, await submitAlone(run))))
  }

  async function submitAlone(run: NewRun): Promise<Answer> {
    const giveUpAt = performance.now() + retryForMs
    for (let tries = 1; ; tries += 1) {
      const answers = new Map<NewRun, Answer>()
      try {
        await ensureLanes([run])
        const taken = await create(singlePool, [run], answers)
        await answerTaken(singlePool, taken, answers)
        const answer = answers.get(run)
        if (answer) return answer
      } catch (error) {
        if (isLockTimeout(error)) {
          return new Refusal(
            'busy',
            'Another request with the same idempotency key or payload is still being accepted.',
          )
        }
        if (!isConnectionLost(error) && !isSerializationFailure(error)) throw error
        if (performance.now() > giveUpAt) return unavailable(error)
      }
      if (performance.now() > giveUpAt) return new Refusal('busy', 'The idempotency key changed hands too often.')
      await pause(Math.min(1_000, 10 * 2 ** Math.min(tries, 7)))
    }
  }

  async function create(pool: pg.Pool, runs: NewRun[], answers: Map<NewRun, Answer>): Promise<NewRun[]> {
    let rows: Awaited<ReturnType<typeof insertRuns>>
    try {
      rows = await insertRuns(pool, runs)
    } catch (error) {
      // A request with both a key and a slot got only one of them: the statement undid itself.
      if (isForeignKeyViolation(error, 'idempotency_keys_run_id_fkey')) return runs
      throw error
    }
    const created = new Map(rows.map((row) => [row.id, row]))
    return runs.filter((run) => {
      const row = created.get(run.id)
      if (row) answers.set(run, { run: runOfNew(run, row.created_at, row.available_at), idempotentHit: false })
      return !row
    })
  }

  async function answerTaken(pool: pg.Pool, runs: NewRun[], answers: Map<NewRun, Answer>): Promise<void> {
    if (runs.length === 0) return
    await answerNameless(pool, runs, answers)
    const wanted = runs.flatMap((run) => namesOf(run).map((name) => ({ run, name })))
    if (wanted.length === 0) return
    const { rows } = await pool.query<
      RunRow & { place: number; run_id: string; key_payload_hash: string; expired: boolean }
    >(READ_NAMES, [wanted.map((w) => w.run.owner), wanted.map((w) => w.name.kind), wanted.map((w) => w.name.key)])
    const byPlace = new Map(rows.map((row) => [row.place, row]))
    for (const [index, { run, name }] of wanted.entries()) {
      const row = byPlace.get(index + 1)
      // Keys come before slots, and an explicit key decides alone.
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
        if (name.kind === 'slot' && run.key) await adoptByKey(pool, run, row.id)
        answers.set(run, { run: runOfRow(row), idempotentHit: true })
      } else if (verdict === 'conflict') answers.set(run, keyReused(run, row.key_payload_hash, row.id))
    }
  }

  async function adoptByKey(pool: pg.Pool, run: NewRun, runId: string): Promise<void> {
    await pool.query(ADOPT_BY_KEY, [run.owner, run.key!.key, run.payloadHash, runId, run.key!.ttlSeconds])
  }

  /** Without a name a run is missing only when an earlier sending of it, whose reply was lost, had created it. */
  async function answerNameless(pool: pg.Pool, runs: NewRun[], answers: Map<NewRun, Answer>): Promise<void> {
    const nameless = runs.filter((run) => !run.key && !run.slot)
    if (nameless.length === 0) return
    const { rows } = await pool.query<RunRow>(READ_BY_IDS, [nameless.map((run) => run.id)])
    const found = new Map(rows.map((row) => [row.id, row]))
    for (const run of nameless) {
      const row = found.get(run.id)
      if (row) answers.set(run, { run: runOfRow(row), idempotentHit: false })
    }
  }

  async function ensureLanes(runs: NewRun[]): Promise<void> {
    const missing = new Map<string, NewRun>()
    for (const run of runs) {
      const lane = `${run.queue}\u0000${run.model}\u0000${run.modelVersion}\u0000${run.priority}`
      if (!knownLanes.has(lane)) missing.set(lane, run)
    }
    if (missing.size === 0) return
    const lanes = [...missing.values()]
    await singlePool.query(ENSURE_LANES, [
      lanes.map((run) => run.queue),
      lanes.map((run) => run.model),
      lanes.map((run) => run.modelVersion),
      lanes.map((run) => run.priority),
    ])
    for (const lane of missing.keys()) knownLanes.add(lane)
  }

  return {
    one: (run) => group.add(run),
    many: (runs) => submitBatch(runs),
  }
}

type Name = Pick<WantedName, 'kind' | 'dedupe'> & { key: string }

function namesOf(run: NewRun): Name[] {
  const names: Name[] = []
  if (run.key) names.push({ kind: 'key', key: run.key.key, dedupe: 'active' })
  if (run.slot) names.push({ kind: 'slot', key: run.payloadHash, dedupe: run.slot.dedupe })
  return names
}

function nameId(owner: string, name: Name): string {
  return `${name.kind}\u0000${owner}\u0000${name.key}`
}

function keyReused(run: NewRun, takenHash: string, runId: string): Refusal {
  return new Refusal('idempotency-key-reused', `The idempotency key was used for run ${runId} with another payload.`, {
    extra: { payload_hash: run.payloadHash, original_payload_hash: takenHash, run_id: runId },
  })
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
