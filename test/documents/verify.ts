/** What must hold when all documents have been handed in and nothing is left to do. Each sentence that comes back is a violation. */

import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type pg from 'pg'
import type { Holdfast } from '../../client/src/index.ts'
import type { BlobStore } from '../../src/blob/blob.ts'
import { nameOf } from '../../src/blob/blob.ts'
import { checkHistory } from '../support/history.ts'
import { STEP_LOG } from './counted-pipeline.ts'
import type { Handed } from './hand-in.ts'

const SHOWN_MAX = 20

type RunEnd = { status: string; errorClass: string | null }

export async function verifyDocuments(pool: pg.Pool, client: Holdfast, handed: Handed[]): Promise<string[]> {
  const ends = await runEnds(pool)
  return [
    ...endProblems(handed, ends),
    ...duplicateProblems(handed),
    ...(await recordProblems(pool, handed)),
    ...(await batchProblems(client, handed, ends)),
  ]
}

async function runEnds(pool: pg.Pool): Promise<Map<string, RunEnd>> {
  const { rows } = await pool.query<{ id: string; status: string; class: string | null }>(
    `SELECT r.id, r.status, r.last_error_class AS class FROM holdfast.model_runs r`,
  )
  return new Map(rows.map(({ id, status, class: errorClass }) => [id, { status, errorClass }]))
}

/** A document of which several copies came may be made by any of them, so the manifest says how its run ends, and how many copies there are. */
function endProblems(handed: Handed[], ends: Map<string, RunEnd>): string[] {
  return handed.flatMap(({ name, expected, errorClass, upload }) => {
    const end = upload.run_id === null ? undefined : ends.get(upload.run_id)
    if (!end) return [`${name}: its run ${upload.run_id} does not exist`]
    const wanted = expected === 'ERROR' ? 'FAILED' : 'SUCCEEDED'
    if (end.status !== wanted)
      return [`${name}: its run ${upload.run_id} is ${end.status} (${end.errorClass}), not ${wanted}`]
    if (expected === 'ERROR' && errorClass && end.errorClass !== errorClass)
      return [`${name}: its run failed with ${end.errorClass}, not ${errorClass}`]
    return []
  })
}

function duplicateProblems(handed: Handed[]): string[] {
  const byContent = Map.groupBy(handed, ({ sha256 }) => sha256)
  const problems: string[] = []
  for (const [sha256, copies] of byContent) {
    const first = copies.filter(({ upload }) => !upload.duplicate)
    if (first.length !== 1)
      problems.push(`${copies[0]!.name}: ${first.length} of its ${copies.length} copies are no duplicate`)
    if (new Set(copies.map(({ upload }) => upload.run_id)).size !== 1) problems.push(`${copies[0]!.name}: several runs`)
    if (copies.some(({ upload }) => upload.file_id !== sha256)) problems.push(`${copies[0]!.name}: a wrong digest`)
  }
  const told = handed.filter(({ upload }) => upload.duplicate).length
  const meant = handed.filter(({ expected }) => expected === 'DUPLICATE').length
  if (told !== meant) problems.push(`${told} uploads were called duplicates, ${meant} are`)
  return problems
}

/** One upload for each document, however often its request was sent; one run and one file for each content. */
async function recordProblems(pool: pg.Pool, handed: Handed[]): Promise<string[]> {
  const contents = new Set(handed.map(({ sha256 }) => sha256)).size
  const { rows } = await pool.query<{ uploads: number; runs: number; files: number; unfinished: number; told: number }>(
    `SELECT (SELECT count(*) FROM holdfast.file_uploads)::int AS uploads, (SELECT count(*) FROM holdfast.model_runs)::int AS runs,
       (SELECT count(*) FROM holdfast.files)::int AS files,
       (SELECT count(*) FROM holdfast.model_runs WHERE finished_at IS NULL)::int AS unfinished,
       (SELECT count(*) FROM holdfast.run_events WHERE type = 'document.duplicate')::int AS told`,
  )
  const { uploads, runs, files, unfinished, told } = rows[0]!
  const wanted: [string, number, number][] = [
    ['uploads', uploads, handed.length],
    ['runs', runs, contents],
    ['files', files, contents],
    ['runs without an end', unfinished, 0],
    ['document.duplicate events', told, handed.length - contents],
  ]
  return wanted.flatMap(([what, got, count]) => (got === count ? [] : [`${got} ${what} instead of ${count}`]))
}

async function batchProblems(client: Holdfast, handed: Handed[], ends: Map<string, RunEnd>): Promise<string[]> {
  const problems: string[] = []
  for (const [batchId, members] of Map.groupBy(handed, ({ batchId }) => batchId)) {
    const own = members.filter(({ upload }) => !upload.duplicate)
    const ended = (status: string) =>
      own.filter(({ upload }) => ends.get(upload.run_id ?? '')?.status === status).length
    const wanted = {
      total: members.length,
      waiting: 0,
      running: 0,
      done: ended('SUCCEEDED'),
      failed: ended('FAILED'),
      cancelled: 0,
      duplicate: members.length - own.length,
      finished: true,
    }
    const batch = await client.batches.get(batchId)
    for (const [name, count] of Object.entries(wanted)) {
      const got = batch[name as keyof typeof wanted]
      if (got !== count) problems.push(`batch ${batchId}: ${name} is ${got} instead of ${count}`)
    }
  }
  return problems
}

export type StepCounts = { executed: number; committed: number; repeated: number }

/** A step ran again in a later attempt than the one that committed it; or was tried more often there than its record says. */
export async function verifySteps(pool: pg.Pool, folder: string): Promise<StepCounts & { violations: string[] }> {
  const executions = await readExecutions(folder)
  const { rows } = await pool.query<{ run_id: string; name: string; attempt: number; tries: number }>(
    'SELECT run_id, name, attempt, tries FROM holdfast.run_steps',
  )
  const violations: string[] = []
  let executed = 0
  let repeated = 0
  const committed = new Map(rows.map((row) => [`${row.run_id} ${row.name}`, row]))
  for (const [step, attempts] of executions) {
    const times = [...attempts.values()].reduce((sum, count) => sum + count, 0)
    executed += times
    repeated += times - 1
    const row = committed.get(step)
    if (!row) continue
    const again = [...attempts.keys()].filter((attempt) => attempt > row.attempt)
    if (again.length > 0)
      violations.push(`step ${step}: committed by attempt ${row.attempt}, executed again by ${again}`)
    const times_ = attempts.get(row.attempt) ?? 0
    if (times_ !== row.tries) violations.push(`step ${step}: executed ${times_} times, its record says ${row.tries}`)
  }
  for (const step of committed.keys()) if (!executions.has(step)) violations.push(`step ${step}: nobody executed it`)
  return { executed, committed: committed.size, repeated, violations }
}

/** By run and step: how often each attempt executed it. */
async function readExecutions(folder: string): Promise<Map<string, Map<number, number>>> {
  const executions = new Map<string, Map<number, number>>()
  for (const file of await readdir(folder)) {
    if (!STEP_LOG.test(file)) continue
    for (const line of (await readFile(join(folder, file), 'utf8')).split('\n')) {
      const [, runId, attempt, name] = /^(\S+) (\d+) (.+)$/.exec(line) ?? []
      if (!name) continue
      const attempts = executions.get(`${runId} ${name}`) ?? new Map<number, number>()
      attempts.set(Number(attempt), (attempts.get(Number(attempt)) ?? 0) + 1)
      executions.set(`${runId} ${name}`, attempts)
    }
  }
  return executions
}

const REFERENCES = `
SELECT ref FROM holdfast.files UNION ALL SELECT ref FROM holdfast.upload_parts
UNION ALL SELECT output_ref FROM holdfast.run_steps UNION ALL SELECT result_ref FROM holdfast.model_runs
UNION ALL SELECT log_ref FROM holdfast.run_attempts UNION ALL SELECT ref FROM holdfast.run_artifacts`

/** After the sweep: every blob is named by a row, and every name in a row leads to a blob. */
export async function verifyBlobs(pool: pg.Pool, blob: BlobStore): Promise<{ blobs: number; violations: string[] }> {
  const { rows } = await pool.query<{ ref: string | null }>(REFERENCES)
  const named = new Set(rows.flatMap(({ ref }) => (ref?.startsWith('artifacts/') ? [nameOf(ref)] : [])))
  const violations: string[] = []
  const there = new Set<string>()
  for await (const { name } of blob.list()) {
    there.add(name)
    if (!named.has(name)) violations.push(`the blob ${name} belongs to nothing`)
  }
  for (const name of named) if (!there.has(name)) violations.push(`the blob ${name} is missing`)
  return { blobs: there.size, violations }
}

export async function verifyHistory(pool: pg.Pool): Promise<string[]> {
  return (await checkHistory(pool)).violations
}

export function shown(violations: string[]): string {
  const more = violations.length > SHOWN_MAX ? [`… and ${violations.length - SHOWN_MAX} more`] : []
  return [...violations.slice(0, SHOWN_MAX), ...more].join('\n')
}
