/** Runs with concurrency keys through the API and real workers: one at a time, the next one at once. */

import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { model } from '../../src/model/model.ts'
import { type House, type HouseWorker, openHouse } from '../support/house.ts'
import { until } from '../support/until.ts'

const active = new Map<string, number>()
let most = 0
const gates: (() => void)[] = []

const sync = model({
  name: 'sync',
  parameters: z.object({ customer: z.string(), no: z.number(), gated: z.boolean().default(false) }),
  executor: 'inline',
  runsPerKey: { key: '/customer' },
  async run({ customer, gated }, ctx) {
    active.set(customer, (active.get(customer) ?? 0) + 1)
    most = Math.max(most, active.get(customer)!)
    if (gated) {
      await new Promise<void>((resolve) => {
        gates.push(resolve)
        ctx.signal.addEventListener('abort', () => resolve())
      })
    }
    active.set(customer, active.get(customer)! - 1)
  },
})

/** Without keys of its own. */
const plain = model({
  name: 'plain',
  parameters: z.object({ no: z.number() }),
  executor: 'inline',
  async run({ no }) {
    if (no === 1) await new Promise<void>((resolve) => gates.push(resolve))
  },
})

let house: House
const workers: HouseWorker[] = []
beforeAll(async () => {
  house = await openHouse([sync, plain])
  // Rounds so far apart that only what is told at once can be in time.
  const settings = { janitorMs: 600_000, pollMs: 600_000 }
  workers.push(await house.startWorker({ settings }), await house.startWorker({ settings }))
})
afterAll(() => house.close())

async function statuses(runIds: string[]): Promise<string[]> {
  return Promise.all(runIds.map(async (id) => (await house.api.store.readRun(id))!.run.status))
}

test('runs of one customer run one after the other, each as soon as the one before has ended', async () => {
  const runIds: string[] = []
  for (const no of [1, 2, 3, 4, 5, 6]) {
    const body = { model: 'sync', parameters: { customer: no % 2 === 0 ? 'even' : 'odd', no } }
    runIds.push((await house.api.create(body)).run_id)
  }
  await until(async () => (await statuses(runIds)).every((status) => status === 'SUCCEEDED'), {
    what: 'all have ended',
  })
  expect(most).toBe(1)
})

test('what runs says who waits for it, and goes on being the only one', async () => {
  const of = (no: number) => ({ model: 'sync', parameters: { customer: 'c', no, gated: true } })
  const first = await house.api.create(of(1))
  await until(() => gates.length === 1, { what: 'the first one runs' })
  const second = await house.api.create(of(2))
  expect(second.waiting).toMatchObject({ reason: 'concurrency', key: 'sync/customer=c', held_by: [first.run_id] })
  gates.shift()!()
  await until(() => gates.length === 1, { what: 'the second one runs' })
  gates.shift()!()
  await until(async () => (await statuses([second.run_id]))[0] === 'SUCCEEDED', { what: 'the second one has ended' })
  expect(most).toBe(1)
})

test('so do runs with a key of their requests, whose model knows nothing of it', async () => {
  const of = (no: number) => ({ model: 'plain', parameters: { no }, concurrency: { key: 'dataset' } })
  const runs = [await house.api.create(of(1)), await house.api.create(of(2)), await house.api.create(of(3))]
  expect(runs.map(({ waiting }) => waiting?.reason)).toEqual(['queued', 'concurrency', 'concurrency'])
  await until(() => gates.length === 1, { what: 'the first one runs' })
  await until(() => workers.every(({ store }) => store.blocks.areKeysInUse), { what: 'the workers hear of the key' })
  gates.shift()!()
  const ids = runs.map(({ run_id }) => run_id)
  await until(async () => (await statuses(ids)).every((status) => status === 'SUCCEEDED'), { what: 'all have ended' })
})
