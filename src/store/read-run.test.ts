/** One run as people see it: its attempts, and why it waits. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newRun } from '../../test/support/new-run.ts'
import { postgresVersions } from '../../test/support/postgres-versions.ts'
import { openTestStore, settle, type TestStore, WORKER } from '../../test/support/store.ts'

const UNKNOWN = '00000000-0000-7000-8000-000000000000'

describe.each(postgresVersions)('reading a run on Postgres %s', (server) => {
  let t: TestStore
  beforeAll(async () => {
    t = await openTestStore(server)
  })
  afterAll(() => t.close())

  const waitingOf = async (runId: string) => (await t.store.readRun(runId))!.waiting
  const register = (models: string[], queues = ['default']) =>
    t.database.query(
      `INSERT INTO workers (worker_id, host, pid, version, queues, models, concurrency) VALUES ('reader', 'h', 1, '1', $1, $2, 1)
       ON CONFLICT (worker_id) DO UPDATE SET queues = excluded.queues, models = excluded.models, last_seen_at = clock(),
         stopped_at = NULL`,
      [queues, models],
    )

  it('an unknown run is null, and so is its result', async () => {
    expect(await t.store.readRun(UNKNOWN)).toBeNull()
    expect(await t.store.readResult(UNKNOWN)).toBeNull()
  })

  it('gives back what was submitted, parameters and seed included', async () => {
    const parameters = { text: 'ü "quoted"', list: [1, 2.5, null], deep: { '': true } }
    const asked = newRun({ parameters, seed: Number.MAX_SAFE_INTEGER, title: 't', tags: ['a', 'b'] })
    await t.store.submit(asked)
    const { run } = (await t.store.readRun(asked.id))!
    expect(run).toMatchObject({ parameters, seed: asked.seed, title: 't', tags: ['a', 'b'], lastError: null })
  })

  it('R377: fails on attempt 1, succeeds on attempt 2: both attempts are there and attempt_count is 2', async () => {
    const first = await t.running()
    await settle(t, first, 'retry')
    const [second] = await t.claim({
      workerId: 'worker-2',
      models: [{ model: first.model, version: '1', room: 1 }],
    })
    await settle(t, second!, 'succeed', { workerId: 'worker-2' })
    const { run, attempts, waiting } = (await t.store.readRun(first.runId))!
    expect([run.status, run.attemptCount, waiting]).toEqual(['SUCCEEDED', 2, null])
    expect(attempts).toMatchObject([
      { attempt: 1, state: 'FAILED', workerId: WORKER, error: { class: 'Error', message: 'it broke' } },
      { attempt: 2, state: 'SUCCEEDED', workerId: 'worker-2', error: null },
    ])
  })

  it('never shows an attempt that the run does not count, nor a finished run with an open attempt', async () => {
    const lease = await t.running()
    const settling = settle(t, lease, 'succeed')
    let seen = (await t.store.readRun(lease.runId))!
    for (let looks = 0; looks < 200 && seen.run.status === 'RUNNING'; looks += 1) {
      expect(seen.attempts).toHaveLength(1)
      seen = (await t.store.readRun(lease.runId))!
      const open = seen.attempts.some((attempt) => attempt.finishedAt === null)
      expect(open).toBe(seen.run.status === 'RUNNING')
    }
    await settling
  })

  it('waits because it is scheduled, in backoff, paused, without a worker, or just queued', async () => {
    const later = new Date(Date.now() + 3_600_000)
    const scheduled = await t.add({ availableAt: later.toISOString() })
    expect(await waitingOf(scheduled.id)).toMatchObject({ reason: 'scheduled', until: later })

    const lease = await t.running()
    await settle(t, lease, 'retry', { delaySeconds: 60 })
    expect(await waitingOf(lease.runId)).toMatchObject({ reason: 'backoff' })

    const paused = await t.add({ queue: 'stopped' })
    await t.store.setQueuePaused('stopped', true)
    expect(await waitingOf(paused.id)).toMatchObject({ reason: 'queue-paused', until: null })

    const run = await t.add({ model: 'offered' })
    expect(await waitingOf(run.id)).toMatchObject({ reason: 'no-worker' })
    await register(['offered@2'])
    expect(await waitingOf(run.id)).toMatchObject({ reason: 'no-worker' })
    await register(['offered@1'], ['gpu'])
    expect(await waitingOf(run.id)).toMatchObject({ reason: 'no-worker' })
    await register(['offered@1'])
    expect(await waitingOf(run.id)).toMatchObject({ reason: 'queued' })
    await t.store.workerStopped('reader')
    expect(await waitingOf(run.id)).toMatchObject({ reason: 'no-worker' })
  })

  it('a worker not seen for two minutes does not count', async () => {
    const run = await t.add({ model: 'silent' })
    await register(['silent@1'])
    await t.database.shiftClock('121 seconds')
    try {
      expect(await waitingOf(run.id)).toMatchObject({ reason: 'no-worker' })
    } finally {
      await t.database.shiftClock('0')
    }
  })

  it('progress is the latest value on the open attempt, under the right epoch only', async () => {
    const lease = await t.running()
    const save = (progress: unknown, epoch = lease.epoch) =>
      t.store.saveProgress([{ runId: lease.runId, epoch, attempt: lease.attempt, progress }])
    const shown = async () => (await t.store.readRun(lease.runId))!.attempts[0]!.progress
    await save({ done: 1 })
    await save({ done: 2 })
    await save({ done: 'stale' }, 0)
    expect(await shown()).toEqual({ done: 2 })
    await settle(t, lease, 'succeed')
    await save({ done: 'late' })
    expect(await shown()).toEqual({ done: 2 })
    expect(await t.events(lease.runId)).toHaveLength(3)
    await t.store.saveProgress([])
  })

  it('a heartbeat shows on the open attempt through the view', async () => {
    const lease = await t.running()
    await t.beat(lease)
    const heartbeats = () =>
      t.database.query(
        `SELECT attempt, last_heartbeat_at = (SELECT heartbeat_at FROM model_runs WHERE id = $1) AS beats
         FROM run_attempt_heartbeats WHERE run_id = $1 ORDER BY attempt`,
        [lease.runId],
      )
    expect(await heartbeats()).toEqual([{ attempt: 1, beats: true }])
    await settle(t, lease, 'retry')
    expect(await heartbeats()).toEqual([{ attempt: 1, beats: null }])
  })
})
