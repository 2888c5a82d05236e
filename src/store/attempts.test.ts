/** Attempts whose code runs elsewhere: how they are handed over, prove themselves, say how they ended, and change hands. */

import { randomBytes } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { postgresVersions } from '../../test/support/postgres-versions.ts'
import { openTestStore, ownModel, settle, type TestStore, WORKER } from '../../test/support/store.ts'
import { createAdopt } from './adopt.ts'
import type { AdoptOptions, JobOutcome } from './ports/attempts.ts'
import { createReclaim } from './reclaim.ts'
import type { Lease } from './store.ts'

const REF = { cluster: 'main', submission_id: 'run-1-a1' }
const SUCCESS: JobOutcome = { ok: true, result_text: '{"n":1}' }
const hash = () => randomBytes(32)

describe.each(postgresVersions)('attempts elsewhere on Postgres %s', (server) => {
  let t: TestStore
  beforeAll(async () => {
    t = await openTestStore(server)
  })
  afterEach(() => t.clear())
  afterAll(() => t.close())

  const attempts = () => t.store.attempts
  const read = async ({ runId }: Lease) => (await t.store.readRun(runId))!
  const expire = (by = '61 seconds') => t.database.shiftClock(by)
  const adopt = (more: Partial<AdoptOptions> = {}) =>
    createAdopt(t.database.pool)({ workerId: 'worker-2', leaseMs: 60_000, executors: ['ray'], limit: 10, ...more })

  /** A run of an engine, claimed as a worker with engines does. */
  async function engineLease(changes: object = {}): Promise<Lease> {
    const model = ownModel()
    await t.add({ model, executor: 'ray', ...changes })
    const [lease] = await t.claim({ models: [{ model, version: '1', room: 1 }], engines: ['ray'] })
    return lease!
  }

  async function handedOver(changes: object = {}): Promise<{ lease: Lease; ticket: Buffer }> {
    const lease = await engineLease(changes)
    const ticket = hash()
    expect(await attempts().handOver(lease, { engine: true, externalRef: REF, ticketHash: ticket })).toBe(true)
    return { lease, ticket }
  }

  async function begun(changes: object = {}): Promise<{ lease: Lease; ticket: Buffer; token: Buffer }> {
    const { lease, ticket } = await handedOver(changes)
    const token = hash()
    expect(await attempts().redeemTicket(lease.runId, ticket, token)).not.toBeNull()
    return { lease, ticket, token }
  }

  async function remote(): Promise<{ lease: Lease; token: Buffer }> {
    const lease = await t.running()
    const token = hash()
    expect(await attempts().handOver(lease, { engine: false, tokenHash: token })).toBe(true)
    return { lease, token }
  }

  describe('hand over', () => {
    it("an engine's attempt is SUBMITTED with its reference until the first sign of life", async () => {
      const { lease } = await handedOver()
      expect((await read(lease)).attempts).toMatchObject([{ state: 'SUBMITTED', startedAt: null, externalRef: REF }])
      await attempts().started(lease)
      await attempts().started(lease, { ...REF, job_id: '7' })
      const { attempts: rows, run } = await read(lease)
      expect(rows).toMatchObject([{ state: 'RUNNING', externalRef: { ...REF, job_id: '7' } }])
      expect(rows[0]!.startedAt).not.toBeNull()
      expect(await t.events(lease.runId)).toEqual(['created', 'started', 'submitted', 'running'])
      expect(run.eventSeq).toBe(4)
    })

    it('the attempts of other executors are RUNNING from the start', async () => {
      const model = ownModel()
      await t.add({ model })
      const [lease] = await t.claim({ models: [{ model, version: '1', room: 1 }], engines: ['ray'] })
      expect((await read(lease!)).attempts).toMatchObject([{ state: 'RUNNING' }])
    })

    it('the same again changes nothing', async () => {
      const { lease, ticket } = await handedOver()
      expect(await attempts().handOver(lease, { engine: true, externalRef: REF, ticketHash: ticket })).toBe(true)
      expect(await t.events(lease.runId)).toEqual(['created', 'started', 'submitted'])
    })

    it('with a lost lease is refused and nothing is noted', async () => {
      const lease = await engineLease()
      await expire()
      await t.store.reclaimExpired({ workerId: WORKER, limit: 10 })
      expect(await attempts().handOver(lease, { engine: true, externalRef: REF, ticketHash: hash() })).toBe(false)
      expect(await attempts().handOver(lease, { engine: false, tokenHash: hash() })).toBe(false)
      expect((await read(lease)).attempts[0]!.externalRef).toBeNull()
    })

    it('another ticket takes the place of one that nobody has traded, and of no other', async () => {
      const { lease, ticket } = await handedOver()
      const [second, third] = [hash(), hash()]
      expect(await attempts().handOver(lease, { engine: true, externalRef: REF, ticketHash: second })).toBe(true)
      expect(await attempts().redeemTicket(lease.runId, ticket, hash())).toBeNull()
      expect(await attempts().redeemTicket(lease.runId, second, hash())).not.toBeNull()
      const again = attempts().handOver(lease, { engine: true, externalRef: REF, ticketHash: third })
      await expect(again).rejects.toThrow('traded its ticket')
    })

    it("a remote worker's attempt says so and has its token at once", async () => {
      const { lease, token } = await remote()
      expect((await read(lease)).attempts).toMatchObject([{ executor: 'remote', state: 'RUNNING' }])
      expect(await attempts().findByToken(lease.runId, token)).toMatchObject({
        runId: lease.runId,
        executor: 'remote',
        holder: WORKER,
        externalRef: null,
        cancelRequested: false,
      })
      expect(await attempts().handOver(lease, { engine: false, tokenHash: hash() })).toBe(false)
    })
  })

  describe('tickets and tokens', () => {
    it('a ticket is good for one token; the same two again are a repeated request', async () => {
      const { lease, ticket, token } = await begun()
      expect(await attempts().redeemTicket(lease.runId, ticket, token)).toMatchObject({ externalRef: REF, attempt: 1 })
      expect(await attempts().redeemTicket(lease.runId, ticket, hash())).toBeNull()
      expect((await read(lease)).attempts).toMatchObject([{ state: 'RUNNING' }])
    })

    it('of two jobs that trade one ticket at once, one gets the attempt', async () => {
      const { lease, ticket } = await handedOver()
      const trades = Array.from({ length: 8 }, () => attempts().redeemTicket(lease.runId, ticket, hash()))
      expect((await Promise.all(trades)).filter((open) => open !== null)).toHaveLength(1)
    })

    it.each(['reclaim', 'release', 'succeed'] as const)('%s ends ticket and token', async (how) => {
      const { lease, ticket, token } = await begun()
      if (how === 'reclaim') {
        await expire('122 seconds')
        expect(await t.store.reclaimExpired({ workerId: WORKER, limit: 10 })).toHaveLength(1)
      } else await settle(t, lease, how)
      expect(await attempts().findByToken(lease.runId, token)).toBeNull()
      expect(await attempts().redeemTicket(lease.runId, ticket, token)).toBeNull()
      expect(await attempts().keepJobOutcome(lease.runId, token, SUCCESS)).toBe(false)
      const options = { leaseMs: 60_000, deadlineGraceMs: 0 }
      expect(await attempts().extendByToken(lease.runId, token, options)).toBeNull()
    })

    it('the database refuses another token for an attempt, and another worker under the same epoch', async () => {
      const { lease } = await begun()
      const set = (change: string) =>
        t.database.query(`UPDATE run_attempts SET ${change} WHERE run_id = $1`, [lease.runId])
      await expect(set(`token_hash = '\\x00'`)).rejects.toThrow('keeps its token')
      await expect(set(`ticket_hash = '\\x00'`)).rejects.toThrow('keeps its token')
      await expect(set(`worker_id = 'thief'`)).rejects.toThrow('higher epoch')
    })
  })

  describe('heartbeat by token', () => {
    it("extends a remote worker's lease, never past its deadline and grace, and tells of a cancel", async () => {
      const { lease, token } = await remote()
      await expire('50 seconds')
      const extended = await attempts().extendByToken(lease.runId, token, { leaseMs: 60_000, deadlineGraceMs: 0 })
      expect(extended!.cancelRequested).toBe(false)
      expect((await read(lease)).run.leaseExpiresAt).toEqual(extended!.leaseExpiresAt)
      await t.store.cancel(lease.runId)
      const far = await attempts().extendByToken(lease.runId, token, { leaseMs: 1e9, deadlineGraceMs: 1_000 })
      expect(far).toMatchObject({ cancelRequested: true })
      expect(far!.leaseExpiresAt.getTime()).toBe(far!.deadlineAt.getTime() + 1_000)
    })

    it("leaves the lease of an engine's attempt to its worker, and answers", async () => {
      const { lease, token } = await begun()
      const before = (await read(lease)).run.leaseExpiresAt
      await t.store.cancel(lease.runId)
      const answer = await attempts().extendByToken(lease.runId, token, { leaseMs: 1e6, deadlineGraceMs: 0 })
      expect(answer).toMatchObject({ cancelRequested: true, leaseExpiresAt: before })
    })
  })

  describe('what a job says of its end', () => {
    it('is kept while nobody holds the lease, and told to whoever adopts', async () => {
      const { lease, token } = await begun()
      await expire()
      expect(await attempts().keepJobOutcome(lease.runId, token, SUCCESS)).toBe(true)
      const [adopted] = await adopt()
      expect(await attempts().jobOutcomes([lease])).toEqual([])
      expect(await attempts().jobOutcomes([adopted!])).toEqual([{ runId: lease.runId, outcome: SUCCESS }])
      expect(await settle(t, adopted!, 'succeed', { workerId: 'worker-2' })).toMatchObject({ status: 'SUCCEEDED' })
    })

    it('the first word stays, with characters that jsonb refuses', async () => {
      const { lease, token } = await begun()
      const failed: JobOutcome = { ok: false, error: { class: 'E\0', message: '\ud800 \0', stack: null } }
      expect(await attempts().keepJobOutcome(lease.runId, token, failed)).toBe(true)
      expect(await attempts().keepJobOutcome(lease.runId, token, SUCCESS)).toBe(true)
      expect(await attempts().jobOutcomes([lease])).toEqual([{ runId: lease.runId, outcome: failed }])
    })

    it('is forgotten once the attempt has ended, and not before', async () => {
      const { lease, token } = await begun()
      await attempts().keepJobOutcome(lease.runId, token, SUCCESS)
      expect(await attempts().forgetJobOutcomes(10)).toBe(0)
      await settle(t, lease, 'succeed')
      expect(await attempts().forgetJobOutcomes(10)).toBe(1)
    })
  })

  describe('adopt', () => {
    it('takes the expired lease under a new epoch, with the same attempt, token and job', async () => {
      const { lease, token } = await begun()
      expect(await adopt()).toEqual([])
      await expire()
      const [adopted, ...others] = await adopt()
      expect(others).toEqual([])
      expect(adopted).toMatchObject({
        runId: lease.runId,
        epoch: 2,
        attempt: 1,
        externalRef: REF,
        holderBefore: WORKER,
      })
      expect(Math.round(adopted!.remainingSeconds)).toBe(3600 - 61)
      const { run, attempts: rows } = await read(lease)
      expect(run).toMatchObject({ status: 'RUNNING', leaseOwner: 'worker-2', leaseEpoch: 2, attemptCount: 1 })
      expect(rows).toMatchObject([{ state: 'RUNNING', workerId: 'worker-2' }])
      expect(await attempts().findByToken(lease.runId, token)).toMatchObject({ epoch: 2, holder: 'worker-2' })
      expect((await t.events(lease.runId)).at(-1)).toBe('adopted')
      expect(await settle(t, lease, 'succeed')).toMatchObject({ status: 'stale' })
      expect(await settle(t, adopted!, 'succeed', { workerId: 'worker-2' })).toMatchObject({ status: 'SUCCEEDED' })
      const repeated = await settle(t, adopted!, 'succeed', { workerId: 'worker-2' })
      expect(repeated).toEqual({ status: 'SUCCEEDED', repeated: true })
    })

    it('of several that adopt at once, each attempt goes to one', async () => {
      const made: Lease[] = []
      for (let no = 0; no < 10; no += 1) made.push((await begun()).lease)
      await expire()
      const taken = await Promise.all(Array.from({ length: 6 }, (_, no) => adopt({ workerId: `w${no}`, limit: 3 })))
      const more = await adopt()
      const ids = [...taken.flat(), ...more].map(({ runId }) => runId)
      expect(ids.toSorted()).toEqual(made.map(({ runId }) => runId).toSorted())
    })

    it('the holder holds the row uncommitted: the attempt is passed by', async () => {
      const { lease } = await begun()
      await expire()
      const holder = await t.database.pool.connect()
      try {
        await holder.query('BEGIN')
        await holder.query('SELECT FROM model_runs WHERE id = $1 FOR UPDATE', [lease.runId])
        expect(await adopt()).toEqual([])
        await holder.query('COMMIT')
      } finally {
        holder.release()
      }
      expect(await adopt()).toHaveLength(1)
    })

    it('leaves alone what is not handed over, of another engine, of another model or long past its deadline', async () => {
      await engineLease()
      const { lease } = await handedOver()
      await handedOver({ timeoutSeconds: 1, maxAttempts: 2 })
      await expire('400 seconds')
      expect(await adopt({ executors: ['kubernetes'] })).toEqual([])
      expect(await adopt({ models: [{ model: lease.model, version: '2' }] })).toEqual([])
      const models = [{ model: lease.model, version: '1' }]
      expect(await adopt({ models })).toMatchObject([{ runId: lease.runId }])
      expect(await adopt()).toEqual([])
    })

    it('finds work whose worker died after the hand-over and before it asked the engine', async () => {
      const { lease, ticket } = await handedOver()
      await expire()
      const [adopted] = await adopt()
      expect((await read(lease)).attempts).toMatchObject([{ state: 'SUBMITTED' }])
      const next = hash()
      expect(await attempts().handOver(adopted!, { engine: true, externalRef: REF, ticketHash: next })).toBe(true)
      expect(await attempts().redeemTicket(lease.runId, ticket, hash())).toBeNull()
      expect(await attempts().redeemTicket(lease.runId, next, hash())).toMatchObject({ epoch: 2 })
    })

    it('a worker that lets go is adopted from at once', async () => {
      const { lease } = await begun()
      expect(await attempts().letGo(lease)).toBe(true)
      const [adopted] = await adopt()
      expect(adopted).toMatchObject({ runId: lease.runId, epoch: 2 })
      expect(await attempts().letGo(lease)).toBe(false)
    })

    it('only what an engine has can be let go of', async () => {
      const lease = await t.running()
      expect(await attempts().letGo(lease)).toBe(false)
    })
  })

  describe('reclaim of what an engine has', () => {
    it('waits until nobody has adopted it for the time given', async () => {
      const { lease, token } = await begun()
      const reclaim = () => createReclaim(t.database.pool)({ limit: 10, adoptMs: 30_000 })
      await expire('80 seconds')
      expect(await reclaim()).toEqual([])
      await expire('91 seconds')
      expect(await reclaim()).toMatchObject([{ runId: lease.runId, status: 'PENDING' }])
      expect((await read(lease)).attempts).toMatchObject([{ state: 'LOST' }])
      expect(await attempts().keepJobOutcome(lease.runId, token, SUCCESS)).toBe(false)
      expect(await adopt()).toEqual([])
    })

    it('an unconfirmed cancel likewise, so that somebody can stop the job', async () => {
      const { lease } = await begun()
      await t.store.cancel(lease.runId)
      const confirm = () => t.store.confirmOverdueCancels({ afterMs: 60_000, limit: 10, adoptMs: 30_000 })
      await expire('80 seconds')
      expect(await confirm()).toEqual([])
      await expire('91 seconds')
      expect(await confirm()).toMatchObject([{ runId: lease.runId, status: 'CANCELLED' }])
    })
  })

  it('what an attempt used is on its row; a lost one writes nothing', async () => {
    const lease = await t.running()
    await attempts().recordUsage({ ...lease, epoch: 9 }, { cpuSeconds: 9, peakMemoryBytes: 9 })
    await attempts().recordUsage(lease, { cpuSeconds: 1.5, peakMemoryBytes: 1024.2 })
    expect((await read(lease)).attempts).toMatchObject([{ cpuSeconds: 1.5, peakMemoryBytes: 1024 }])
  })
})
