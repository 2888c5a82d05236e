/** What workers register, and what the rest of the service reads from it. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { definition } from '../../test/support/definition.ts'
import { postgresVersions } from '../../test/support/postgres-versions.ts'
import { openTestStore, type TestStore } from '../../test/support/store.ts'
import type { ModelDefinition } from '../run/definition.ts'
import type { WorkerRegistration } from './store.ts'

describe.each(postgresVersions)('registration on Postgres %s', (server) => {
  let t: TestStore
  beforeAll(async () => {
    t = await openTestStore(server)
  })
  afterAll(() => t.close())

  const register = (models: ModelDefinition[], changes: Partial<WorkerRegistration> = {}) =>
    t.store.registerWorker({
      workerId: 'w1',
      host: 'here',
      pid: 1,
      version: '0.1.0',
      queues: ['default'],
      concurrency: 4,
      models,
      ...changes,
    })

  it('models, their queues and the worker are there afterwards', async () => {
    const model = definition({ name: 'first', queue: 'gpu' })
    await register([model], { queues: ['extra'] })
    expect((await t.store.findModel('first', '1'))!.definition).toEqual(model)
    expect(await t.store.listModelNames()).toContain('first')
    const queues = (await t.store.readQueues()).map(({ queue }) => queue)
    expect(queues).toEqual(expect.arrayContaining(['extra', 'gpu']))
    const [worker] = await t.database.query('SELECT queues, models, concurrency FROM workers')
    expect(worker).toEqual({ queues: ['extra'], models: ['first@1'], concurrency: 4 })
  })

  it('how a worker runs a model is not stored', async () => {
    const shown = definition({ name: 'private', executor: 'command' })
    await register([{ ...shown, command: { argv: ['canary'], env: { A: 'canary' }, folder: '/canary' } }])
    expect((await t.store.findModel('private', '1'))!.definition).toEqual(shown)
  })

  it('a model that is left to others is registered and not offered', async () => {
    await register([definition({ name: 'own' })], {
      declared: [definition({ name: 'leased', executor: 'remote', queue: 'elsewhere' })],
    })
    expect((await t.store.findModel('leased', '1'))!.definition.executor).toBe('remote')
    expect((await t.store.readQueues()).map(({ queue }) => queue)).toContain('elsewhere')
    const [worker] = await t.database.query('SELECT models FROM workers')
    expect(worker).toEqual({ models: ['own@1'] })
  })

  it('an unknown model or version is null', async () => {
    await register([definition({ name: 'known' })])
    expect(await t.store.findModel('unknown', null)).toBeNull()
    expect(await t.store.findModel('known', '2')).toBeNull()
  })

  it('without a version the newest registered one is found, whatever its name', async () => {
    for (const version of ['2', '10', '1-beta']) await register([definition({ name: 'versioned', version })])
    expect((await t.store.findModel('versioned', null))!.definition.version).toBe('1-beta')
    expect((await t.store.findModel('versioned', '2'))!.definition.version).toBe('2')
  })

  it('of versions registered together the highest counts as the newest, by number and not by letter', async () => {
    await register(['9', '10', '1'].map((version) => definition({ name: 'together', version })))
    expect((await t.store.findModel('together', null))!.definition.version).toBe('10')
  })

  it('registering an unchanged definition again writes nothing', async () => {
    const model = definition({ name: 'unchanged', parametersSchema: { b: 1, a: { c: [1, 2] } } })
    const row = () => t.database.query(`SELECT ctid::text, xmin::text FROM models WHERE name = 'unchanged'`)
    await register([model])
    const before = await row()
    await register([{ ...model, parametersSchema: { a: { c: [1, 2] }, b: 1 } }])
    expect(await row()).toEqual(before)
  })

  it('a changed definition replaces the old one and keeps the time of registration', async () => {
    await register([definition({ name: 'changed' })])
    const before = (await t.store.findModel('changed', null))!
    await register([definition({ name: 'changed', description: 'better' })])
    const after = (await t.store.findModel('changed', null))!
    expect(after.definition.description).toBe('better')
    expect(after.registeredAt).toEqual(before.registeredAt)
  })

  it('two workers that register the same models at once, in opposite order, both succeed', async () => {
    const models = Array.from({ length: 20 }, (_, no) => definition({ name: `many-${no}`, queue: `q-${no}` }))
    for (let round = 0; round < 5; round += 1) {
      const changed = models.map((model) => ({ ...model, description: `round ${round}` }))
      await Promise.all([
        register(changed, { workerId: 'a' }),
        register(changed.toReversed(), { workerId: 'b', queues: ['z', 'a'] }),
      ])
    }
  })

  it('a worker that stopped is marked, and is live again when it registers again', async () => {
    const stopped = () =>
      t.database.query(`SELECT stopped_at IS NOT NULL AS stopped FROM workers WHERE worker_id = 'w2'`)
    await register([], { workerId: 'w2' })
    await t.store.workerStopped('w2')
    expect(await stopped()).toEqual([{ stopped: true }])
    await register([], { workerId: 'w2' })
    expect(await stopped()).toEqual([{ stopped: false }])
  })

  it('workers not seen for the given time are forgotten, others stay', async () => {
    await register([], { workerId: 'dead' })
    await t.database.shiftClock('1 hour')
    try {
      await register([], { workerId: 'alive' })
      expect(await t.store.forgetDeadWorkers(600_000)).toBeGreaterThan(0)
      const workers = await t.database.query('SELECT worker_id FROM workers')
      expect(workers).toEqual([{ worker_id: 'alive' }])
    } finally {
      await t.database.shiftClock('0')
    }
  })
})
