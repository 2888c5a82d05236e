/**
 * The history checker: reads what a database has recorded about its runs and checks the invariants I1–I5 and I9–I11.
 *
 * Each change of a run is one transaction with one event, so the events of a run are a totally ordered trace: it is replayed
 * here, apart from the code that wrote it. The database may be in use; a run is read in one statement, hence in one state.
 */

import type pg from 'pg'
import { type AttemptState, isTerminal, type RunStatus } from '../../src/run/status.ts'
import { traceProblems } from './trace.ts'

export type Recorded = {
  id: string
  status: RunStatus
  owner: string
  eventSeq: number
  attemptCount: number
  releaseCount: number
  reclaimCount: number
  maxAttempts: number
  leaseEpoch: number
  leaseOwner: string | null
  available: boolean
  leased: boolean
  cancelRequested: boolean
  resultRef: string | null
  /** The attempt whose result is stored inline. */
  resultAttempt: number | null
  hasLane: boolean
  attempts: { attempt: number; state: AttemptState; worker: string; epoch: number; resultRef: string | null }[]
  events: {
    seq: number
    type: string
    status: RunStatus | null
    attempt: number | null
    worker: string | null
    epoch: number | null
  }[]
}

/** What a client was told: the run it was given and, when it sent a key, for which. */
export type Accepted = { runId: string; owner?: string; key?: string }

const PAGE = 2_000

const READ_RUNS = `
SELECT r.id, json_build_object('id', r.id, 'status', r.status, 'owner', r.owner, 'eventSeq', r.event_seq,
  'attemptCount', r.attempt_count, 'releaseCount', r.release_count, 'reclaimCount', r.reclaim_count,
  'maxAttempts', r.max_attempts, 'leaseEpoch', r.lease_epoch, 'leaseOwner', r.lease_owner,
  'available', isfinite(r.available_at), 'leased', COALESCE(isfinite(r.lease_expires_at) AND isfinite(r.deadline_at), false),
  'cancelRequested', r.cancel_requested_at IS NOT NULL, 'resultRef', r.result_ref,
  'resultAttempt', (SELECT attempt FROM holdfast.run_results WHERE run_id = r.id),
  'hasLane', EXISTS (SELECT FROM holdfast.lanes l WHERE l.lane = r.lane AND l.queue = r.queue AND l.model = r.model
    AND l.model_version = r.model_version AND l.priority = r.priority),
  'attempts', COALESCE((SELECT json_agg(json_build_object('attempt', a.attempt, 'state', a.state, 'worker', a.worker_id,
      'epoch', a.lease_epoch, 'resultRef', a.result_ref) ORDER BY a.attempt)
    FROM holdfast.run_attempts a WHERE a.run_id = r.id), '[]'),
  'events', COALESCE((SELECT json_agg(json_build_object('seq', e.seq, 'type', e.type, 'status', e.status,
      'attempt', e.attempt, 'worker', e.worker_id, 'epoch', (e.data->>'epoch')::int) ORDER BY e.seq)
    FROM holdfast.run_events e WHERE e.run_id = r.id), '[]')) AS recorded
FROM holdfast.model_runs r WHERE r.id > $1 ORDER BY r.id LIMIT ${PAGE}`

const ORPHANS = `
SELECT what, run_id FROM (
  SELECT 'an event' AS what, run_id FROM holdfast.run_events UNION SELECT 'an attempt', run_id FROM holdfast.run_attempts
  UNION SELECT 'a result', run_id FROM holdfast.run_results UNION SELECT 'a name', run_id FROM holdfast.run_names
) AS kept WHERE NOT EXISTS (SELECT FROM holdfast.model_runs r WHERE r.id = kept.run_id)`

const FOREIGN_NAMES = `
SELECT k.kind, k.key, k.owner, k.run_id FROM holdfast.run_names k JOIN holdfast.model_runs r ON r.id = k.run_id
WHERE k.owner <> r.owner OR k.payload_hash <> r.payload_hash`

export async function checkHistory(
  db: pg.Pool | pg.Client,
  { accepted = [] }: { accepted?: Accepted[] } = {},
): Promise<{ runs: number; violations: string[] }> {
  const violations: string[] = []
  const seen = new Set<string>()
  for (let after = '00000000-0000-0000-0000-000000000000'; ; ) {
    const { rows } = await db.query<{ id: string; recorded: Recorded }>(READ_RUNS, [after])
    for (const { id, recorded } of rows) {
      seen.add(id)
      violations.push(...checkRun(recorded))
    }
    if (rows.length < PAGE) break
    after = rows.at(-1)!.id
  }
  const { rows: orphans } = await db.query<{ what: string; run_id: string }>(ORPHANS)
  violations.push(...orphans.map(({ what, run_id }) => `I1 run ${run_id}: ${what} is left of a run that is gone`))
  const { rows: names } = await db.query<{ kind: string; key: string; owner: string; run_id: string }>(FOREIGN_NAMES)
  violations.push(
    ...names.map(({ kind, key, run_id }) => `I2 run ${run_id}: ${kind} ${key} is of another owner or payload`),
  )
  violations.push(...checkAccepted(accepted, seen))
  return { runs: seen.size, violations }
}

export function checkRun(run: Recorded): string[] {
  return [...traceProblems(run), ...attemptProblems(run), ...resultProblems(run), ...waitProblems(run)].map(
    ([invariant, problem]) => `${invariant} run ${run.id}: ${problem}`,
  )
}

export type Problem = ['I3' | 'I4' | 'I5' | 'I9' | 'I10' | 'I11', string]

function attemptProblems(run: Recorded): Problem[] {
  const problems: Problem[] = []
  const { attempts } = run
  const numbers = attempts.map(({ attempt }) => attempt)
  if (numbers.length !== run.attemptCount || numbers.some((attempt, index) => attempt !== index + 1))
    problems.push(['I4', `attempts [${numbers}] are not 1..${run.attemptCount}`])
  if (attempts.some(({ epoch }, index) => index > 0 && epoch <= attempts[index - 1]!.epoch))
    problems.push(['I4', `epochs [${attempts.map(({ epoch }) => epoch)}] of the attempts do not rise`])
  const last = attempts.at(-1)
  if (last && last.epoch !== run.leaseEpoch)
    problems.push(['I4', `the run is at epoch ${run.leaseEpoch}, its last attempt at ${last.epoch}`])
  if (run.status === 'RUNNING' && last?.worker !== run.leaseOwner)
    problems.push(['I4', `the lease is of ${run.leaseOwner}, the last attempt of ${last?.worker}`])
  const open = attempts.filter(({ state }) => state === 'SUBMITTED' || state === 'RUNNING')
  const wanted = run.status === 'RUNNING' ? [last] : []
  if (open.length !== wanted.length || open[0] !== wanted[0])
    problems.push(['I4', `the run is ${run.status} and attempts [${open.map(({ attempt }) => attempt)}] are open`])
  const released = attempts.filter(({ state }) => state === 'RELEASED').length
  const lost = attempts.filter(({ state }) => state === 'LOST').length
  if (released !== run.releaseCount || lost !== run.reclaimCount)
    problems.push(['I11', `${released} released and ${lost} lost attempts are counted wrongly`])
  if (attempts.length - released > run.maxAttempts)
    problems.push(['I11', `${attempts.length - released} attempts count, ${run.maxAttempts} are allowed`])
  return problems
}

/** The visible result is that of the attempt that ended the run, which is its last one; no other attempt left any. */
function resultProblems(run: Recorded): Problem[] {
  const problems: Problem[] = []
  const last = run.attempts.at(-1)
  const succeeded = run.attempts.filter(({ state }) => state === 'SUCCEEDED')
  if (run.status === 'SUCCEEDED' ? succeeded.length !== 1 || succeeded[0] !== last : succeeded.length > 0)
    problems.push(['I5', `the run is ${run.status} and ${succeeded.length} attempts are SUCCEEDED`])
  const owner = run.attempts.filter(({ resultRef }) => resultRef !== null)
  const wanted = run.resultRef === null ? [] : [last]
  if (owner.length !== wanted.length || owner[0] !== wanted[0] || (last && run.resultRef !== last.resultRef))
    problems.push(['I5', `the result ${run.resultRef} is not that of the last attempt alone`])
  const inline = run.resultRef === 'inline' ? run.attemptCount : null
  if (run.resultAttempt !== inline) problems.push(['I5', `the stored result is of attempt ${run.resultAttempt}`])
  return problems
}

/** What is not finished has a moment at which somebody looks at it again. */
function waitProblems(run: Recorded): Problem[] {
  if (isTerminal(run.status)) return []
  const problems: Problem[] = []
  if (run.status === 'RUNNING' && !run.leased) problems.push(['I10', 'the lease never ends'])
  if (run.status !== 'PENDING') return problems
  if (!run.available) problems.push(['I10', 'it is never available'])
  if (!run.hasLane) problems.push(['I10', 'it waits in no lane, so no claim finds it'])
  if (run.cancelRequested) problems.push(['I10', 'it is cancelled and waits'])
  if (run.attemptCount - run.releaseCount >= run.maxAttempts) problems.push(['I10', 'it waits without attempts left'])
  return problems
}

function checkAccepted(accepted: Accepted[], seen: Set<string>): string[] {
  const violations: string[] = []
  const runOfKey = new Map<string, string>()
  for (const { runId, owner = 'default', key } of accepted) {
    if (!seen.has(runId)) violations.push(`I1 run ${runId}: it was accepted and is gone`)
    if (key === undefined) continue
    const name = JSON.stringify([owner, key])
    const first = runOfKey.get(name) ?? runId
    runOfKey.set(name, first)
    if (first !== runId) violations.push(`I2 run ${runId}: key ${key} of ${owner} had led to run ${first}`)
  }
  return violations
}
