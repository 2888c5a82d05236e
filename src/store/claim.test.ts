/** Who gets which run: order, limits, and that a run is never given twice. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newRun } from '../../test/support/new-run.ts'
import { postgresVersions } from '../../test/support/postgres-versions.ts'
import { type ClaimChanges, openTestStore, ownModel, settle, type TestStore, WORKER } from '../../test/support/store.ts'
import { until } from '../../test/support/until.ts'
import { createClaim } from './claim.ts'
import type { Lease, Run } from './store.ts'

describe.each(postgresVersions)('claim on Postgres %s', (server) => {
  let t: TestStore
  beforeAll(async () => {
    t = await openTestStore(server)
  })
  afterAll(() => t.close())

  const offer = (model: string, room = 10, version = '1') => ({ model, version, room })
  const ids = (runs: { runId: string }[] | Run[]) => runs.map((run) => ('runId' in run ? run.runId : run.id))

  /** One run at a time until nothing is left, hence in the order of claiming. */
  async function drain(request: ClaimChanges): Promise<string[]> {
    const order: string[] = []
    for (;;) {
      const [lease] = await t.claim({ ...request, slots: 1 })
      if (!lease) return order
      order.push(lease.runId)
    }
  }

  it('takes higher priority first, then first come first served, across lanes, queues and models', async () => {
    const [model, other] = [ownModel(), ownModel()]
    const first = await t.add({ model })
    const low = await t.add({ model, priority: -100 })
    const second = await t.add({ model: other, queue: 'gpu' })
    const high = await t.add({ model: other, priority: 100 })
    const third = await t.add({ model })
    const queues = ['default', 'gpu'].map((queue) => ({ queue, room: 10 }))
    const order = await drain({ queues, models: [offer(model), offer(other)] })
    expect(order).toEqual(ids([high, first, second, third, low]))
  })

  it.each([1, 2])('a lease says what the run was submitted with, out of a claim of %s lanes', async (lanes) => {
    const model = ownModel()
    const { id, payloadHash } = await t.add({
      model,
      modelVersion: '7',
      queue: 'gpu',
      priority: 5,
      owner: 'ana',
      seed: 42,
    })
    if (lanes === 2) await t.add({ model, modelVersion: '7', queue: 'gpu', priority: -5 })
    const queues = [{ queue: 'gpu', room: 10 }]
    const [lease] = await t.claim({ queues, models: [offer(model, 10, '7')], slots: lanes })
    const { run } = (await t.store.readRun(id))!
    expect(lease).toMatchObject({
      runId: id,
      epoch: 1,
      attempt: 1,
      owner: 'ana',
      model,
      modelVersion: '7',
      queue: 'gpu',
      executor: 'inline',
      parameters: run.parameters,
      payloadHash,
      seed: 42,
      timeoutSeconds: 3600,
      maxAttempts: 3,
      releaseCount: 0,
      reclaimCount: 0,
      startedSeconds: 0,
    })
    const waitedMs = run.startedAt!.getTime() - run.createdAt.getTime()
    expect(Math.abs(lease!.queuedSeconds * 1_000 - waitedMs)).toBeLessThan(2)
  })

  it('shares scarce slots out by priority and age in one claim as well', async () => {
    const [model, other] = [ownModel(), ownModel()]
    await t.add({ model, priority: -1 })
    const wanted = [await t.add({ model }), await t.add({ model: other }), await t.add({ model, priority: 1 })]
    await t.add({ model: other, priority: -1 })
    const leases = await t.claim({ slots: 3, models: [offer(model), offer(other)] })
    expect(ids(leases).toSorted()).toEqual(ids(wanted).toSorted())
  })

  it('never takes more than the slots, the room of a queue or the room of a model', async () => {
    const [model, other] = [ownModel(), ownModel()]
    await t.store.submitMany(
      ['default', 'gpu'].flatMap((queue) =>
        [model, other].flatMap((name) => Array.from({ length: 5 }, () => newRun({ model: name, queue }))),
      ),
    )
    const claim = (slots: number, [queue, gpu]: number[], [one, two]: number[]) =>
      t.claim({
        slots,
        queues: [
          { queue: 'default', room: queue! },
          { queue: 'gpu', room: gpu! },
        ],
        models: [offer(model, one), offer(other, two)],
      })
    const count = (leases: Lease[], field: 'queue' | 'model', value: string) =>
      leases.filter((lease) => lease[field] === value).length

    expect(await claim(3, [10, 10], [10, 10])).toHaveLength(3)
    const byQueue = await claim(10, [10, 1], [10, 10])
    expect(count(byQueue, 'queue', 'gpu')).toBe(1)
    const byModel = await claim(10, [10, 10], [2, 0])
    expect([count(byModel, 'model', model), count(byModel, 'model', other)]).toEqual([2, 0])
    expect(await claim(10, [0, 0], [10, 10])).toEqual([])
  })

  it('a queue that is full leaves the other slots to other queues of the same model', async () => {
    const model = ownModel()
    const first = await t.add({ model, queue: 'north', priority: 7 })
    await t.add({ model, queue: 'north' })
    const other = await t.add({ model, queue: 'south' })
    const queues = [
      { queue: 'north', room: 1 },
      { queue: 'south', room: null },
    ]
    const leases = await t.claim({ slots: 2, queues, models: [{ model, version: '1', room: null }] })
    expect(ids(leases).toSorted()).toEqual(ids([first, other]).toSorted())
  })

  it('takes only the models and versions that are offered', async () => {
    const model = ownModel()
    const [run] = [await t.add({ model, modelVersion: '2' }), await t.add({ model, modelVersion: '1' })]
    await t.add({ model: ownModel() })
    expect(await drain({ models: [offer(model, 1, '2')] })).toEqual([run!.id])
    expect(await t.claim({ models: [] })).toEqual([])
    expect(await t.claim({ queues: [] })).toEqual([])
    expect(await t.claim({ slots: 0, models: [offer(model)] })).toEqual([])
  })

  it('leaves a paused queue alone until it is resumed', async () => {
    const run = await t.add({ model: ownModel(), queue: 'paused-one' })
    const request = { queues: [{ queue: 'paused-one', room: 1 }], models: [offer(run.model)] }
    await t.store.setQueuePaused('paused-one', true)
    expect(await t.claim(request)).toEqual([])
    await t.store.setQueuePaused('paused-one', false)
    expect(ids(await t.claim(request))).toEqual([run.id])
  })

  it('waits for available_at', async () => {
    const run = await t.add({ model: ownModel(), availableAt: new Date(Date.now() + 3_600_000).toISOString() })
    const now = await t.add({ model: run.model })
    expect(await drain({ models: [offer(run.model)] })).toEqual([now.id])
    await t.database.shiftClock('61 minutes')
    try {
      expect(await drain({ models: [offer(run.model)] })).toEqual([run.id])
    } finally {
      await t.database.shiftClock('0')
    }
  })

  it('R374, R382: of two workers at once on one run only one gets it, and lease_owner shows which', async () => {
    for (let round = 0; round < 20; round += 1) {
      const run = await t.add({ model: ownModel() })
      const claims = await Promise.all(
        ['worker-a', 'worker-b'].map((workerId) => t.claim({ workerId, models: [offer(run.model)] })),
      )
      expect(claims.flat()).toHaveLength(1)
      const winner = claims[0]!.length === 1 ? 'worker-a' : 'worker-b'
      const now = (await t.store.readRun(run.id))!.run
      expect(now).toMatchObject({ status: 'RUNNING', leaseOwner: winner, attemptCount: 1, leaseEpoch: 1 })
    }
  })

  it('R374: while a lease is valid nobody else gets the run', async () => {
    const lease = await t.running()
    expect(await t.claim({ workerId: 'worker-2', models: [offer(lease.model)] })).toEqual([])
  })

  it('two claimers at once over 1,000 runs leave none behind and take none twice', async () => {
    const model = ownModel()
    const runs = Array.from({ length: 1_000 }, (_, no) => newRun({ model, priority: no % 3 }))
    await t.store.submitMany(runs)
    const claimers = ['worker-a', 'worker-b'].map(async (workerId) => {
      const claim = createClaim({ pool: t.database.pool })
      const taken: string[] = []
      const queues = [{ queue: 'default', room: 37 }]
      for (let empty = 0; empty < 2; ) {
        const leases = await claim({ workerId, leaseMs: 60_000, slots: 37, queues, models: [offer(model, 37)] })
        taken.push(...ids(leases))
        if (leases.length === 0) empty += 1
      }
      return taken
    })
    const taken = (await Promise.all(claimers)).flat()
    expect(taken.toSorted()).toEqual(ids(runs.map(({ id }) => ({ runId: id }))).toSorted())
  })

  it('writes the lease, the attempt and the event', async () => {
    const lease = await t.running({ executor: 'process', maxAttempts: 5, timeoutSeconds: 120 })
    expect(lease).toMatchObject({ epoch: 1, attempt: 1, executor: 'process', maxAttempts: 5, releaseCount: 0 })
    const [row] = await t.database.query(
      `SELECT status, lease_owner, lease_epoch, attempt_count, event_seq, started_at = heartbeat_at AS started_now,
         lease_expires_at - heartbeat_at = interval '60 seconds' AS lease_right,
         deadline_at - heartbeat_at = interval '120 seconds' AS deadline_right
       FROM model_runs WHERE id = $1`,
      [lease.runId],
    )
    expect(row).toEqual({
      status: 'RUNNING',
      lease_owner: WORKER,
      lease_epoch: 1,
      attempt_count: 1,
      event_seq: 2,
      started_now: true,
      lease_right: true,
      deadline_right: true,
    })
    const attempts = await t.database.query(
      `SELECT attempt, state, executor, worker_id, lease_epoch, started_at IS NOT NULL AS started FROM run_attempts
       WHERE run_id = $1`,
      [lease.runId],
    )
    expect(attempts).toEqual([
      { attempt: 1, state: 'RUNNING', executor: 'process', worker_id: WORKER, lease_epoch: 1, started: true },
    ])
    const events = await t.database.query(
      'SELECT seq, type, status, attempt, worker_id FROM run_events WHERE run_id = $1 ORDER BY seq',
      [lease.runId],
    )
    expect(events).toEqual([
      { seq: 1, type: 'created', status: 'PENDING', attempt: null, worker_id: null },
      { seq: 2, type: 'started', status: 'RUNNING', attempt: 1, worker_id: WORKER },
    ])
  })

  it('the second attempt keeps the first start and gets the next number and epoch', async () => {
    const first = await t.running()
    await settle(t, first, 'retry')
    const [second] = await t.claim({ models: [offer(first.model)] })
    expect(second).toMatchObject({ runId: first.runId, epoch: 2, attempt: 2, queuedSeconds: first.queuedSeconds })
    expect(second!.startedSeconds).toBeGreaterThan(first.startedSeconds)
  })

  it('a released run is found although it lies behind the place where the last claim ended', async () => {
    const model = ownModel()
    const [early, late] = [await t.add({ model }), await t.add({ model })]
    const claim = createClaim({ pool: t.database.pool, lookBackMs: 0 })
    const request = { workerId: WORKER, leaseMs: 60_000, slots: 2, queues: [{ queue: 'default', room: 2 }] }
    const leases = await claim({ ...request, models: [offer(model)] })
    expect(ids(leases)).toEqual([early.id, late.id])
    await settle(t, leases[0]!, 'release')
    const again = await until(async () => (await claim({ ...request, models: [offer(model)] }))[0], {
      what: 'the next look back',
    })
    expect(again.runId).toBe(early.id)
  })

  it('a run that was committed late, behind the place where the last claim ended, is found by the look back', async () => {
    const model = ownModel()
    const anchor = await t.add({ model })
    const slow = await t.database.pool.connect()
    try {
      await slow.query('BEGIN')
      const late = newRun({ model })
      await slow.query(
        `INSERT INTO model_runs (id, owner, model, model_version, queue, priority, lane, executor, parameters, payload_hash,
           seed, created_at, available_at, timeout_seconds, max_attempts)
         SELECT $1, owner, model, model_version, queue, priority, lane, executor, parameters, payload_hash, seed,
           created_at, available_at, timeout_seconds, max_attempts FROM model_runs WHERE id = $2`,
        [late.id, anchor.id],
      )
      await t.add({ model })
      const request = { workerId: WORKER, leaseMs: 1, slots: 5, queues: [{ queue: 'default', room: 5 }] }
      const never = createClaim({ pool: t.database.pool, lookBackMs: 3_600_000 })
      expect(await never({ ...request, models: [offer(model)] })).toHaveLength(2)
      await slow.query('COMMIT')
      expect(await never({ ...request, models: [offer(model)] })).toEqual([])
      const always = createClaim({ pool: t.database.pool, lookBackMs: 0 })
      expect(ids(await always({ ...request, models: [offer(model)] }))).toEqual([late.id])
    } finally {
      slow.release()
    }
  })

  it('a run reclaimed once comes back for a child process, another executor stays as it is', async () => {
    const inline = await t.running({ executor: 'inline' }, WORKER, 1)
    const command = await t.running({ executor: 'command' }, WORKER, 1)
    await t.database.shiftClock('1 second')
    await t.store.reclaimExpired({ workerId: WORKER, limit: 100 })
    await t.database.shiftClock('2 seconds')
    try {
      const leases = await t.claim({ slots: 2, models: [offer(inline.model), offer(command.model)] })
      const executors = Object.fromEntries(leases.map((lease) => [lease.runId, lease.executor]))
      expect(executors).toEqual({ [inline.runId]: 'process', [command.runId]: 'command' })
      expect(leases.map(({ attempt, reclaimCount }) => [attempt, reclaimCount])).toEqual([
        [2, 1],
        [2, 1],
      ])
    } finally {
      await t.database.shiftClock('0')
    }
  })

  describe('runs whose rows are damaged', () => {
    /** The event that a claim would write is there already. */
    async function damaged(model: string): Promise<Run> {
      const run = await t.add({ model })
      await t.database.query(`INSERT INTO run_events (run_id, seq, type, at) VALUES ($1, 2, 'by hand', clock())`, [
        run.id,
      ])
      return run
    }

    it.each([1, 3])('%i of them, with room for two, do not keep the others from being claimed', async (count) => {
      const model = ownModel()
      for (let no = 0; no < count; no += 1) await damaged(model)
      const healthy = [await t.add({ model }), await t.add({ model })]
      const claim = createClaim({ pool: t.database.pool, lookBackMs: 100 })
      const queues = [{ queue: 'default', room: 2 }]
      const request = { workerId: WORKER, leaseMs: 60_000, slots: 2, queues, models: [offer(model)] }
      const taken: Lease[] = []
      // A statement that failed may hold its rows a moment longer, so it is not said which look finds which run.
      await until(async () => taken.push(...(await claim(request).catch(() => []))) === 2, { what: 'both are claimed' })
      expect(ids(taken).toSorted()).toEqual(ids(healthy).toSorted())
    })

    it('are told when there is nothing else to claim', async () => {
      const { model } = await damaged(ownModel())
      const claim = createClaim({ pool: t.database.pool, lookBackMs: 0 })
      const request = { workerId: WORKER, leaseMs: 60_000, slots: 2, queues: [{ queue: 'default', room: 2 }] }
      const told = await until(
        () =>
          claim({ ...request, models: [offer(model)] }).then(
            () => null,
            (error: Error) => error,
          ),
        { what: 'a claim tells of the damage' },
      )
      expect(told.message).toContain('run_events_pkey')
    })
  })
})
