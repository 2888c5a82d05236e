/** How the steps of an attempt that are not done stand, for people: the latest word on the open attempt, fenced by the epoch. */

import type pg from 'pg'
import type { Fence } from './ports/attempts.ts'
import type { StoredStepState } from './ports/steps.ts'

const SAVE = `
UPDATE run_attempts a SET step_states = i.states
FROM unnest($1::uuid[], $2::int[], $3::int[], $4::jsonb[]) AS i(run_id, attempt, epoch, states)
WHERE a.run_id = ANY (ARRAY[i.run_id]) AND a.attempt = i.attempt AND a.lease_epoch = i.epoch AND a.finished_at IS NULL`

const READ = `SELECT attempt, step_states FROM run_attempts WHERE run_id = $1 ORDER BY attempt DESC LIMIT 1`

export async function saveStepStates(
  pool: pg.Pool,
  items: { fence: Fence; states: StoredStepState[] }[],
): Promise<void> {
  if (items.length === 0) return
  const sorted = items.toSorted((a, b) => (a.fence.runId < b.fence.runId ? -1 : 1))
  await pool.query({
    name: 'save_step_states',
    text: SAVE,
    values: [
      sorted.map(({ fence }) => fence.runId),
      sorted.map(({ fence }) => fence.attempt),
      sorted.map(({ fence }) => fence.epoch),
      sorted.map(({ states }) => JSON.stringify(states)),
    ],
  })
}

export async function readStepStates(
  pool: pg.Pool,
  runId: string,
): Promise<{ attempt: number; states: StoredStepState[] } | null> {
  const { rows } = await pool.query<{ attempt: number; step_states: StoredStepState[] | null }>({
    name: 'read_step_states',
    text: READ,
    values: [runId],
  })
  const [row] = rows
  return row?.step_states ? { attempt: row.attempt, states: row.step_states } : null
}
