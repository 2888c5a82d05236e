import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newRun } from '../../test/support/new-run.ts'
import { acceptedUpload, newUpload } from '../../test/support/new-upload.ts'
import { openTestStore, ownModel, settle, type TestStore, WORKER } from '../../test/support/store.ts'
import { Refusal } from '../run/errors.ts'
import type { RunKey } from '../run/runs-per-key.ts'
import { inTransaction } from './in-transaction.ts'
import { lockKeys } from './key-places.ts'
import { openStore } from './open-store.ts'
import type { Lease, NewRun, Run, Store } from './store.ts'

let on: TestStore
let keys = 0

beforeAll(async () => {
  on = await openTestStore('18')
})
afterAll(() => on.close())

/** A key and a model that no other test uses. */
function aKey(changes: Partial<RunKey> = {}) {
  keys += 1
  const concurrency: RunKey = { owner: 'default', key: `key-${keys}`, limit: 1, mode: 'queue', ...changes }
  return { model: ownModel(), concurrency }
}

function claimAll({ model }: { model: string }, store: Store = on.store, workerId = WORKER): Promise<Lease[]> {
  return store.claim({
    workerId,
    leaseMs: 60_000,
    slots: 10,
    queues: [{ queue: 'default', room: 10 }],
    models: [{ model, version: '1', room: 10 }],
  })
}

async function statusOf(run: Run): Promise<string> {
  return (await on.store.readRun(run.id))!.run.status
}

async function reasonOf(run: Run): Promise<string | null> {
  return (await on.store.readRun(run.id))!.waiting?.reason ?? null
}

function blocksLeft(): Promise<unknown[]> {
  return on.database.query(`SELECT run_id FROM run_blocks b WHERE NOT EXISTS (
    SELECT FROM model_runs r WHERE r.id = b.run_id AND r.status = 'PENDING' AND r.available_at = '9999-01-01T00:00:00Z')`)
}

describe('queue', () => {
  test('the second run waits for a place, says so, and starts when the first has ended', async () => {
    const of = aKey()
    const first = await on.add(of)
    const second = await on.add(of)
    const [lease, none] = await claimAll(of)
    expect([lease!.runId, none]).toEqual([first.id, undefined])
    expect((await on.store.readRun(second.id))!.waiting).toMatchObject({
      reason: 'concurrency',
      detail: `1 of 1 runs that the concurrency key ${of.concurrency.key} may have at once are active`,
      limit: 1,
      limitOf: 'key',
      held: 1,
      heldBy: [first.id],
      key: of.concurrency.key,
      ahead: 0,
      until: null,
    })
    await settle(on, lease!, 'succeed')
    expect(await on.store.blocks.promote(100)).toEqual({
      freed: [{ runId: second.id, queue: 'default' }],
      stopped: [],
      more: true,
    })
    expect(await on.store.blocks.promote(100)).toEqual({ freed: [], stopped: [], more: false })
    expect((await claimAll(of)).map(({ runId }) => runId)).toEqual([second.id])
    expect(await on.events(second.id)).toEqual(['created', 'unblocked', 'started'])
  })

  test('places go by priority, then by age, and nobody overtakes those in line', async () => {
    const of = aKey()
    const first = await on.add(of)
    const [early, late] = [await on.add(of), await on.add(of)]
    const urgent = await on.add({ ...of, priority: 5 })
    await on.store.cancel(first.id)
    // The place is free and not given away yet: who comes now is still the last.
    const newest = await on.add(of)
    const order: string[] = []
    for (let turn = 0; turn < 4; turn += 1) {
      await on.store.blocks.promote(100)
      const [lease] = await claimAll(of)
      order.push(lease!.runId)
      await settle(on, lease!, 'fail')
    }
    expect(order).toEqual([urgent.id, early.id, late.id, newest.id])
  })

  test('a run that is to be tried again keeps its place', async () => {
    const of = aKey()
    await on.add(of)
    const second = await on.add(of)
    const [lease] = await claimAll(of)
    await settle(on, lease!, 'retry', { delaySeconds: 3600 })
    await on.store.blocks.promote(100)
    expect(await reasonOf(second)).toBe('concurrency')
  })

  test('whatever way a holder ends, its place is free', async () => {
    const of = aKey()
    const runs = [await on.add(of), await on.add(of), await on.add({ ...of, maxAttempts: 1 }), await on.add(of)]
    await on.store.cancel(runs[0]!.id)
    await on.store.blocks.promote(100)
    const [lease] = await claimAll(of)
    await settle(on, lease!, 'fail')
    await on.store.blocks.promote(100)
    await on.store.claim({
      workerId: 'dies',
      leaseMs: -1_000,
      slots: 1,
      queues: [{ queue: 'default', room: 1 }],
      models: [{ model: of.model, version: '1', room: 1 }],
    })
    await on.store.reclaimExpired({ workerId: WORKER, limit: 10 })
    expect(await statusOf(runs[2]!)).toBe('FAILED')
    expect((await on.store.blocks.promote(100)).freed.map(({ runId }) => runId)).toEqual([runs[3]!.id])
  })

  test('a run that is cancelled in line leaves nothing behind, and lets a run behind it with a higher limit go', async () => {
    const of = aKey()
    await on.add(of)
    const strict = await on.add(of)
    const wider = await on.add({ ...of, concurrency: { ...of.concurrency, limit: 3 } })
    expect(await reasonOf(wider)).toBe('concurrency')
    expect((await on.store.cancel(strict.id)).outcome).toBe('cancelled')
    expect((await on.store.blocks.promote(100)).freed.map(({ runId }) => runId)).toEqual([wider.id])
    expect(await blocksLeft()).toEqual([])
    expect(await on.database.query('SELECT FROM concurrency_holds WHERE run_id = $1', [strict.id])).toEqual([])
  })

  test('a run that is to start later neither holds a place nor stands in line until then', async () => {
    const of = aKey()
    const later = await on.add({ ...of, availableAt: new Date(Date.now() + 3_600_000).toISOString() })
    expect(await reasonOf(later)).toBe('scheduled')
    const now = await on.add(of)
    expect(await reasonOf(now)).not.toBe('concurrency')
    await on.database.shiftClock('2 hours')
    try {
      await on.store.blocks.promote(100)
      expect(await reasonOf(later)).toBe('concurrency')
      await on.store.cancel(now.id)
      expect((await on.store.blocks.promote(100)).freed.map(({ runId }) => runId)).toEqual([later.id])
    } finally {
      await on.database.shiftClock('0')
    }
  })

  test('keys of different owners are different, unless the key is everyone’s', async () => {
    const of = aKey()
    const [mine, theirs] = [
      await on.add(of),
      await on.add({ ...of, owner: 'other', concurrency: { ...of.concurrency, owner: 'other' } }),
    ]
    expect((await claimAll(of)).map(({ runId }) => runId)).toEqual([mine.id, theirs.id])
    const shared = aKey({ owner: '' })
    await on.add(shared)
    const second = await on.add({ ...shared, owner: 'other' })
    const waiting = (await on.store.readRun(second.id))!.waiting
    // A run of another owner is counted and not named.
    expect(waiting).toMatchObject({ reason: 'concurrency', held: 1, heldBy: [] })
  })
})

describe('refuse', () => {
  test('is refused with the holders that its owner may see', async () => {
    const of = aKey({ mode: 'refuse', limit: 2 })
    const holders = [await on.add(of), await on.add(of)]
    const refused = await on.store.submit(newRun(of))
    expect(refused).toBeInstanceOf(Refusal)
    expect(refused).toMatchObject({
      code: 'concurrency-limit',
      extra: { key: of.concurrency.key, maximum: 2, used: 2, holders: holders.map(({ id }) => id) },
    })
    await on.store.cancel(holders[0]!.id)
    await on.add(of)
  })

  test('of several in one batch so many are accepted as there are places', async () => {
    const of = aKey({ mode: 'refuse', limit: 3 })
    const answers = await on.store.submitMany(Array.from({ length: 8 }, () => newRun(of)))
    expect(answers.filter((answer) => answer instanceof Refusal)).toHaveLength(5)
  })
})

describe('cancel older', () => {
  test('a waiting run is cancelled at once and the new one may start', async () => {
    const of = aKey({ mode: 'cancel_older' })
    const old = await on.add(of)
    const fresh = await on.add(of)
    expect(await statusOf(old)).toBe('CANCELLED')
    expect((await claimAll(of)).map(({ runId }) => runId)).toEqual([fresh.id])
    expect(await blocksLeft()).toEqual([])
  })

  test('a running one is asked to stop, and the new one starts when it has ended', async () => {
    const of = aKey({ mode: 'cancel_older' })
    await on.add(of)
    const [lease] = await claimAll(of)
    const fresh = await on.add(of)
    expect(await claimAll(of)).toEqual([])
    expect(await on.store.blocks.stoppedFor([fresh.id])).toEqual([{ runId: lease!.runId, holder: WORKER }])
    await settle(on, lease!, 'cancel')
    await on.store.blocks.promote(100)
    expect((await claimAll(of)).map(({ runId }) => runId)).toEqual([fresh.id])
  })

  test('of several that come while one stops only the newest stays', async () => {
    const of = aKey({ mode: 'cancel_older' })
    await on.add(of)
    const [lease] = await claimAll(of)
    const [skipped, newest] = [await on.add(of), await on.add(of)]
    expect(await statusOf(skipped)).toBe('CANCELLED')
    expect(await on.events(lease!.runId)).toEqual(['created', 'started', 'cancel_requested'])
    await settle(on, lease!, 'cancel')
    await on.store.blocks.promote(100)
    expect((await claimAll(of)).map(({ runId }) => runId)).toEqual([newest.id])
  })

  test('with room for more than one only the oldest has to go', async () => {
    const of = aKey({ mode: 'cancel_older', limit: 2 })
    const runs = [await on.add(of), await on.add(of), await on.add(of)]
    expect(await Promise.all(runs.map(statusOf))).toEqual(['CANCELLED', 'PENDING', 'PENDING'])
    expect(await claimAll(of)).toHaveLength(2)
  })

  test('several in one batch replace what was there and each other', async () => {
    const [one, two] = [aKey({ mode: 'cancel_older' }), aKey({ mode: 'cancel_older' })]
    const old = [await on.add(one), await on.add(two)]
    const runs = [one, two, one, two].map((of) => newRun(of))
    await on.store.submitMany(runs)
    const shown = await Promise.all([...old, ...runs].map(async ({ id }) => (await on.store.readRun(id))!.run.status))
    expect(shown).toEqual([...Array(4).fill('CANCELLED'), 'PENDING', 'PENDING'])
    expect(await Promise.all([claimAll(one), claimAll(two)])).toMatchObject([
      [{ runId: runs[2]!.id }],
      [{ runId: runs[3]!.id }],
    ])
  })

  test('a request that is known already replaces nothing', async () => {
    const of = aKey({ mode: 'cancel_older' })
    const key = { key: `same-${keys}`, ttlSeconds: 60 }
    const first = await on.add({ ...of, parameters: { same: 1 }, key })
    const again = await on.store.submit(newRun({ ...of, parameters: { same: 1 }, key }))
    expect(again).toMatchObject({ idempotentHit: true, run: { id: first.id, status: 'PENDING' } })
  })
})

test('an upload that brings a run of a key waits in line like a submit, and is refused like one', async () => {
  const of = aKey()
  const holder = await on.add(of)
  const upload = newUpload({ model: of.model })
  const run = { ...upload.run!, concurrency: of.concurrency }
  const taken = acceptedUpload(await on.store.files.accept({ ...upload, run }))
  expect((await on.store.readRun(taken.upload.runId!))!.waiting).toMatchObject({
    reason: 'concurrency',
    heldBy: [holder.id],
  })
  const other = newUpload({ model: of.model })
  const refused = { ...other.run!, concurrency: { ...of.concurrency, mode: 'refuse' as const } }
  expect(await on.store.files.accept({ ...other, run: refused })).toMatchObject({ code: 'concurrency-limit' })
})

test('who promotes waits for who admits, and the other way round', async () => {
  const of = aKey()
  const order: string[] = []
  let submitted: Promise<unknown> = Promise.resolve()
  await inTransaction(on.database.pool, async (client) => {
    await lockKeys(client, [of.concurrency])
    submitted = on.add(of).then(() => order.push('admitted'))
    // It must be seen waiting for the lock, not just be slow.
    for (;;) {
      const waiting = await client.query(
        `SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND classid = 4618`,
      )
      if (waiting.rowCount) break
    }
    order.push('released')
    return true
  })
  await submitted
  expect(order).toEqual(['released', 'admitted'])
})

test('several stores, claims and ends at once: never more of a key are running than it allows', async () => {
  const stores = [on.store, openStore({ url: on.database.url }), openStore({ url: on.database.url })]
  const of = aKey({ limit: 3 })
  const total = 60
  let ended = 0
  const submits = Array.from({ length: total }, (_, no) => stores[no % 3]!.submit(newRun(of)))
  const work = stores.map(async (store, no) => {
    const workerId = `storm-${no}`
    const giveUpAt = performance.now() + 20_000
    while (ended < total && performance.now() < giveUpAt) {
      const leases = await claimAll(of, store, workerId)
      for (const lease of leases) {
        const kind = lease.runId.charCodeAt(35) % 3 === 0 ? 'fail' : 'succeed'
        await settle({ store }, lease, kind, { workerId })
        ended += 1
      }
      await store.blocks.promote(100)
    }
  })
  await Promise.all([...submits, ...work])
  await Promise.all(stores.slice(1).map((store) => store.close()))
  expect(ended).toBe(total)
  expect(await mostActive(of.model)).toBeLessThanOrEqual(3)
})

/** From the record: at each start, how many had started and not ended. A start after an end that it waited for is later by the clock. */
async function mostActive(model: string): Promise<number> {
  const rows = await on.database.query<{ most: number }>(
    `SELECT max(active)::int AS most FROM (
       SELECT (SELECT count(*) FROM run_events s JOIN model_runs r ON r.id = s.run_id
         WHERE r.model = $1 AND s.type = 'started' AND s.at <= b.at AND (r.finished_at IS NULL OR r.finished_at > b.at)) AS active
       FROM run_events b JOIN model_runs m ON m.id = b.run_id WHERE m.model = $1 AND b.type = 'started') moments`,
    [model],
  )
  return rows[0]!.most
}

test('a random life of a key is what a simple model says, in every mode', async () => {
  for (const mode of ['queue', 'refuse', 'cancel_older'] as const) {
    for (const limit of [1, 2]) await lifeOfKey(mode, limit, 1_000 + limit)
  }
})

/** The model: who runs, who waits, in order of age. Everything else follows from the mode. */
async function lifeOfKey(mode: RunKey['mode'], limit: number, seed: number): Promise<void> {
  const of = aKey({ mode, limit })
  const random = randomOf(seed)
  const leases = new Map<string, Lease>()
  const stopping = new Set<string>()
  let running: string[] = []
  let waiting: string[] = []
  const promoteModel = () => {
    while (running.length < limit && waiting.length > 0) running.push(waiting.shift()!)
  }
  for (let step = 0; step < 25; step += 1) {
    if (random() < 0.6 || running.length === 0) {
      const run: NewRun = newRun(of)
      const answer = await on.store.submit(run)
      const isFull = running.length + waiting.length >= limit
      expect(answer instanceof Refusal).toBe(mode === 'refuse' && isFull)
      if (answer instanceof Refusal) continue
      if (mode === 'cancel_older') {
        const alive = [...running.filter((id) => !stopping.has(id)), ...waiting]
        for (const id of alive.slice(0, Math.max(0, alive.length + 1 - limit))) {
          if (waiting.includes(id)) waiting = waiting.filter((other) => other !== id)
          else stopping.add(id)
        }
      }
      waiting.push(run.id)
    } else {
      const id = running[Math.floor(random() * running.length)]!
      await settle(on, leases.get(id)!, stopping.has(id) ? 'cancel' : random() < 0.5 ? 'succeed' : 'fail')
      running = running.filter((other) => other !== id)
      await on.store.blocks.promote(100)
    }
    promoteModel()
    for (const lease of await claimAll(of)) leases.set(lease.runId, lease)
    const rows = await on.database.query<{ id: string; status: string; blocked: boolean }>(
      `SELECT id, status, available_at > clock() AS blocked FROM model_runs WHERE model = $1 AND finished_at IS NULL ORDER BY id`,
      [of.model],
    )
    expect(rows.filter(({ status }) => status === 'RUNNING').map(({ id }) => id)).toEqual(running.toSorted())
    expect(rows.filter(({ status }) => status === 'PENDING').map(({ id }) => id)).toEqual(waiting.toSorted())
    expect(rows.every(({ status, blocked }) => status === 'RUNNING' || blocked)).toBe(true)
  }
  expect(await blocksLeft()).toEqual([])
}

function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return state / 2_147_483_648
  }
}
