/** Progress: the latest value on the open attempt, fenced by the epoch. It is not an event. */

import type pg from 'pg'

const SAVE_PROGRESS = `
UPDATE run_attempts a SET progress = i.progress, progress_at = clock()
FROM unnest($1::uuid[], $2::int[], $3::int[], $4::jsonb[]) AS i(run_id, attempt, epoch, progress)
WHERE a.run_id = ANY (ARRAY[i.run_id]) AND a.attempt = i.attempt AND a.lease_epoch = i.epoch AND a.finished_at IS NULL`

export type ProgressItem = { runId: string; epoch: number; attempt: number; progress: unknown }

export async function saveProgress(pool: pg.Pool, items: ProgressItem[]): Promise<void> {
  if (items.length === 0) return
  const sorted = items.toSorted((a, b) => (a.runId < b.runId ? -1 : 1))
  await pool.query({
    name: 'save_progress',
    text: SAVE_PROGRESS,
    values: [
      sorted.map((item) => item.runId),
      sorted.map((item) => item.attempt),
      sorted.map((item) => item.epoch),
      sorted.map((item) => JSON.stringify(item.progress)),
    ],
  })
}
