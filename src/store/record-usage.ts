/** What an attempt used, written before it is settled: a finished attempt never changes. */

import type pg from 'pg'
import type { Fence, Usage } from './ports/attempts.ts'

const RECORD_USAGE = `
UPDATE run_attempts SET cpu_seconds = $4, peak_memory_bytes = $5
WHERE run_id = $1 AND lease_epoch = $2 AND attempt = $3 AND finished_at IS NULL`

export async function recordUsage(pool: pg.Pool, { runId, epoch, attempt }: Fence, usage: Usage): Promise<void> {
  const bytes = usage.peakMemoryBytes === null ? null : Math.round(usage.peakMemoryBytes)
  await pool.query(RECORD_USAGE, [runId, epoch, attempt, usage.cpuSeconds, bytes])
}
