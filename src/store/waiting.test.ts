/** What a waiting run is told, from real workers, limits and lines. */

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { definition } from '../../test/support/definition.ts'
import { postgresVersions } from '../../test/support/postgres-versions.ts'
import { openTestStore, ownModel, settle, type TestStore } from '../../test/support/store.ts'
import type { ModelDefinition } from '../run/definition.ts'

describe.each(postgresVersions)('why a run waits on Postgres %s', (server) => {
  let t: TestStore
  beforeAll(async () => {
    t = await openTestStore(server)
  })
  afterAll(() => t.close())
  beforeEach(async () => {
    await t.clear()
    await t.database.query('DELETE FROM workers')
  })

  const waitingOf = async (runId: string, sees?: string | null) => (await t.store.readRun(runId, sees))!.waiting
  const register = (workerId: string, models: ModelDefinition[], queueLimits: Record<string, number> = {}) =>
    t.store.registerWorker({
      workerId,
      host: 'h',
      pid: 1,
      version: '0',
      queues: ['default'],
      queueLimits,
      concurrency: 10,
      models,
    })
  const claim = (workerId: string, model: string, slots = 1) =>
    t.claim({ workerId, slots, models: [{ model, version: '1', room: slots }] })

  it('tells what the live workers lack: its queue, its model or its version', async () => {
    const model = ownModel()
    const run = await t.add({ model, modelVersion: '2' })
    expect(await waitingOf(run.id)).toMatchObject({ reason: 'no-worker', missing: 'queue', offeredVersions: [] })
    await register('w1', [definition({ name: `${model}0`, version: '2' })])
    expect(await waitingOf(run.id)).toMatchObject({ reason: 'no-worker', missing: 'model', offeredVersions: [] })
    await register('w2', [definition({ name: model }), definition({ name: model, version: '3' })])
    expect(await waitingOf(run.id)).toMatchObject({ missing: 'version', offeredVersions: ['1', '3'] })
    await register('w3', [definition({ name: model, version: '2' })])
    expect(await waitingOf(run.id)).toMatchObject({ reason: 'queued', ahead: 0, missing: null, offeredVersions: null })
  })

  it('a limit of the model that is used up at every worker is told with the runs that hold it', async () => {
    const model = ownModel()
    for (const worker of ['w1', 'w2']) await register(worker, [definition({ name: model, concurrency: 2 })])
    for (let no = 0; no < 5; no += 1) await t.add({ model })
    const held = [...(await claim('w1', model, 2)), ...(await claim('w2', model, 1))].map(({ runId }) => runId)
    const run = await t.add({ model })
    expect(await waitingOf(run.id)).toMatchObject({ reason: 'queued', ahead: 2, limit: null, heldBy: null })
    held.push(...(await claim('w2', model, 1)).map(({ runId }) => runId))
    expect(await waitingOf(run.id)).toMatchObject({
      reason: 'concurrency',
      limitOf: 'model',
      limit: 4,
      held: 4,
      heldBy: held.sort(),
      ahead: null,
    })
  })

  it('a limit of the queue counts the runs of every model', async () => {
    const [one, other] = [ownModel(), ownModel()]
    await register('w1', [definition({ name: one }), definition({ name: other })], { default: 1 })
    const first = await t.add({ model: one })
    await claim('w1', one)
    const run = await t.add({ model: other })
    const full = { reason: 'concurrency', limitOf: 'queue', limit: 1, held: 1, heldBy: [first.id] }
    expect(await waitingOf(run.id)).toMatchObject(full)
    await register('w2', [definition({ name: other })])
    expect(await waitingOf(run.id)).toMatchObject({ reason: 'queued' })
  })

  it('holders of other owners are counted, but named only to those who may see them', async () => {
    const model = ownModel()
    await register('w1', [definition({ name: model, concurrency: 2 })])
    const mine = await t.add({ model, owner: 'mine' })
    const theirs = await t.add({ model, owner: 'theirs' })
    await claim('w1', model, 2)
    const run = await t.add({ model, owner: 'mine' })
    expect(await waitingOf(run.id, null)).toMatchObject({ held: 2, heldBy: [mine.id, theirs.id].sort() })
    expect(await waitingOf(run.id, 'mine')).toMatchObject({ held: 2, heldBy: [mine.id] })
    expect(await waitingOf(run.id)).toMatchObject({ held: 2, heldBy: [mine.id] })
  })

  it('those ahead are of higher priority, or older; of any model that is offered; and could start', async () => {
    const [model, other, unknown] = [ownModel(), ownModel(), ownModel()]
    await register('w1', [definition({ name: model }), definition({ name: other })])
    await t.add({ model })
    await t.add({ model: unknown })
    await t.add({ model, priority: -1 })
    await t.add({ model, availableAt: new Date(Date.now() + 3_600_000).toISOString() })
    await t.add({ model, queue: 'elsewhere' })
    const run = await t.add({ model })
    expect(await waitingOf(run.id)).toMatchObject({ reason: 'queued', ahead: 1, aheadCapped: false })
    await t.add({ model })
    expect(await waitingOf(run.id)).toMatchObject({ ahead: 1 })
    await t.add({ model: other, priority: 5 })
    await t.add({ model, priority: 5 })
    expect(await waitingOf(run.id)).toMatchObject({ ahead: 3 })
  })

  it('counting those ahead ends at a thousand', async () => {
    const model = ownModel()
    await register('w1', [definition({ name: model })])
    const { lane } = (
      await t.database.query<{ lane: number }>(`SELECT lane FROM model_runs WHERE id = $1`, [
        (await t.add({ model })).id,
      ])
    )[0]!
    await t.database.query(
      `INSERT INTO model_runs (id, owner, model, model_version, queue, priority, lane, executor, parameters, payload_hash, seed,
         created_at, available_at, timeout_seconds, max_attempts)
       SELECT gen_random_uuid(), 'o', $1, '1', 'default', 0, $2, 'inline', '{}', repeat('0', 64), n, clock(), clock(), 60, 3
       FROM generate_series(1, 1200) AS n`,
      [model, lane],
    )
    const run = await t.add({ model })
    expect(await waitingOf(run.id)).toMatchObject({ reason: 'queued', ahead: 1_000, aheadCapped: true })
  })

  it('a run in backoff is not counted against, and a started one has no reason to wait', async () => {
    const model = ownModel()
    await register('w1', [definition({ name: model })])
    const failed = await t.add({ model })
    const [lease] = await claim('w1', model)
    expect(await waitingOf(failed.id)).toBeNull()
    await settle(t, lease!, 'retry', { workerId: 'w1', delaySeconds: 60 })
    expect(await waitingOf(failed.id)).toMatchObject({ reason: 'backoff', ahead: null })
    const run = await t.add({ model })
    expect(await waitingOf(run.id)).toMatchObject({ reason: 'queued', ahead: 0 })
  })
})
