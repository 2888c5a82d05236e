/** Heartbeats under stress: what must not cost a healthy worker its lease, and what must cost a sick one its own. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { model } from '../../src/model/model.ts'
import { CHAOS_LEASE_MS, type Chaos, openChaos } from '../support/chaos.ts'
import { HOUSE_LEASE_MS, openHouse } from '../support/house.ts'
import { stopped } from '../support/processes.ts'
import { until } from '../support/until.ts'

let chaos: Chaos
beforeAll(async () => {
  chaos = await openChaos()
})
afterAll(() => chaos.close())

async function passed(ms: number): Promise<void> {
  const endMs = performance.now() + ms
  await until(() => performance.now() > endMs, { what: `${ms} ms have passed`, timeoutMs: ms + 5_000 })
}

describe('a main loop that is blocked', () => {
  it('for three leases keeps its lease and succeeds at the first attempt', async () => {
    const { place } = chaos
    const go = 'go-blocked'
    const [blocked, watcher] = await Promise.all([
      place.startWorker({ HOLDFAST_CONCURRENCY: '1' }),
      place.startWorker({ HOLDFAST_QUEUES: 'another' }),
    ])
    const runId = await chaos.submit('blocks-inline', { folder: place.folder, go })
    await place.marked(runId, 1, 'begun')
    await passed(3.2 * CHAOS_LEASE_MS)
    await place.touch(go)
    const run = await chaos.reaches(runId, 'SUCCEEDED')
    expect(run).toMatchObject({ attemptCount: 1, reclaimCount: 0 })
    expect((await chaos.read(runId)).attempts[0]?.workerId).toBe(blocked.workerId)
    await stopped(blocked, watcher)
  })

  it('and never comes back loses its lease, and another worker finishes the run', async () => {
    const { place } = chaos
    const lost = await place.startWorker({ HOLDFAST_CONCURRENCY: '1', HOLDFAST_LOOP_SILENCE_SECONDS: '1' })
    const runId = await chaos.submit('blocks-inline', { folder: place.folder, go: 'never' })
    await place.marked(runId, 1, 'begun')
    const other = await place.startWorker()
    const run = await chaos.reaches(runId, 'SUCCEEDED')
    expect(run).toMatchObject({ attemptCount: 2, reclaimCount: 1 })
    expect((await chaos.read(runId)).attempts.map(({ workerId }) => workerId)).toEqual([lost.workerId, other.workerId])
    expect(lost.isRunning()).toBe(true)
    lost.kill('SIGKILL')
    await stopped(other)
  })
})

describe('a connection pool that is exhausted', () => {
  it('for three leases costs no lease', async () => {
    const gate = Promise.withResolvers<string>()
    const begun = Promise.withResolvers<void>()
    const waits = model({
      name: 'waits-here',
      executor: 'inline',
      parameters: z.object({}),
      run() {
        begun.resolve()
        return gate.promise
      },
    })
    const house = await openHouse([waits])
    const { store } = await house.startWorker()
    const runId = await house.submit('waits-here')
    await begun.promise
    const blocker = await house.api.db.pool.connect()
    await blocker.query('BEGIN; LOCK TABLE run_attempts IN ACCESS EXCLUSIVE MODE')
    const stuck = Array.from({ length: 20 }, () => [
      store.readRun(runId).catch(() => {}),
      store.saveProgress([{ runId, epoch: 1, attempt: 1, progress: 1 }]).catch(() => {}),
    ])
    const waiting = `SELECT count(*) AS n FROM pg_stat_activity
      WHERE datname = current_database() AND application_name IN ('test worker read', 'test worker work') AND wait_event_type = 'Lock'`
    // Ten connections for reads, seven for work and the one that claims keep, which the next look for work gets held: all there are.
    await until(async () => (await house.api.db.query(waiting))[0]?.n === 18, { what: 'every connection is held' })
    await passed(3.2 * HOUSE_LEASE_MS)
    const { rows } = await blocker.query(
      'SELECT status, lease_epoch, lease_expires_at > clock() AS held FROM model_runs WHERE id = $1',
      [runId],
    )
    expect(rows).toEqual([{ status: 'RUNNING', lease_epoch: 1, held: true }])
    await blocker.query('ROLLBACK')
    blocker.release()
    gate.resolve('done')
    expect(await house.reaches(runId, 'SUCCEEDED')).toMatchObject({ attemptCount: 1 })
    await Promise.all(stuck.flat())
    await house.close()
  })
})

describe('an attempt that takes too long', () => {
  it('ends with Timeout although its heartbeats go on', async () => {
    const { place } = chaos
    const worker = await place.startWorker()
    const runId = await chaos.submit('times-out', { folder: place.folder })
    const run = await chaos.reaches(runId, 'FAILED')
    expect(run).toMatchObject({ attemptCount: 1, reclaimCount: 0, lastError: { class: 'Timeout' } })
    expect(run.lastError?.message).toContain('longer than its limit of 1 s')
    await stopped(worker)
  })

  it('ErrorState F, R307: in a worker that is stuck itself loses its lease at the deadline, by the database', async () => {
    const { place } = chaos
    const stuck = await place.startWorker({ HOLDFAST_CONCURRENCY: '1', HOLDFAST_DEADLINE_GRACE_SECONDS: '0.5' })
    const runId = await chaos.submit('times-out-blocked', { folder: place.folder, go: 'never' })
    await place.marked(runId, 1, 'begun')
    const other = await place.startWorker()
    const run = await chaos.reaches(runId, 'SUCCEEDED')
    expect(run).toMatchObject({ attemptCount: 2, reclaimCount: 1 })
    const [first] = (await chaos.read(runId)).attempts
    const tookMs = first!.finishedAt!.getTime() - first!.startedAt!.getTime()
    expect(tookMs).toBeGreaterThanOrEqual(3_500)
    stuck.kill('SIGKILL')
    await stopped(other)
  })
})
