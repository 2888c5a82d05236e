/** A run as the API answers it, for tests in which no API takes part. */

import type { RunObject } from '../../src/contract/run.ts'

export const RUN_ID = '01890000-0000-7000-8000-000000000001'

export function wireRun(more: Partial<RunObject> = {}): RunObject {
  const { run_id = RUN_ID, status = 'PENDING' } = more
  const isEnded = status === 'SUCCEEDED' || status === 'FAILED' || status === 'CANCELLED'
  return {
    run_id,
    model: 'forecast',
    model_version: '1',
    status,
    owner: 'default',
    queue: 'default',
    priority: 0,
    parameters: {},
    payload_hash: '0'.repeat(64),
    created_at: '2030-01-01T00:00:00.000Z',
    available_at: '2030-01-01T00:00:00.000Z',
    started_at: null,
    finished_at: isEnded ? '2030-01-01T00:00:01.000Z' : null,
    attempt_count: 0,
    max_attempts: 3,
    attempts: [],
    last_error: null,
    lease: null,
    waiting: null,
    cancel_requested_at: null,
    overdue_since: null,
    result_ref: null,
    result_hash: null,
    batch_id: null,
    tags: [],
    title: null,
    files: [],
    cost: null,
    retry_of: null,
    reproduces: null,
    links: { self: `/runs/${run_id}`, result: `/runs/${run_id}/result`, events: `/runs/${run_id}/events` },
    ...more,
  }
}
