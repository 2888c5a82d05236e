import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { newRun } from '../../test/support/new-run.ts'
import { accepted, openTestStore, ownModel, settle, type TestStore, WORKER } from '../../test/support/store.ts'
import { BLOCKED_UNTIL } from '../run/blocked.ts'
import type { RunKey } from '../run/runs-per-key.ts'
import { EVERY_RUN } from './ports/search.ts'
import type { NewRun, Run } from './store.ts'

let on: TestStore
let owners = 0
let owner = ''
const NONE = { max_concurrent: null, runs_per_hour: null, runs_per_day: null, cost_per_day: null, cost_per_month: null }

beforeAll(async () => {
  on = await openTestStore('18')
})
afterAll(() => on.close())

/** Each test has an owner who may have one run at a time, and needs approval for more. */
beforeEach(async () => {
  owners += 1
  owner = `owner-${owners}`
  await on.store.quotas.put({ owner, model: '', together: false }, { ...NONE, max_concurrent: 1 }, 'require_approval')
})

async function overLimit(changes: Partial<NewRun> = {}): Promise<{ first: Run; run: Run; model: string }> {
  const model = ownModel()
  const first = await on.add({ owner, model })
  return { first, model, run: await on.add({ owner, model, ...changes }) }
}

const decision = (run: Run, reason: string | null = null) => ({
  runId: run.id,
  actor: { tokenId: null, owner: 'ops', requestId: 'r-1' },
  reason,
  sees: null,
})

function claimAll(model: string) {
  return on.claim({ slots: 10, models: [{ model, version: '1', room: 10 }] })
}

async function read(run: Run) {
  return (await on.store.readRun(run.id))!
}

test('a run over the rule is accepted, waits, says which rule, and is in no claim’s way', async () => {
  const { first, run, model } = await overLimit()
  expect(run).toMatchObject({ status: 'PENDING', availableAt: BLOCKED_UNTIL })
  expect((await read(run)).waiting).toMatchObject({
    reason: 'approval',
    detail: `waits for the approval of an operator: over max_concurrent 1 of ${owner} (1 used)`,
    rule: { owner, model: null, together: false, limit: 'max_concurrent', maximum: 1, used: 1 },
    since: expect.any(Date),
    until: null,
  })
  expect((await claimAll(model)).map(({ runId }) => runId)).toEqual([first.id])
})

test('approved it may start; who and why are recorded, and saying it again changes nothing', async () => {
  const { run, model } = await overLimit()
  const decided = await on.store.blocks.approve(decision(run, 'agreed by phone'))
  expect(decided).toMatchObject({ outcome: 'done', freed: [{ runId: run.id, queue: 'default' }] })
  expect(await on.store.blocks.approve(decision(run))).toMatchObject({ outcome: 'done', freed: [] })
  expect((await claimAll(model)).map(({ runId }) => runId)).toContain(run.id)
  expect(await on.events(run.id)).toEqual(['created', 'approved', 'started'])
  const [event] = await on.database.query('SELECT message, data FROM run_events WHERE run_id = $1 AND seq = 2', [
    run.id,
  ])
  expect(event).toMatchObject({ message: 'agreed by phone', data: { by: 'ops', reason: 'agreed by phone' } })
  const audited = await on.database.query(
    'SELECT actor_owner, action, request_id FROM audit_events WHERE target = $1',
    [run.id],
  )
  expect(audited).toEqual([{ actor_owner: 'ops', action: 'run.approve', request_id: 'r-1' }])
})

test('rejected it is cancelled with the reason, and nothing of the block is left', async () => {
  const { run } = await overLimit()
  expect(await on.store.blocks.reject(decision(run, 'too expensive'))).toMatchObject({ outcome: 'done' })
  expect((await read(run)).run).toMatchObject({
    status: 'CANCELLED',
    lastError: { class: 'Rejected', message: 'too expensive', attempt: 0 },
  })
  expect(await on.events(run.id)).toEqual(['created', 'rejected', 'cancelled'])
  expect(await on.store.blocks.reject(decision(run))).toMatchObject({ outcome: 'done' })
  expect(await on.store.blocks.approve(decision(run))).toMatchObject({ outcome: 'finished' })
  expect(await on.database.query('SELECT FROM run_blocks WHERE run_id = $1', [run.id])).toEqual([])
})

test('a run that does not wait for approval, is unknown or another owner’s is not decided', async () => {
  const { first, run } = await overLimit()
  expect(await on.store.blocks.approve(decision(first))).toMatchObject({ outcome: 'not-waiting' })
  expect(await on.store.blocks.reject(decision(first))).toMatchObject({ outcome: 'not-waiting' })
  expect(await on.store.blocks.approve({ ...decision(run), sees: 'somebody' })).toEqual({ outcome: 'not-found' })
  expect((await read(run)).waiting?.reason).toBe('approval')
})

test('the time it asked for holds after the approval', async () => {
  const availableAt = new Date(Date.now() + 3_600_000).toISOString()
  const { run } = await overLimit({ availableAt })
  await on.store.blocks.approve(decision(run))
  expect(await read(run)).toMatchObject({
    run: { availableAt: new Date(availableAt) },
    waiting: { reason: 'scheduled' },
  })
})

test('cancelled while it waits it leaves no block, and cannot be approved', async () => {
  const { run } = await overLimit()
  expect((await on.store.cancel(run.id)).outcome).toBe('cancelled')
  expect(await on.store.blocks.approve(decision(run))).toMatchObject({ outcome: 'finished' })
  expect(await on.database.query('SELECT FROM run_blocks WHERE run_id = $1', [run.id])).toEqual([])
})

test('of approvals, rejections and cancels at once exactly one decides', async () => {
  for (let round = 0; round < 5; round += 1) {
    const { run } = await overLimit()
    await Promise.all([
      on.store.blocks.approve(decision(run)),
      on.store.blocks.reject(decision(run)),
      on.store.blocks.approve(decision(run)),
      on.store.cancel(run.id),
    ])
    const events = await on.events(run.id)
    const isAllowed = [
      'created',
      'created,approved',
      'created,approved,cancelled',
      'created,rejected,cancelled',
      'created,cancelled',
    ]
    expect(isAllowed).toContain(events.join())
    expect(await on.database.query('SELECT FROM run_blocks WHERE run_id = $1', [run.id])).toEqual([])
  }
})

test('those that wait are listed by what they wait for, newest first and page by page', async () => {
  const { run } = await overLimit()
  const more = [await on.add({ owner }), await on.add({ owner })]
  const filter = { ...EVERY_RUN, owner: { is: [owner], not: [] }, waiting: { is: ['approval' as const], not: [] } }
  const page = await on.store.search.page(filter, { limit: 2, cursor: null, order: 'created_at_desc' })
  expect(page.runs.map(({ id }) => id)).toEqual([more[1]!.id, more[0]!.id])
  const rest = await on.store.search.page(filter, { limit: 2, cursor: page.nextCursor, order: 'created_at_desc' })
  expect(rest.runs.map(({ id }) => id)).toEqual([run.id])
  const all = { ...EVERY_RUN, waiting: { is: ['approval' as const], not: [] } }
  expect(
    (await on.store.search.page(all, { limit: 200, cursor: null, order: 'created_at_asc' })).runs.length,
  ).toBeGreaterThan(2)
  const reasons = await on.store.blocks.waitingOf([run.id, more[0]!.id], null)
  expect([...reasons].map(([id, { reason }]) => [id, reason])).toEqual([
    [run.id, 'approval'],
    [more[0]!.id, 'approval'],
  ])
})

describe('with a concurrency key as well', () => {
  function keyed(mode: RunKey['mode'] = 'queue') {
    return { concurrency: { owner, key: `of-${owner}`, limit: 1, mode } }
  }

  test('it waits for both, one after the other', async () => {
    const model = ownModel()
    const first = await on.add({ owner, model, ...keyed() })
    const run = await on.add({ owner, model, ...keyed() })
    expect((await read(run)).waiting?.reason).toBe('approval')
    expect(await on.store.blocks.approve(decision(run))).toMatchObject({ outcome: 'done', freed: [] })
    expect((await read(run)).waiting).toMatchObject({ reason: 'concurrency', heldBy: [first.id] })
    await on.store.cancel(first.id)
    expect((await on.store.blocks.promote(100)).freed.map(({ runId }) => runId)).toEqual([run.id])
  })

  test('approved when the key has a place it starts at once', async () => {
    const { run, model } = await overLimit(keyed())
    expect(await on.store.blocks.approve(decision(run))).toMatchObject({ freed: [{ runId: run.id }] })
    expect((await claimAll(model)).map(({ runId }) => runId)).toContain(run.id)
    expect(await on.events(run.id)).toEqual(['created', 'approved', 'unblocked', 'started'])
  })

  test('it replaces older runs when it is approved, not before', async () => {
    const model = ownModel()
    await on.add({ owner, model, ...keyed() })
    const [lease] = await claimAll(model)
    const run = await on.add({ owner, model, ...keyed('cancel_older') })
    expect(await on.events(lease!.runId)).toEqual(['created', 'started'])
    expect(await on.store.blocks.approve(decision(run))).toMatchObject({
      freed: [],
      stopped: [{ runId: lease!.runId, holder: WORKER }],
    })
    await settle(on, lease!, 'cancel')
    expect((await on.store.blocks.promote(100)).freed.map(({ runId }) => runId)).toEqual([run.id])
  })

  test('rejected it never was in line', async () => {
    const { run } = await overLimit(keyed())
    await on.store.blocks.reject(decision(run))
    expect(await on.database.query('SELECT FROM concurrency_holds WHERE run_id = $1', [run.id])).toEqual([])
  })
})

test('the same request again is answered with the run that waits', async () => {
  const key = { key: `again-${owner}`, ttlSeconds: 60 }
  const { run } = await overLimit({ key, parameters: { again: owner } })
  const model = run.model
  const again = accepted(await on.store.submit(newRun({ owner, model, key, parameters: { again: owner } })))
  expect(again).toMatchObject({ idempotentHit: true, run: { id: run.id } })
})
