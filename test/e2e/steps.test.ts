/** Steps through the whole system: attempts that are retried or released, a run that goes on from a failed one, and what people see. */

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { StepList } from '../../src/contract/step.ts'
import { Fatal, model } from '../../src/model/model.ts'
import { type House, openHouse } from '../support/house.ts'
import { until } from '../support/until.ts'

const parameters = z.object({ secret: z.string().default('') })
const retry = { delaysSeconds: [0.01], jitter: 0 }
const base = { parameters, retry, executor: 'inline' as const }

/** What the models did, and what they are to do. */
let calls: string[] = []
let isBroken = false
let gate: PromiseWithResolvers<void> = Promise.withResolvers()

const late = model({
  ...base,
  name: 'late',
  async run(_, ctx) {
    const a = await ctx.step('a', () => calls.push('a'))
    const large = await ctx.step('large', () => {
      calls.push('large')
      return 'x'.repeat(100_000)
    })
    const items = await ctx.map('items', [1, 2, 3], (item) => calls.push(`item ${item}`))
    if (ctx.attempt === 1) throw new Error('after its steps')
    return { a, large: large.length, items: items.length }
  },
})

const five = model({ ...base, name: 'five' })
  .step('one', () => {
    calls.push('one')
    return { password: 'sesame', n: 1 }
  })
  .step('two', async ({ n }, ctx) => {
    calls.push('two')
    return (await ctx.map('pages', [1, 2], (page) => page + n)).length
  })
  .step(
    'three',
    (two, ctx) => {
      calls.push('three')
      if (isBroken) throw new RangeError(`broken by ${ctx.parameters.secret}`)
      return two + 1
    },
    { retries: 1, backoff: { baseDelaySeconds: 0 } },
  )
  .step('four', (three) => ({ three }))

const gated = model({ ...base, name: 'gated' })
  .step('first', () => calls.push('first'))
  .step('second', async (_, ctx) => {
    calls.push(`second ${ctx.attempt}`)
    const stopped = new Promise((_, reject) => ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason)))
    await Promise.race([gate.promise, stopped])
    return ctx.attempt
  })

const fatal = model({ ...base, name: 'fatal' }).step('only', () => {
  throw new Fatal('no')
})

let house: House
beforeAll(async () => {
  house = await openHouse([late, five, gated, fatal])
})
afterAll(() => house.close())
beforeEach(() => {
  calls = []
  isBroken = false
  gate = Promise.withResolvers()
})

async function stepsOf(runId: string, query = '') {
  return StepList.parse((await house.api.get(`/runs/${runId}/steps${query}`)).json())
}

async function retryFrom(runId: string, from: string) {
  const headers = { 'content-type': 'application/json' }
  const payload = JSON.stringify({ from })
  const response = await house.api.app.inject({ method: 'POST', url: `/runs/${runId}/retry`, headers, payload })
  return response.json<{ run_id: string; code?: string }>()
}

describe('a later attempt', () => {
  it('after a worker that stopped goes on with the step that was under way', async () => {
    const first = await house.startWorker({ settings: { shutdownGraceMs: 1, leaseMs: 20_000 } })
    const runId = await house.submit('gated')
    await until(() => calls.includes('second 1'), { what: 'the second step runs' })
    await first.worker.stop()
    // It serves the other tests too.
    await house.startWorker({ settings: { leaseMs: 20_000 } })
    await until(() => calls.includes('second 2'), { what: 'the second step runs again' })
    await until(async () => (await stepsOf(runId)).data[1]!.state === 'RUNNING', { what: 'the state is written' })
    expect((await stepsOf(runId)).data).toMatchObject([
      { name: 'first', state: 'SUCCEEDED', attempt: 1 },
      { name: 'second', state: 'RUNNING', attempt: 2, tries: 1, finished_at: null },
    ])
    gate.resolve()
    await house.reaches(runId, 'SUCCEEDED')
    expect(await house.resultOf(runId)).toBe(2)
    expect(calls).toEqual(['first', 'second 1', 'second 2'])
  })

  it('after a failure gets what the first one did, from rows and from blobs', async () => {
    const runId = await house.submit('late')
    await house.reaches(runId, 'SUCCEEDED')
    expect(await house.resultOf(runId)).toEqual({ a: 1, large: 100_000, items: 3 })
    expect(calls).toEqual(['a', 'large', 'item 1', 'item 2', 'item 3'])
  })
})

describe('a run whose step failed for good', () => {
  it('shows where it stands, and its retry from there does the rest only', async () => {
    isBroken = true
    const failed = await house.submit('five', { secret: 'open-sesame' })
    const run = await house.reaches(failed, 'FAILED')
    expect(run).toMatchObject({ attemptCount: 1, lastError: { class: 'RetryError' } })
    expect(run.lastError!.message).toMatch(/^step "three" failed 2 times; last error: RangeError: broken by /)
    const { data } = await stepsOf(failed)
    expect(data).toMatchObject([
      { name: 'one', state: 'SUCCEEDED', output: { n: 1 }, tries: 1, from_run_id: null, items: null },
      { name: 'two', state: 'SUCCEEDED', output: 2 },
      { name: 'three', state: 'FAILED', tries: 2, attempt: 1, last_error: { class: 'RangeError' } },
      { name: 'four', state: 'PENDING', tries: 0 },
      { name: 'pages', state: 'SUCCEEDED', items: { done: 2, of: 2 }, output: null },
    ])
    expect(JSON.stringify(data)).not.toContain('sesame')

    isBroken = false
    const { run_id: second } = await retryFrom(failed, 'failed_step')
    await house.reaches(second, 'SUCCEEDED')
    expect(await house.resultOf(second)).toEqual({ three: 3 })
    expect(calls).toEqual(['one', 'two', 'three', 'three', 'three'])
    const after = (await stepsOf(second)).data
    expect(after.map(({ name, state, from_run_id: from }) => [name, state, from])).toEqual([
      ['one', 'SUCCEEDED', failed],
      ['two', 'SUCCEEDED', failed],
      ['three', 'SUCCEEDED', null],
      ['four', 'SUCCEEDED', null],
      ['pages', 'SUCCEEDED', failed],
    ])
    const { data: items, next_cursor: cursor } = await stepsOf(second, '?items=pages&limit=1')
    expect(items).toMatchObject([{ name: 'pages[0]', output: 2, from_run_id: failed }])
    expect((await stepsOf(second, `?items=pages&limit=1&cursor=${cursor}`)).data).toMatchObject([{ name: 'pages[1]' }])

    const { run_id: third } = await retryFrom(second, 'start')
    await house.reaches(third, 'SUCCEEDED')
    expect(calls.slice(5)).toEqual(['one', 'two', 'three'])
  })

  it('has nothing to go on from when no step was done', async () => {
    const runId = await house.submit('fatal')
    await house.reaches(runId, 'FAILED')
    expect((await stepsOf(runId)).data).toMatchObject([
      { name: 'only', state: 'FAILED', last_error: { class: 'Fatal' } },
    ])
    expect(await retryFrom(runId, 'failed_step')).toMatchObject({ code: 'no-steps' })
  })
})
