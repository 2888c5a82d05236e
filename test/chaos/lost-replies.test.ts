/** Statements that are committed while their answer is lost, with a real worker: nothing happens twice and nothing is forgotten. */

import { afterAll, beforeAll, expect, it } from 'vitest'
import { z } from 'zod'
import { definitionOf, model } from '../../src/model/model.ts'
import { openTestApi } from '../support/api.ts'
import { checkHistory } from '../support/history.ts'
import { type House, openHouse } from '../support/house.ts'
import { type FaultProxy, startProxy } from '../support/proxy.ts'

const executed: string[] = []
const MODELS = [
  model({
    name: 'counts',
    executor: 'inline',
    parameters: z.object({ n: z.number() }),
    run({ n }, ctx) {
      executed.push(ctx.runId)
      return { n }
    },
  }),
  model({
    name: 'fails-once',
    executor: 'inline',
    parameters: z.object({}),
    run(_, ctx) {
      executed.push(ctx.runId)
      if (ctx.attempt === 1) throw new Error('not yet')
      return { attempt: ctx.attempt }
    },
  }),
]

const SUBMIT = (text: string) => text.includes('INSERT INTO model_runs')
const CLAIM = (text: string) => text.includes('FOR UPDATE SKIP LOCKED') && text.includes('INSERT INTO run_attempts')
const SETTLE = (text: string) => text.includes('INSERT INTO run_results')

let house: House
let proxy: FaultProxy
beforeAll(async () => {
  house = await openHouse(MODELS)
  const { hostname, port } = new URL(house.api.db.url)
  proxy = await startProxy({ host: hostname, port: Number(port) })
  await house.startWorker({ url: proxy.through(house.api.db.url) })
})
afterAll(async () => {
  expect((await checkHistory(house.api.db.pool)).violations).toEqual([])
  await house.close()
  await proxy.close()
})

it('a lost answer to a settled success is asked for again: the run succeeded, executed once', async () => {
  const lost = proxy.dropNextReply(SETTLE)
  const runId = await house.submit('counts', { n: 1 })
  await lost
  await house.reaches(runId, 'SUCCEEDED')
  expect(executed.filter((id) => id === runId)).toHaveLength(1)
  expect(await house.events(runId)).toEqual(['created', 'started', 'succeeded'])
})

it('a settle that never arrived is sent again', async () => {
  const lost = proxy.dropNextRequest(SETTLE)
  const runId = await house.submit('counts', { n: 2 })
  await lost
  await house.reaches(runId, 'SUCCEEDED')
  expect(await house.events(runId)).toEqual(['created', 'started', 'succeeded'])
})

it('a lost answer to a scheduled retry does not schedule a second one', async () => {
  const lost = proxy.dropNextReply(SETTLE)
  const runId = await house.submit('fails-once')
  await lost
  const run = await house.reaches(runId, 'SUCCEEDED')
  expect(run).toMatchObject({ attemptCount: 2, reclaimCount: 0 })
  expect(await house.events(runId)).toEqual(['created', 'started', 'retry_scheduled', 'started', 'succeeded'])
})

it('a claim whose answer is lost is never executed under that lease; the run ends all the same', async () => {
  const lost = proxy.dropNextReply(CLAIM)
  const runId = await house.submit('counts', { n: 3 })
  await lost
  const run = await house.reaches(runId, 'SUCCEEDED')
  expect(executed.filter((id) => id === runId)).toHaveLength(1)
  expect(run.attemptCount).toBeLessThanOrEqual(2)
})

it('a lost answer to a submit makes one run, and the client gets it as new', async () => {
  let submits: FaultProxy | undefined
  const api = await openTestApi({
    models: MODELS.map(definitionOf),
    storeUrl: async (url) => {
      const { hostname, port } = new URL(url)
      submits = await startProxy({ host: hostname, port: Number(port) })
      return submits.through(url)
    },
  })
  const requests: Record<string, string>[] = [{}, { 'idempotency-key': 'lost-once' }]
  for (const headers of requests) {
    const before = (await api.stored()).runs
    const lost = submits!.dropNextReply(SUBMIT)
    const [response] = await Promise.all([
      api.submit({ model: 'counts', parameters: { n: 4 + before } }, headers),
      lost,
    ])
    expect(response.statusCode).toBe(201)
    expect(response.json().idempotent_hit).toBe(false)
    expect((await api.stored()).runs).toBe(before + 1)
  }
  expect((await checkHistory(api.db.pool)).violations).toEqual([])
  await api.close()
  await submits!.close()
})
