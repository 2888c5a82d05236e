/** What the cases of the protocol cannot say of steps: large outputs, limits, outputs that are gone, and who may look. */

import { describe, expect, it } from 'vitest'
import { API_CONFIG, createTestApi, type TestApiOptions } from '../../../test/support/api.ts'
import type { LeaseObject } from '../../contract/lease.ts'
import type { CommittedStepObject } from '../../contract/step.ts'
import { StepList } from '../../contract/step.ts'
import { newAttemptToken, newTicket } from '../../run/attempt-token.ts'
import type { Store } from '../../store/store.ts'

const ASK = { worker: 'w', models: ['forecast'], slots: 9, wait_seconds: 5 }
const WORKER = { leaseMs: 60_000, pollMs: 50, deadlineGraceMs: 10_000 }
const FAILED = { error: { class: 'Boom', message: 'once more', retry_after_seconds: 0 } }
const LARGE = 'x'.repeat(70_000)

async function house(options: TestApiOptions = {}) {
  const api = await createTestApi({ ...options, config: { worker: WORKER, ...options.config } })
  const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    api.app.inject({
      method: 'POST',
      url: path,
      headers: { 'content-type': 'application/json', ...headers },
      payload: JSON.stringify(body),
    })
  const lease = async () => (await post('/leases', ASK)).json<{ data: LeaseObject[] }>().data
  const say = ({ run_id: runId, token }: LeaseObject, verb: string, body: unknown = {}) =>
    post(`/leases/${runId}/${verb}`, body, { 'holdfast-attempt-token': token })
  const commit = async (held: LeaseObject, name: string, output: unknown) =>
    (await say(held, 'steps', { name, output })).json<CommittedStepObject>()
  const begin = async () => {
    await api.create({ dedupe: 'off' })
    return (await lease())[0]!
  }
  return { ...api, post, lease, say, commit, begin }
}

describe('a large output', () => {
  it('is kept as a blob, handed to the next attempt whole, and not shown in the list', async () => {
    const { begin, commit, say, lease, get } = await house()
    const first = await begin()
    const { output_ref: ref } = await commit(first, 'fit', LARGE)
    expect(ref).toMatch(/^artifacts\//)
    await say(first, 'fail', FAILED)
    expect((await lease())[0]).toMatchObject({ attempt: 2, steps: [{ name: 'fit', output: LARGE }] })
    const { data } = StepList.parse((await get(`/runs/${first.run_id}/steps`)).json())
    expect(data).toMatchObject([{ name: 'fit', output: null, output_ref: ref, output_bytes: 70_002 }])
  })

  it('of another commit under the same name leaves the first as it was', async () => {
    const { begin, commit, say, lease } = await house()
    const first = await begin()
    await commit(first, 'fit', LARGE)
    expect(await commit(first, 'fit', `${LARGE}y`)).toMatchObject({ code: 'step-conflict' })
    await say(first, 'fail', FAILED)
    expect((await lease())[0]!.steps).toEqual([{ name: 'fit', output: LARGE }])
  })

  it('that is gone is left out, and the same output again puts it back', async () => {
    const { begin, commit, say, lease, blob } = await house()
    const first = await begin()
    await commit(first, 'load', 1)
    const { output_ref: ref } = await commit(first, 'fit', LARGE)
    await blob.delete(ref)
    await say(first, 'fail', FAILED)
    const [second] = await lease()
    expect(second!.steps).toEqual([{ name: 'load', output: 1 }])
    expect(await commit(second!, 'fit', LARGE)).toMatchObject({ attempt: 1, output_ref: ref })
    await say(second!, 'fail', FAILED)
    expect((await lease())[0]!.steps).toHaveLength(2)
  })
})

describe('limits', () => {
  const config = { ...API_CONFIG, result: { inlineBytesMax: 100, bytesMax: 1_000 } }

  it('one output over the limit of results is refused', async () => {
    const { begin, say } = await house({ config })
    const held = await begin()
    expect((await say(held, 'steps', { name: 'a', output: 'x'.repeat(1_500) })).json()).toMatchObject({
      status: 413,
      code: 'body-too-large',
    })
  })

  it('so are outputs that are over it together, and the work goes on', async () => {
    const { begin, commit, say } = await house({ config })
    const held = await begin()
    await commit(held, 'a', 'x'.repeat(600))
    expect(await commit(held, 'b', 'x'.repeat(600))).toMatchObject({ status: 422, code: 'step-limit' })
    expect(await commit(held, 'b', 'x'.repeat(300))).toMatchObject({ no: 2 })
    expect((await say(held, 'complete', { result: 1 })).statusCode).toBe(200)
  })
})

it('of runs whose steps are too much for one answer, the first is handed out and the others are given back', async () => {
  const { create, lease, commit, say, get, post } = await house({ store: withManyBytes })
  await create({ dedupe: 'off' })
  await create({ dedupe: 'off' })
  const held = await lease()
  for (const one of held) {
    await commit(one, 'a', 1)
    await say(one, 'fail', FAILED)
  }
  const handed = await lease()
  expect(handed).toHaveLength(1)
  const other = held.find((one) => one.run_id !== handed[0]!.run_id)!
  expect((await get(`/runs/${other.run_id}`)).json()).toMatchObject({ status: 'PENDING' })
  expect((await post('/leases', ASK)).json()).toMatchObject({
    data: [{ run_id: other.run_id, steps: [{ name: 'a' }] }],
  })
})

it('runs whose steps cannot be read are given back at once', async () => {
  const { begin, commit, say, blob, post, get } = await house()
  const first = await begin()
  await commit(first, 'fit', LARGE)
  await say(first, 'fail', FAILED)
  const read = blob.get
  blob.get = () => Promise.reject(new Error('the disk is on fire'))
  expect((await post('/leases', ASK)).statusCode).toBe(500)
  blob.get = read
  expect((await get(`/runs/${first.run_id}`)).json()).toMatchObject({ status: 'PENDING' })
})

it("an engine's job commits steps too, and gets them when it starts", async () => {
  const { create, claim, store, post } = await house()
  const { run_id: runId } = await create()
  const lease = await claim()
  const ticket = newTicket(Buffer.alloc(32, 1))
  const own = newAttemptToken(Buffer.alloc(32, 2))
  await store.attempts.handOver(lease, { engine: true, externalRef: { job: '1' }, ticketHash: ticket.hash })
  const start = () =>
    post(`/leases/${runId}/start`, { token_hash: own.hash.toString('hex') }, { 'holdfast-ticket': ticket.ticket })
  expect((await start()).json()).toMatchObject({ steps: [] })
  const token = { 'holdfast-attempt-token': own.token }
  expect((await post(`/leases/${runId}/steps`, { name: 'a', output: 1 }, token)).statusCode).toBe(200)
  expect((await start()).json()).toMatchObject({ steps: [{ name: 'a', output: 1 }] })
})

it('what a step used is kept and shown', async () => {
  const { begin, say, get } = await house()
  const held = await begin()
  const used = { cpu_seconds: 1.5, peak_memory_bytes: 2_048, tries: 2, started_at: '2024-01-01T00:00:00Z' }
  expect((await say(held, 'steps', { name: 'fit', output: { password: 'x', n: 1 }, ...used })).statusCode).toBe(200)
  const { data } = StepList.parse((await get(`/runs/${held.run_id}/steps`)).json())
  expect(data).toMatchObject([
    { name: 'fit', state: 'SUCCEEDED', ...used, started_at: '2024-01-01T00:00:00.000Z', attempt: 1, from_run_id: null },
  ])
  expect(data[0]!.output).toEqual({ password: expect.not.stringMatching(/^x$/), n: 1 })
  expect(data[0]!.duration_seconds).toBeGreaterThan(1_000)
})

it('items of a map are counted, and listed a page at a time', async () => {
  const { begin, commit, get } = await house()
  const held = await begin()
  for (const no of [0, 1, 2]) await commit(held, `pages[${no}]`, no)
  const list = async (query = '') => StepList.parse((await get(`/runs/${held.run_id}/steps${query}`)).json())
  expect((await list()).data).toMatchObject([{ name: 'pages', state: 'PENDING', items: { done: 3, of: null } }])
  const { data, next_cursor: cursor } = await list('?items=pages&limit=2')
  expect(data.map(({ name, output }) => [name, output])).toEqual([
    ['pages[0]', 0],
    ['pages[1]', 1],
  ])
  expect(await list(`?items=pages&limit=2&cursor=${cursor}`)).toMatchObject({
    data: [{ name: 'pages[2]' }],
    next_cursor: null,
  })
  expect((await get(`/runs/${held.run_id}/steps?items=pages&cursor=x`)).statusCode).toBe(400)
  expect((await get(`/runs/${held.run_id}/steps?item=pages`)).statusCode).toBe(400)
})

it('a run that goes on from a failed one hands its steps to the first attempt', async () => {
  const { begin, commit, say, lease, post, get } = await house()
  const first = await begin()
  await commit(first, 'load', LARGE)
  await say(first, 'fail', { error: { class: 'Boom', message: 'no', retryable: false } })
  const retried = await post(`/runs/${first.run_id}/retry`, { from: 'failed_step' })
  expect(retried.statusCode).toBe(201)
  const [second] = await lease()
  expect(second).toMatchObject({ run_id: retried.json().run_id, attempt: 1, steps: [{ name: 'load', output: LARGE }] })
  await commit(second!, 'fit', 2)
  const { data } = StepList.parse((await get(`/runs/${second!.run_id}/steps`)).json())
  expect(data.map(({ name, from_run_id: from }) => [name, from])).toEqual([
    ['load', first.run_id],
    ['fit', null],
  ])
})

function withManyBytes(store: Store): Store {
  const bytesOf: Store['steps']['bytesOf'] = async (ids) =>
    new Map([...(await store.steps.bytesOf(ids))].map(([id]) => [id, 40 * 1024 * 1024]))
  return { ...store, steps: { ...store.steps, bytesOf } }
}
