/** The pages of bulk operations: whatever dies in between, every run is touched once and its outcome is written once. */

import { describe, expect, test } from 'vitest'
import { API_CONFIG, createTestApi, type TestApi } from '../../test/support/api.ts'
import { dyingStore } from '../../test/support/dying-store.ts'
import type { BulkAction } from '../store/ports/bulk.ts'
import type { Store } from '../store/store.ts'
import { createLog } from '../telemetry/log.ts'
import { createMetrics } from '../telemetry/metrics.ts'
import type { Wakeup } from '../wakeup/wakeup.ts'
import { type BulkWork, createBulkWork, idOfRetry } from './bulk-work.ts'
import { createRunIds, isRunId } from './run-id.ts'
import { createSubmitRun } from './submit-run.ts'

const nextId = createRunIds()
const ACTOR = { tokenId: null, owner: 'ana', requestId: null }
const RUNS = 5
const log = createLog({ level: 'silent', format: 'json' })
const PAGE_SIZE = 2

function workOn(store: Store): BulkWork {
  const wakeup = { name: 'memory', hint: () => {} } as unknown as Wakeup
  const deps = { store, wakeup, log, config: API_CONFIG, metrics: createMetrics({ processMetrics: false }) }
  const submitRun = createSubmitRun({ ...deps, blob: null as never })
  return createBulkWork({ ...deps, submitRun }, { pageSize: PAGE_SIZE, repeatMs: 0 })
}

async function untilDone(work: BulkWork): Promise<void> {
  while ((await work()) === 'again') {}
}

/** Runs for the action to touch, and the operation. */
async function begin(api: TestApi, action: BulkAction): Promise<{ id: string; runIds: string[] }> {
  const made = await Promise.all(Array.from({ length: RUNS }, () => api.create({ dedupe: 'off' })))
  const runIds = made.map(({ run_id }) => run_id).toSorted()
  if (action === 'retry') for (const id of runIds) await api.store.cancel(id)
  const filter = { model: ['forecast'], ...(action === 'retry' && { status: ['CANCELLED'] }) }
  const id = nextId()
  await api.store.bulk.create({ id, action, filter, sees: null, createdBy: 'ana', key: null }, ACTOR)
  return { id, runIds }
}

async function itemsOf(api: TestApi, id: string) {
  return (await api.store.bulk.items(id, { outcome: null, limit: 100, cursor: null })).items
}

/** How many calls a whole operation takes, so that a process can die at each of them. */
async function callsOf(action: BulkAction): Promise<number> {
  const api = await createTestApi()
  await begin(api, action)
  const counting = dyingStore(api.store, { call: Number.POSITIVE_INFINITY, when: 'before' })
  await untilDone(workOn(counting.store))
  return counting.calls().length
}

describe.each(['cancel', 'retry'] as const)('a process that dies in the middle of a %s', (action) => {
  test('at any call, before or after it reached the database: nothing is lost and nothing is done twice', async () => {
    const calls = await callsOf(action)
    expect(calls).toBeGreaterThan(8)
    const api = await createTestApi()
    for (let call = 1; call <= calls; call += 1) {
      for (const when of ['before', 'after'] as const) {
        await api.db.shiftClock('0')
        const { id, runIds } = await begin(api, action)
        const dying = dyingStore(api.store, { call, when })
        await Promise.race([untilDone(workOn(dying.store)), dying.died])
        // What it made may have ended before somebody goes on with the page: then its name is free again.
        await api.db.query(
          `UPDATE model_runs SET status = 'CANCELLED', finished_at = clock() WHERE retry_of IS NOT NULL AND status = 'PENDING'`,
        )
        await api.db.shiftClock('2 minutes')
        await untilDone(workOn(api.store))
        const place = `${action}, ${when} call ${call} (${dying.calls().at(-1)})`
        expect(await api.store.bulk.read(id, null), place).toMatchObject({
          state: 'DONE',
          counts: { [action === 'cancel' ? 'cancelled' : 'retried']: RUNS },
        })
        const items = await itemsOf(api, id)
        expect(
          items.map(({ runId }) => runId),
          place,
        ).toEqual(runIds)
        if (action === 'retry') {
          const retries = await api.db.query('SELECT id, retry_of FROM model_runs WHERE retry_of = ANY($1)', [runIds])
          expect(retries.map((run) => run.retry_of).toSorted(), place).toEqual(runIds)
          expect(items.map(({ newRunId }) => newRunId).toSorted(), place).toEqual(
            retries.map((run) => run.id).toSorted(),
          )
        }
        await clear(api)
      }
    }
  }, 120_000)
})

async function clear(api: TestApi): Promise<void> {
  await api.db.query(
    `BEGIN; SET LOCAL holdfast.retention = 'on'; DELETE FROM run_events; DELETE FROM model_runs; DELETE FROM bulk_operations; COMMIT`,
  )
}

describe('a page', () => {
  test('applied by two at once is written once: the slower one finds another epoch', async () => {
    const api = await createTestApi()
    const { id } = await begin(api, 'cancel')
    const slow = await api.store.bulk.take({ leaseMs: 0 })
    await untilDone(workOn(api.store))
    expect(await api.store.bulk.plan({ id, epoch: slow!.epoch, runIds: [nextId()], cursor: null })).toBeNull()
    expect(await api.store.bulk.record({ id, epoch: slow!.epoch, items: [] })).toBeNull()
    expect(await itemsOf(api, id)).toHaveLength(RUNS)
  })

  test('is not taken by a second one while its lease is valid', async () => {
    const api = await createTestApi()
    await begin(api, 'cancel')
    expect(await api.store.bulk.take({ leaseMs: 60_000 })).not.toBeNull()
    expect(await api.store.bulk.take({ leaseMs: 60_000 })).toBeNull()
    await api.db.shiftClock('61 seconds')
    expect(await api.store.bulk.take({ leaseMs: 60_000 })).toMatchObject({ epoch: 2 })
  })

  test('that the database cannot store now is repeated as a whole', async () => {
    const api = await createTestApi()
    const { id } = await begin(api, 'retry')
    let failures = 1
    const flaky: Store = {
      ...api.store,
      submitMany: async (runs) => {
        if (failures-- > 0) await api.store.bulk.read(id, null).then(() => Promise.reject(new Error('away')))
        return api.store.submitMany(runs)
      },
    }
    const work = workOn(flaky)
    expect(await work()).toBe('wait')
    expect(await api.store.bulk.read(id, null)).toMatchObject({
      state: 'RUNNING',
      error: expect.stringContaining('log'),
    })
    await untilDone(work)
    expect(await api.store.bulk.read(id, null)).toMatchObject({ state: 'DONE', error: null, counts: { retried: RUNS } })
  })

  test('whose cursor is of another release begins at the start and repeats nothing', async () => {
    const api = await createTestApi()
    const { id } = await begin(api, 'retry')
    const work = workOn(api.store)
    await work()
    await api.db.query(`UPDATE bulk_operations SET cursor = 'of another release'`)
    await untilDone(work)
    expect(await api.store.bulk.read(id, null)).toMatchObject({ state: 'DONE', counts: { retried: RUNS } })
    const [row] = await api.db.query('SELECT count(*) AS runs FROM model_runs')
    expect(row).toEqual({ runs: 2 * RUNS })
  })

  test('operations take turns, the one that waited longest first', async () => {
    const api = await createTestApi()
    const first = await begin(api, 'cancel')
    const second = await begin(api, 'cancel')
    const taken: string[] = []
    for (let turn = 0; turn < 3; turn += 1) {
      const page = (await api.store.bulk.take({ leaseMs: 60_000 }))!
      taken.push(page.operation.id)
      await api.store.bulk.record({ id: page.operation.id, epoch: page.epoch, items: [] })
    }
    expect(taken).toEqual([first.id, second.id, first.id])
  })
})

test('the id of a retry is a UUIDv7 of its own, the same for the same operation and run', () => {
  const createdAt = new Date('2030-01-01T00:00:00Z')
  const [operation, run] = [nextId(), nextId()]
  const id = idOfRetry({ id: operation, createdAt }, { id: run })
  expect(isRunId(id)).toBe(true)
  expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  expect(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)).toBe(createdAt.getTime())
  expect(idOfRetry({ id: operation, createdAt }, { id: run })).toBe(id)
  expect(idOfRetry({ id: operation, createdAt }, { id: nextId() })).not.toBe(id)
})
