/** Fair share: owners in turns by their weights, each by priority and age, within every limit of a claim. */

import fc from 'fast-check'
import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fillFair, setFair, setWeights } from '../../test/support/fill-fair.ts'
import { openTransaction } from '../../test/support/open-transaction.ts'
import { postgresVersions } from '../../test/support/postgres-versions.ts'
import { type ClaimChanges, openTestStore, ownModel, type TestStore } from '../../test/support/store.ts'
import { createClaim } from './claim.ts'
import { listOwners } from './fair-owners.ts'
import type { Lease } from './store.ts'

const named = (count: number) => Array.from({ length: count }, (_, no) => `owner-${String(no).padStart(4, '0')}`)
const claimerOf = (t: TestStore, queue: string) => {
  const claim = createClaim({ pool: t.database.pool, lookBackMs: 3_600_000 })
  return (slots: number, changes: ClaimChanges = {}): Promise<Lease[]> =>
    claim({
      workerId: 'worker-1',
      leaseMs: 60_000,
      slots,
      queues: [{ queue, room: null }],
      models: [{ model: 'forecast', version: '1', room: null }],
      ...changes,
    })
}
const tally = (leases: Lease[]) => {
  const counts: Record<string, number> = {}
  for (const { owner } of leases) counts[owner] = (counts[owner] ?? 0) + 1
  return counts
}

describe.each(postgresVersions)('fair claims on Postgres %s', (server) => {
  let t: TestStore
  let queues = 0
  const QUEUES = Array.from({ length: 14 }, (_, no) => `fair-${no + 1}`)
  beforeAll(async () => {
    t = await openTestStore(server)
    for (const queue of QUEUES) await setFair(t.database, queue)
  })
  afterAll(() => t.close())

  const ownQueue = () => QUEUES[queues++]!
  const claimer = (queue: string) => claimerOf(t, queue)

  it('an owner keeps priority, then first come first served, across models', async () => {
    const queue = ownQueue()
    const other = ownModel()
    const low = await t.add({ queue, priority: -1 })
    const first = await t.add({ queue })
    const second = await t.add({ queue, model: other })
    const high = await t.add({ queue, model: other, priority: 1 })
    const models = ['forecast', other].map((model) => ({ model, version: '1', room: null }))
    const claim = claimer(queue)
    const order: string[] = []
    for (let no = 0; no < 4; no += 1) order.push((await claim(1, { models }))[0]!.runId)
    expect(order).toEqual([high, first, second, low].map(({ id }) => id))
    expect(await claim(1, { models })).toEqual([])
  })

  it('weights of one to three give one to three', async () => {
    const queue = ownQueue()
    await fillFair(t.database, { queue, owners: ['one', 'three'], runsEach: 500 })
    await setWeights(t.database, queue, { three: 3 })
    const claim = claimer(queue)
    const served: Lease[] = []
    for (const slots of [1, 3, 5, 50, 100, 41]) served.push(...(await claim(slots)))
    const { one, three } = tally(served)
    expect(one! + three!).toBe(200)
    expect(Math.abs(three! / one! - 3)).toBeLessThanOrEqual(0.3)
  })

  it.each([2, 4])('%i workers at once share all owners out and take no run twice', async (workers) => {
    const queue = ownQueue()
    const owners = named(20)
    await fillFair(t.database, { queue, owners, runsEach: 50 })
    const claims = Array.from({ length: workers }, () => claimer(queue))
    const served: Lease[] = []
    for (let round = 0; round < 5; round += 1)
      for (const leases of await Promise.all(claims.map((claim) => claim(20)))) served.push(...leases)
    expect(served).toHaveLength(5 * 20 * workers)
    expect(new Set(served.map(({ runId }) => runId)).size).toBe(served.length)
    for (const count of Object.values(tally(served))) expect(Math.abs(count - 5 * workers)).toBeLessThanOrEqual(1)
  })

  it('several workers empty the queue of a single owner without going away early', async () => {
    const queue = ownQueue()
    await fillFair(t.database, { queue, owners: ['alone'], runsEach: 400 })
    const claims = Array.from({ length: 4 }, () => claimer(queue))
    const served = (await Promise.all(claims.map((claim) => claim(100)))).flat()
    expect(new Set(served.map(({ runId }) => runId)).size).toBe(400)
  })

  it('never takes more than the slots, the room of the queue or of a model, and nothing of a paused queue', async () => {
    const queue = ownQueue()
    const other = ownModel()
    await fillFair(t.database, { queue, owners: ['a', 'b'], runsEach: 20 })
    await fillFair(t.database, { queue, owners: ['a', 'c'], runsEach: 20, model: other })
    const claim = claimer(queue)
    const models = (one: number | null, two: number | null) => [
      { model: 'forecast', version: '1', room: one },
      { model: other, version: '1', room: two },
    ]
    expect(await claim(3, { models: models(null, null) })).toHaveLength(3)
    expect(await claim(10, { queues: [{ queue, room: 2 }] })).toHaveLength(2)
    const limited = await claim(10, { models: models(3, 1) })
    expect(limited.filter(({ model }) => model === other)).toHaveLength(1)
    expect(limited).toHaveLength(4)
    expect((await claim(5, { models: models(0, null) })).every(({ model }) => model === other)).toBe(true)
    await t.database.query('UPDATE queues SET paused = true WHERE queue = $1', [queue])
    expect(await claim(10)).toEqual([])
  })

  it('owners who wait for a model that the worker does not offer are in nobody’s way', async () => {
    const queue = ownQueue()
    await fillFair(t.database, { queue, owners: named(1_500), runsEach: 1, model: ownModel() })
    await fillFair(t.database, { queue, owners: ['wanted'], runsEach: 3 })
    expect(tally(await claimer(queue)(5))).toEqual({ wanted: 3 })
  })

  it('owners who have nothing left, or only runs for later, are in nobody’s way', async () => {
    const queue = ownQueue()
    await fillFair(t.database, { queue, owners: named(600), runsEach: 1 })
    await t.database.query(
      `UPDATE model_runs SET available_at = clock() + interval '1 hour' WHERE queue = $1 AND owner < 'owner-0300'`,
      [queue],
    )
    await t.database.query(
      `BEGIN; SET LOCAL holdfast.retention = 'on'; DELETE FROM model_runs WHERE queue = '${queue}' AND owner >= 'owner-0300'; COMMIT`,
    )
    await fillFair(t.database, { queue, owners: ['zealous'], runsEach: 2 })
    expect(tally(await claimer(queue)(1))).toEqual({ zealous: 1 })
    const listed = await t.database.query('SELECT owner FROM fair_owners WHERE queue = $1 AND NOT leaving', [queue])
    expect(listed).toEqual([{ owner: 'zealous' }])
  })

  it('an owner who is marked as leaving and has a run after all is served by the same claim', async () => {
    const queue = ownQueue()
    await fillFair(t.database, { queue, owners: ['marked', 'other'], runsEach: 1 })
    await t.database.query(`UPDATE fair_owners SET leaving = true WHERE queue = $1 AND owner = 'marked'`, [queue])
    expect(tally(await claimer(queue)(5))).toEqual({ marked: 1, other: 1 })
  })

  it('owners who got many runs, and all they had, are found to have nothing left by the next claim', async () => {
    const queue = ownQueue()
    await fillFair(t.database, { queue, owners: ['a', 'b'], runsEach: 20 })
    const claim = claimer(queue)
    expect(tally(await claim(40))).toEqual({ a: 20, b: 20 })
    const listed = () => t.database.query('SELECT leaving FROM fair_owners WHERE queue = $1', [queue])
    expect(await listed()).toEqual([{ leaving: false }, { leaving: false }])
    expect(await claim(40)).toEqual([])
    expect(await listed()).toEqual([])
    const { id } = await t.add({ queue, owner: 'b' })
    expect((await claim(40)).map(({ runId }) => runId)).toEqual([id])
  })

  it('an owner stays listed while somebody else is about to take its last run of a model, and may yet leave it', async () => {
    const queue = ownQueue()
    const other = ownModel()
    const models = ['forecast', other].map((model) => ({ model, version: '1', room: null }))
    const claim = claimer(queue)
    // The look for missing owners that comes with a first claim is over after this one. Under way beside the claims below it would list
    // the owner again whose row they may have marked, and lock it meanwhile, so that the last of them would leave the owner out.
    expect(await claim(1, { models })).toEqual([])
    const last = await t.add({ queue, owner: 'a' })
    for (let no = 0; no < 6; no += 1) {
      await t.add({ queue, owner: 'a', model: other })
      await t.add({ queue, owner: 'b' })
    }
    const lock = (client: pg.PoolClient) => client.query('SELECT FROM model_runs WHERE id = $1 FOR UPDATE', [last.id])
    const somebody = await openTransaction(t.database.pool, lock)
    for (let no = 0; no < 3; no += 1) expect(await claim(2, { models })).not.toHaveLength(0)
    await somebody.end('ROLLBACK')
    const listed = await t.database.query('SELECT FROM fair_owners WHERE queue = $1 AND owner = $2 AND model = $3', [
      queue,
      'a',
      'forecast',
    ])
    expect(listed).toHaveLength(1)
    expect((await claim(4, { models })).map(({ runId }) => runId)).toContain(last.id)
  })

  it('a damaged run holds up nobody else', async () => {
    const queue = ownQueue()
    await fillFair(t.database, { queue, owners: ['a', 'b'], runsEach: 2 })
    const [bad] = await t.database.query<{ id: string }>(
      `SELECT id FROM model_runs WHERE queue = $1 AND owner = 'a' ORDER BY available_at LIMIT 1`,
      [queue],
    )
    await t.database.query(
      `INSERT INTO run_attempts (run_id, attempt, state, executor, worker_id, lease_epoch, submitted_at) VALUES ($1, 1, 'SUBMITTED', 'inline', 'w', 1, clock())`,
      [bad!.id],
    )
    const served = await claimer(queue)(4)
    expect(served).toHaveLength(3)
    expect(served.map(({ runId }) => runId)).not.toContain(bad!.id)
  })
})

describe('one worker', () => {
  let t: TestStore
  beforeAll(async () => {
    t = await openTestStore('18')
  })
  afterAll(() => t.close())

  it('one run of another owner starts at once beside a hundred thousand of the first', async () => {
    const queue = 'many'
    await setFair(t.database, queue)
    await fillFair(t.database, { queue, owners: ['many'], runsEach: 100_000 })
    const claim = claimerOf(t, queue)
    expect(tally(await claim(10))).toEqual({ many: 10 })
    const single = await t.add({ queue, owner: 'single' })
    const next = await claim(1)
    expect([...next, ...(await claim(1))].map(({ runId }) => runId)).toContain(single.id)
    expect(tally(await claim(10))).toEqual({ many: 10 })
  })

  it('of a thousand owners each is served once before any is served the third time', async () => {
    const queue = 'thousand'
    const owners = named(1_000)
    await fillFair(t.database, { queue, owners, runsEach: 100 })
    const claim = claimerOf(t, queue)
    const all: Lease[] = []
    for (const slots of [1, 7, 1_000, 300, 692, 500]) {
      all.push(...(await claim(slots)))
      const served = tally(all)
      const counts = owners.map((owner) => served[owner] ?? 0)
      expect(Math.max(...counts) < 3 || Math.min(...counts) > 0).toBe(true)
    }
    expect(all).toHaveLength(2_500)
    expect(Object.keys(tally(all))).toHaveLength(1_000)
  })

  it('a large claim serves two at a time, also after one that found nothing', async () => {
    const queue = 'idle'
    await setFair(t.database, queue)
    const claim = claimerOf(t, queue)
    expect(await claim(100)).toEqual([])
    await fillFair(t.database, { queue, owners: named(200), runsEach: 4 })
    expect(Object.keys(tally(await claim(100)))).toHaveLength(50)
  })

  type Step = { owner: string; runs: number } | { slots: number }
  const WEIGHTS: Record<string, number> = { a: 1, b: 2, c: 0.5, d: 4 }

  /** Stride scheduling with a loop, one run after the other. */
  function expected(steps: Step[]): string[][] {
    const waiting = new Map<string, { runs: number; pass: number }>()
    return steps.map((step) => {
      if ('owner' in step) {
        const lowest = Math.min(...[...waiting.values()].map(({ pass }) => pass))
        const known = waiting.get(step.owner)
        if (known) known.runs += step.runs
        else waiting.set(step.owner, { runs: step.runs, pass: Number.isFinite(lowest) ? lowest : 0 })
        return []
      }
      const taken: string[] = []
      for (let slot = 0; slot < step.slots && waiting.size > 0; slot += 1) {
        const [owner, line] = [...waiting].sort(([a, x], [b, y]) => x.pass - y.pass || (a < b ? -1 : 1))[0]!
        taken.push(owner)
        line.pass += 1 / WEIGHTS[owner]!
        line.runs -= 1
        if (line.runs === 0) waiting.delete(owner)
      }
      return taken.sort()
    })
  }

  it('takes what a simple stride scheduler would, for any comings and claims', async () => {
    const step = fc.oneof(
      fc.record({ owner: fc.constantFrom('a', 'b', 'c', 'd'), runs: fc.integer({ min: 1, max: 12 }) }),
      fc.record({ slots: fc.integer({ min: 1, max: 10 }) }),
    )
    let no = 0
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 14 }), async (steps) => {
        no += 1
        const queue = `property-${no}`
        await setFair(t.database, queue)
        await setWeights(t.database, queue, WEIGHTS)
        const claim = claimerOf(t, queue)
        const served: string[][] = []
        for (const step of steps) {
          // Owners who left are forgotten at once here, so that all that is compared is the order.
          await t.database.query('DELETE FROM fair_owners WHERE leaving')
          if ('owner' in step) {
            await fillFair(t.database, { queue, owners: [step.owner], runsEach: step.runs, listed: false })
            await listOwners(t.database.pool, [{ queue, owner: step.owner, model: 'forecast', modelVersion: '1' }])
            served.push([])
            continue
          }
          const leases = await claim(step.slots)
          served.push(leases.map(({ owner }) => owner).sort())
        }
        expect(served).toEqual(expected(steps))
      }),
      { numRuns: 20, endOnFailure: true },
    )
  })
})
