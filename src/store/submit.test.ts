/** A request is accepted once: keys, slots, and batches in which one item never fails its neighbours. */

import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { key, newRun, slot } from '../../test/support/new-run.ts'
import { postgresVersions } from '../../test/support/postgres-versions.ts'
import { accepted, openTestStore, settle, type TestStore } from '../../test/support/store.ts'
import { Refusal } from '../run/errors.ts'
import type { NewRun } from './store.ts'

describe.each(postgresVersions)('submit on Postgres %s', (server) => {
  let t: TestStore
  beforeAll(async () => {
    t = await openTestStore(server)
  })
  afterAll(() => t.close())

  const submit = async (run: NewRun) => accepted(await t.store.submit(run))
  const refused = async (run: NewRun) => {
    const answer = await t.store.submit(run)
    expect(answer).toBeInstanceOf(Refusal)
    return answer as Refusal
  }
  const namesOf = (runId: string) =>
    t.database.query('SELECT kind, key, payload_hash FROM run_names WHERE run_id = $1 ORDER BY kind', [runId])

  /** Ends a PENDING run in the way asked for. */
  async function finish(run: NewRun, kind: 'succeed' | 'fail' | 'cancel'): Promise<void> {
    if (kind === 'cancel') {
      await t.store.cancel(run.id)
      return
    }
    const models = [{ model: run.model, version: '1', room: 1 }]
    const [lease] = await t.claim({ models })
    expect(lease?.runId).toBe(run.id)
    await settle(t, lease!, kind)
  }

  it('a new run: its row, its first event and its names', async () => {
    const batchId = randomUUID()
    const asked = newRun({
      key: key('row'),
      slot: slot(),
      title: 'a title',
      tags: ['x', 'y"z'],
      batchId,
      retryOf: batchId,
      priority: 7,
      expectedSeconds: 2.5,
      traceParent: '00-1-2-01',
    })
    const { run, idempotentHit } = await submit(asked)
    expect(idempotentHit).toBe(false)
    const { key: _key, slot: _slot, parametersText: _text, availableAt: _at, traceParent: _trace, ...plain } = asked
    expect(run).toMatchObject({ ...plain, status: 'PENDING', attemptCount: 0, eventSeq: 1, startedAt: null })
    expect(run.availableAt).toEqual(run.createdAt)
    const stored = (await t.store.readRun(asked.id))!.run
    expect(stored).toEqual(run)
    expect(await t.events(asked.id)).toEqual(['created'])
    expect(await namesOf(asked.id)).toEqual([
      { kind: 'key', key: 'row', payload_hash: asked.payloadHash },
      { kind: 'retry', key: batchId, payload_hash: asked.payloadHash },
      { kind: 'slot', key: asked.payloadHash, payload_hash: asked.payloadHash },
    ])
  })

  it('requests with two names share a batch, and one whose names are half taken leaves its neighbours alone', async () => {
    const held = newRun({ slot: slot() })
    await submit(held)
    const half = newRun({ model: held.model, payloadHash: held.payloadHash, key: key('half'), slot: slot() })
    const neighbours = [
      newRun({ key: key('whole'), slot: slot() }),
      newRun({ slot: slot() }),
      newRun({ key: key('one') }),
    ]
    const [halfAnswer, ...others] = (await t.store.submitMany([half, ...neighbours])).map(accepted)
    expect(halfAnswer).toMatchObject({ idempotentHit: true, run: { id: held.id } })
    expect(others.map(({ run, idempotentHit }) => [run.id, idempotentHit])).toEqual(
      neighbours.map(({ id }) => [id, false]),
    )
    expect(await t.store.readRun(half.id)).toBeNull()
  })

  it('a run that was sent before and had been created is found, not made again', async () => {
    const nameless = newRun({ key: null, slot: null })
    await submit(nameless)
    expect(await submit(nameless)).toMatchObject({ run: { id: nameless.id } })
    expect(await t.events(nameless.id)).toEqual(['created'])
  })

  it('without a name equal payloads are two runs', async () => {
    const parameters = { twice: true }
    const runs = [await submit(newRun({ parameters })), await submit(newRun({ parameters }))]
    expect(new Set(runs.map(({ run }) => run.id)).size).toBe(2)
  })

  it('R372: same key, same payload: the same run in its current state', async () => {
    const asked = newRun({ key: key('r372'), model: 'r372' })
    await submit(asked)
    const again = { ...newRun(asked), id: randomUUID() }
    expect(await submit(again)).toMatchObject({ run: { id: asked.id, status: 'PENDING' }, idempotentHit: true })
    await finish(asked, 'fail')
    expect(await submit(again)).toMatchObject({ run: { id: asked.id, status: 'FAILED' }, idempotentHit: true })
  })

  it('R373: same key, another payload: refused with both hashes, and nothing is stored', async () => {
    const first = newRun({ key: key('r373') })
    await submit(first)
    const other = newRun({ key: key('r373') })
    const refusal = await refused(other)
    expect(refusal.code).toBe('idempotency-key-reused')
    const extra = { payload_hash: other.payloadHash, original_payload_hash: first.payloadHash, run_id: first.id }
    expect(refusal.extra).toEqual(extra)
    expect(await t.store.readRun(other.id)).toBeNull()
  })

  it.each(['key', 'slot'])('a %s belongs to its owner', async (kind) => {
    const parameters = { owned: kind }
    const names = kind === 'key' ? { key: key('owned') } : { slot: slot() }
    const [mine, yours] = ['me', 'you'].map((owner) => newRun({ owner, parameters, ...names }))
    expect((await submit(mine!)).idempotentHit).toBe(false)
    expect((await submit(yours!)).idempotentHit).toBe(false)
  })

  describe('the life of a key', () => {
    it('an expired key holds as long as its run is not finished, then it is free', async () => {
      const asked = newRun({ key: key('life', 60), model: 'life' })
      await submit(asked)
      const again = newRun({ key: key('life', 60), parameters: asked.parameters, model: 'life' })
      const other = newRun({ key: key('life', 60), model: 'life' })
      await t.database.shiftClock('61 seconds')
      try {
        expect(await submit(again)).toMatchObject({ run: { id: asked.id }, idempotentHit: true })
        expect((await refused(other)).code).toBe('idempotency-key-reused')
        await finish(asked, 'succeed')
        expect(await submit(other)).toMatchObject({ run: { id: other.id }, idempotentHit: false })
      } finally {
        await t.database.shiftClock('0')
      }
      expect((await refused(again)).extra).toMatchObject({ run_id: other.id })
    })

    it('a key that has not expired holds after its run is finished', async () => {
      const asked = newRun({ key: key('kept'), model: 'kept' })
      await submit(asked)
      await finish(asked, 'succeed')
      expect((await refused(newRun({ key: key('kept') }))).extra).toMatchObject({ run_id: asked.id })
    })
  })

  describe('dedupe', () => {
    const twin = (run: NewRun, dedupe: 'active' | 'succeeded' = 'active') =>
      newRun({ model: run.model, parameters: run.parameters, slot: slot(dedupe) })

    it('active: an active run of the payload is the answer, while it waits and while it runs', async () => {
      const asked = newRun({ model: 'active', slot: slot() })
      await submit(asked)
      expect(await submit(twin(asked))).toMatchObject({ run: { id: asked.id }, idempotentHit: true })
      await t.claim({ models: [{ model: 'active', version: '1', room: 1 }] })
      expect(await submit(twin(asked))).toMatchObject({ run: { id: asked.id, status: 'RUNNING' }, idempotentHit: true })
    })

    it.each([
      ['active', 'succeed', false],
      ['active', 'fail', false],
      ['active', 'cancel', false],
      ['succeeded', 'succeed', true],
      ['succeeded', 'fail', false],
      ['succeeded', 'cancel', false],
    ] as const)('%s after %s: hit is %s', async (dedupe, end, hit) => {
      const asked = newRun({ model: `${dedupe}-${end}`, slot: slot(dedupe) })
      await submit(asked)
      await finish(asked, end)
      const again = twin(asked, dedupe)
      const answer = await submit(again)
      expect(answer.idempotentHit).toBe(hit)
      expect(answer.run.id).toBe(hit ? asked.id : again.id)
      // Whoever took the name over is found by the next.
      expect(await submit(twin(asked, dedupe))).toMatchObject({ run: { id: answer.run.id }, idempotentHit: true })
    })

    it('off: no slot is looked at', async () => {
      const asked = newRun({ slot: slot() })
      await submit(asked)
      expect((await submit(newRun({ parameters: asked.parameters }))).idempotentHit).toBe(false)
    })

    it('outside the window the same payload is a new run', async () => {
      const asked = newRun({ slot: slot('active', 60) })
      await submit(asked)
      await t.database.shiftClock('61 seconds')
      try {
        expect((await submit(twin(asked))).idempotentHit).toBe(false)
      } finally {
        await t.database.shiftClock('0')
      }
    })
  })

  describe('a key and a slot together', () => {
    it('a slot hit stores the key, so that a repeat with the key gets the same run', async () => {
      const first = newRun({ slot: slot(), model: 'both' })
      await submit(first)
      const both = newRun({ model: 'both', parameters: first.parameters, key: key('both'), slot: slot() })
      expect(await submit(both)).toMatchObject({ run: { id: first.id }, idempotentHit: true })
      await finish(first, 'fail')
      const repeat = newRun({ ...both, id: randomUUID() })
      expect(await submit(repeat)).toMatchObject({ run: { id: first.id, status: 'FAILED' }, idempotentHit: true })
      expect((await refused(newRun({ key: key('both') }))).extra).toMatchObject({ run_id: first.id })
    })

    it('a key that has lapsed is given to the run the slot found', async () => {
      const old = newRun({ key: key('lapsed', 60), model: 'lapsed' })
      await submit(old)
      await finish(old, 'succeed')
      await t.database.shiftClock('61 seconds')
      try {
        const first = newRun({ slot: slot(), model: 'lapsed' })
        await submit(first)
        const both = newRun({ model: 'lapsed', parameters: first.parameters, key: key('lapsed'), slot: slot() })
        expect(await submit(both)).toMatchObject({ run: { id: first.id }, idempotentHit: true })
        await finish(first, 'fail')
        const repeat = newRun({ ...both, id: randomUUID() })
        expect(await submit(repeat)).toMatchObject({ run: { id: first.id }, idempotentHit: true })
      } finally {
        await t.database.shiftClock('0')
      }
    })

    it('the key decides alone: its run is the answer although the slot leads to another', async () => {
      const keyed = newRun({ key: key('alone') })
      await submit(keyed)
      await submit(newRun({ parameters: keyed.parameters, slot: slot() }))
      const both = newRun({ parameters: keyed.parameters, key: key('alone'), slot: slot() })
      expect(await submit(both)).toMatchObject({ run: { id: keyed.id }, idempotentHit: true })
      const other = newRun({ key: key('alone'), slot: slot() })
      expect((await refused(other)).code).toBe('idempotency-key-reused')
      expect(await namesOf(other.id)).toEqual([])
    })
  })

  describe('a batch', () => {
    it('answers in order; equal names inside it are merged into one run', async () => {
      const first = newRun({ key: key('batch-1') })
      const twin = newRun({ key: key('batch-1'), parameters: first.parameters })
      const clash = newRun({ key: key('batch-1') })
      const slotted = newRun({ slot: slot() })
      const slotTwin = newRun({ slot: slot(), parameters: slotted.parameters })
      const both = newRun({ key: key('batch-2'), slot: slot(), parameters: slotted.parameters })
      const nameless = newRun()
      const runs = [first, twin, clash, slotted, slotTwin, both, nameless]
      const answers = await t.store.submitMany(runs)
      const told = answers.map((answer) => (answer instanceof Refusal ? answer.code : answer.run.id))
      expect(told).toEqual([
        first.id,
        first.id,
        'idempotency-key-reused',
        slotted.id,
        slotted.id,
        slotted.id,
        nameless.id,
      ])
      const hits = answers.map((answer) => !(answer instanceof Refusal) && answer.idempotentHit)
      expect(hits).toEqual([false, true, false, false, true, true, false])
    })

    it('runs of one batch start in the order of the batch', async () => {
      const runs = Array.from({ length: 20 }, () => newRun({ model: 'ordered' }))
      await t.store.submitMany(runs)
      const models = [{ model: 'ordered', version: '1', room: 1 }]
      for (const { id } of runs) expect((await t.claim({ models }))[0]?.runId).toBe(id)
    })

    const bad = { parameters: {}, parametersText: '{"nul":"\\u0000"}' }

    it('one bad item does not fail its neighbours in a batch', async () => {
      const runs = [newRun(), newRun(bad), newRun({ key: key('beside') }), newRun({ slot: slot() })]
      const answers = await t.store.submitMany(runs)
      expect(answers.map((answer) => answer instanceof Refusal && answer.code)).toEqual([
        false,
        'internal-error',
        false,
        false,
      ])
      expect(await t.store.readRun(runs[1]!.id)).toBeNull()
      for (const no of [0, 2, 3]) expect((await t.store.readRun(runs[no]!.id))?.run.status).toBe('PENDING')
    })

    it('one bad item does not fail those that share its commit, and leaves no name behind', async () => {
      const runs = [newRun(), newRun({ ...bad, key: key('bad') }), newRun()]
      const answers = await Promise.allSettled(runs.map((run) => t.store.submit(run)))
      expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
      expect(await t.database.query(`SELECT FROM run_names WHERE key = 'bad'`)).toEqual([])
      expect((await submit(newRun({ key: key('bad') }))).idempotentHit).toBe(false)
    })
  })
})
