/** The client against the service as it is: an API on a port and a worker, on a database of their own. */

import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { Conflict, Holdfast, HoldfastError, RunCancelled, RunFailed } from '../../client/src/index.ts'
import { Fatal, model } from '../../src/model/model.ts'
import { allOf } from '../support/all-of.ts'
import { type House, openHouse } from '../support/house.ts'
import { stepClock } from '../support/step-clock.ts'

const doubles = model({
  name: 'doubles',
  executor: 'inline',
  parameters: z.object({ n: z.number(), times: z.number().default(2) }),
  run: ({ n, times }) => {
    if (n < 0) throw new Fatal('no negative numbers')
    return { product: n * times }
  },
})

let house: House
let client: Holdfast
let url: string
beforeAll(async () => {
  house = await openHouse([doubles])
  url = await house.api.app.listen({ port: 0, host: '127.0.0.1' })
  client = new Holdfast({ url, owner: 'ana' })
  await house.startWorker()
})
afterAll(() => house.close())

/** Far enough away that no worker takes it. */
const availableAt = new Date(Date.now() + 24 * 3_600_000)

test('submits, waits and answers the result', async () => {
  expect(await client.submitAndWait<typeof doubles>('doubles', { n: 4 })).toEqual({ product: 8 })
})

test('one key is one run, another payload under it a conflict', async () => {
  const first = await client.submit<typeof doubles>('doubles', { n: 1 }, { idempotencyKey: 'a "quoted" \\ key' })
  const again = await client.submit<typeof doubles>('doubles', { n: 1 }, { idempotencyKey: first.key })
  expect([first.wasDuplicate, again.wasDuplicate]).toEqual([false, true])
  expect(again.runId).toBe(first.runId)
  await client.wait(first.runId)
  expect(await client.result(first)).toEqual({ product: 2 })
  const other = client.submit<typeof doubles>('doubles', { n: 2 }, { idempotencyKey: first.key })
  await expect(other).rejects.toThrow(Conflict)
})

test('a reply that is lost after the run was stored makes no second run', async () => {
  const before = (await house.api.stored()).runs
  let lost = 0
  const losing: typeof fetch = async (...request) => {
    const response = await fetch(...request)
    if (lost++ > 0) return response
    await response.text()
    throw new TypeError('the connection was lost')
  }
  const unlucky = new Holdfast({ url, fetch: losing, clock: stepClock() })
  const { run } = await unlucky.submit<typeof doubles>('doubles', { n: 5 }, { availableAt })
  expect(run.idempotent_hit).toBe(true)
  expect((await house.api.stored()).runs).toBe(before + 1)
})

test('a failed run is thrown with its error, watched to its end, and retried as a new run', async () => {
  const failed = (await client.submitAndWait('doubles', { n: -1 }).catch((error) => error)) as RunFailed
  expect(failed).toBeInstanceOf(RunFailed)
  expect(failed.message).toContain('Fatal: no negative numbers (attempt 1)')
  const { runId } = failed
  await expect(client.result(runId)).rejects.toThrow(RunFailed)
  const types = (await allOf(client.watch(runId))).map(({ type }) => type)
  expect(types).toEqual(['created', 'started', 'failed'])
  expect((await allOf(client.events(runId, { after: 1 }))).map(({ seq }) => seq)).toEqual([2, 3])
  expect(await allOf(client.watch(runId, { after: 3 }))).toEqual([])
  const retried = await client.retry(runId, { idempotencyKey: 'again "1"' })
  expect(retried).toMatchObject({ run: { retry_of: runId }, wasDuplicate: false })
  expect((await client.retry(runId, { idempotencyKey: 'again "1"' })).runId).toBe(retried.runId)
  expect((await client.wait(retried.runId)).status).toBe('FAILED')
})

test('a cancelled run has no result', async () => {
  const { runId } = await client.submit('doubles', { n: 1 }, { availableAt })
  expect((await client.get(runId)).waiting?.reason).toBe('scheduled')
  await expect(client.result(runId)).rejects.toThrow(Conflict)
  expect((await client.cancel(runId)).status).toBe('CANCELLED')
  await expect(client.result(runId)).rejects.toThrow(RunCancelled)
})

test('a batch is accepted item by item, and the list finds it over several pages', async () => {
  const items = Array.from({ length: 410 }, (_, n) => ({
    model: 'doubles',
    parameters: { n },
    tags: ['batch, 1'],
    availableAt,
  }))
  const outcomes = await client.batch([...items, { model: 'doubels', parameters: {} }])
  expect(outcomes.filter(({ ok }) => ok)).toHaveLength(410)
  expect(outcomes[410]).toMatchObject({ ok: false, error: { code: 'unknown-model', status: 404 } })
  const listed = await allOf(client.list({ tag: 'batch, 1', status: ['PENDING', 'RUNNING'] }))
  expect(new Set(listed.map(({ run_id }) => run_id)).size).toBe(410)
  expect(await allOf(client.list({ tag: 'batch, 1', not_status: 'PENDING' }))).toEqual([])
})

test('what does not exist says so', async () => {
  const error = await client.get('00000000-0000-7000-8000-000000000000').catch((cause) => cause)
  expect(error).toBeInstanceOf(HoldfastError)
  expect(error).toMatchObject({ status: 404, code: 'run-not-found' })
})

test('models, queues, workers and the session are there', async () => {
  expect((await allOf(client.models.list())).map(({ name }) => name)).toEqual(['doubles'])
  expect(await client.models.get('doubles', { version: '1' })).toMatchObject({ name: 'doubles', offered: true })
  expect((await client.queues.pause('default')).paused).toBe(true)
  expect((await client.queues.resume('default')).paused).toBe(false)
  expect((await allOf(client.queues.list())).map(({ queue }) => queue)).toContain('default')
  expect((await allOf(client.workers.list({ state: 'live' }))).length).toBeGreaterThan(0)
  expect(await client.session.get()).toMatchObject({ mode: 'open' })
})

test('views, failures and bulk operations are there', async () => {
  const view = await client.views.create({ name: 'mine', filter: { status: 'FAILED' }, order: 'created_at_asc' })
  expect(await client.views.get(view.view_id)).toEqual(view)
  expect(await client.views.replace(view.view_id, { name: 'ours', filter: {} })).toMatchObject({ name: 'ours' })
  expect(await client.views.remove(view.view_id)).toBeNull()
  expect(await allOf(client.views.list())).toEqual([])
  await client.submitAndWait('doubles', { n: -2 }).catch(() => {})
  const [group] = await allOf(client.failures({ model: 'doubles' }))
  expect(group).toMatchObject({ error_class: 'Fatal' })
  expect((await client.bulk.count({ action: 'retry', filter: group!.filter })).count).toBe(group!.count)
})

test('tokens are made, shown in lists without themselves, and revoked', async () => {
  // The first token ends open mode, so everything after it shows one.
  const { token, token_id } = await client.tokens.create({ role: 'admin', owner: 'root', name: 'first' })
  const admin = new Holdfast({ url, token })
  expect(await allOf(admin.tokens.list())).toMatchObject([{ token_id, name: 'first' }])
  expect((await admin.session.get()).role).toBe('admin')
  expect((await allOf(admin.audit())).length).toBeGreaterThan(0)
  expect((await admin.tokens.revoke(token_id)).revoked_at).not.toBeNull()
  await expect(admin.tokens.list().next()).rejects.toMatchObject({ status: 401 })
})
