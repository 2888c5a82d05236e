/** The checker finds each kind of damage, planted by hand, and nothing in a history that the store wrote. */

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openStore } from '../../src/store/open-store.ts'
import type { NewRun, Store } from '../../src/store/store.ts'
import { createTestDatabase, type TestDatabase } from './database.ts'
import { checkHistory, checkRun, type Recorded } from './history.ts'

const event = (
  seq: number,
  type: string,
  status: Recorded['status'],
  attempt: number | null,
  worker: string | null,
) => ({
  seq,
  type,
  status,
  attempt,
  worker,
  epoch: null,
})

/** The first attempt was lost, the second succeeded, then the first one reported. */
function finished(): Recorded {
  return {
    ...{ id: 'r', status: 'SUCCEEDED', owner: 'o', eventSeq: 6, available: true, leased: false, hasLane: true },
    ...{ attemptCount: 2, releaseCount: 0, reclaimCount: 1, maxAttempts: 3, cancelRequested: false },
    ...{ leaseEpoch: 2, leaseOwner: null, resultRef: 'inline', resultAttempt: 2 },
    attempts: [
      { attempt: 1, state: 'LOST', worker: 'w1', epoch: 1, resultRef: null },
      { attempt: 2, state: 'SUCCEEDED', worker: 'w2', epoch: 2, resultRef: 'inline' },
    ],
    events: [
      event(1, 'created', 'PENDING', null, null),
      event(2, 'started', 'RUNNING', 1, 'w1'),
      event(3, 'reclaimed', 'PENDING', 1, 'w1'),
      event(4, 'started', 'RUNNING', 2, 'w2'),
      event(5, 'succeeded', 'SUCCEEDED', 2, 'w2'),
      { ...event(6, 'late_result_discarded', 'SUCCEEDED', 1, 'w1'), epoch: 1 },
    ],
  }
}

function waiting(): Recorded {
  const run = finished()
  return {
    ...run,
    ...{ status: 'PENDING', eventSeq: 3, attemptCount: 1, leaseEpoch: 1, resultRef: null, resultAttempt: null },
    attempts: run.attempts.slice(0, 1),
    events: run.events.slice(0, 3),
  }
}

function running(): Recorded {
  const run = finished()
  return {
    ...run,
    ...{ status: 'RUNNING', eventSeq: 4, leased: true, leaseOwner: 'w2', resultRef: null, resultAttempt: null },
    attempts: [run.attempts[0]!, { ...run.attempts[1]!, state: 'RUNNING', resultRef: null }],
    events: run.events.slice(0, 4),
  }
}

const damages: [string, string, () => Recorded, (run: Recorded) => void][] = [
  ['I3', 'a second end', finished, (run) => run.events.push(event(7, 'failed', 'FAILED', 2, 'w2'))],
  ['I3', 'a finished run that runs again', finished, (run) => run.events.push(event(7, 'started', 'RUNNING', 3, 'w1'))],
  ['I3', 'a status that no event led to', finished, (run) => Object.assign(run, { status: 'FAILED' })],
  [
    'I3',
    'a status in an event that cannot follow',
    finished,
    (run) => Object.assign(run.events[2]!, { status: 'FAILED' }),
  ],
  ['I4', 'a missing attempt', finished, (run) => run.attempts.shift()],
  ['I4', 'an open attempt of a waiting run', waiting, (run) => Object.assign(run.attempts[0]!, { state: 'RUNNING' })],
  ['I4', 'an epoch that does not rise', finished, (run) => Object.assign(run.attempts[0]!, { epoch: 2 })],
  ['I4', 'a lease of somebody else', running, (run) => Object.assign(run, { leaseOwner: 'w1' })],
  ['I4', 'two attempts at once', running, (run) => Object.assign(run.attempts[0]!, { state: 'RUNNING' })],
  ['I5', 'a success of a lost lease', finished, (run) => Object.assign(run.events[4]!, { attempt: 1, worker: 'w1' })],
  ['I5', 'a stored result of a lost attempt', finished, (run) => Object.assign(run, { resultAttempt: 1 })],
  ['I5', 'a result of a run that did not succeed', waiting, (run) => Object.assign(run, { resultAttempt: 1 })],
  ['I5', 'a result on a lost attempt', finished, (run) => Object.assign(run.attempts[0]!, { resultRef: 'inline' })],
  [
    'I5',
    "the holder's result discarded",
    running,
    (run) => {
      run.events.push({ ...event(5, 'late_result_discarded', 'RUNNING', 2, 'w2'), epoch: 2 })
    },
  ],
  ['I9', 'a gap', finished, (run) => run.events.splice(3, 1)],
  ['I9', 'an event number that was not used', finished, (run) => Object.assign(run, { eventSeq: 7 })],
  ['I10', 'a lease without end', running, (run) => Object.assign(run, { leased: false })],
  ['I10', 'a run that never becomes available', waiting, (run) => Object.assign(run, { available: false })],
  ['I10', 'a run in no lane', waiting, (run) => Object.assign(run, { hasLane: false })],
  ['I10', 'a cancelled run that waits', waiting, (run) => Object.assign(run, { cancelRequested: true })],
  ['I10', 'a run that waits without attempts left', waiting, (run) => Object.assign(run, { maxAttempts: 1 })],
  ['I11', 'more attempts than allowed', finished, (run) => Object.assign(run, { maxAttempts: 1 })],
  ['I11', 'a loss counted as a release', finished, (run) => Object.assign(run, { releaseCount: 1, reclaimCount: 0 })],
]

describe('in the record of one run', () => {
  test.each([finished, waiting, running])('%o is in order', (make) => {
    expect(checkRun(make())).toEqual([])
  })

  test.each(damages)('%s finds %s', (invariant, _what, make, damage) => {
    const run = make()
    damage(run)
    expect(checkRun(run).join('\n')).toMatch(new RegExp(`^${invariant} run r: `, 'm'))
  })
})

describe('in a database', () => {
  let database: TestDatabase
  let store: Store

  beforeAll(async () => {
    database = await createTestDatabase()
    store = openStore({ url: database.url })
  })
  afterAll(async () => {
    await store.close()
    await database.drop()
  })

  let made = 0
  async function submit(key: string | null = null): Promise<string> {
    made += 1
    const id = `00000000-0000-7000-8000-${String(made).padStart(12, '0')}`
    const run: NewRun = {
      ...{ id, owner: 'o', model: 'm', modelVersion: '1', queue: 'q', priority: 0, executor: 'inline', seed: 1 },
      ...{ parameters: {}, parametersText: '{}', payloadHash: 'a'.repeat(64), maxAttempts: 3, timeoutSeconds: 60 },
      ...{ expectedSeconds: null, availableAt: null, slot: null, title: null, tags: [], batchId: null, retryOf: null },
      ...{ traceParent: null, key: key === null ? null : { key, ttlSeconds: 60 } },
    }
    await store.submit(run)
    return id
  }

  const violations = async (accepted?: { runId: string; owner?: string; key?: string }[]) =>
    (await checkHistory(database.pool, { accepted })).violations

  test('what the store wrote is in order', async () => {
    await submit()
    await submit()
    await store.cancel(await submit())
    const request = { workerId: 'w', leaseMs: 1_000, slots: 2, queues: [{ queue: 'q', room: 9 }] }
    const leases = await store.claim({ ...request, models: [{ model: 'm', version: '1', room: 9 }] })
    expect(leases).toHaveLength(2)
    const [first, second] = leases.map(({ runId, epoch, attempt }) => ({ runId, epoch, attempt, workerId: 'w' }))
    await store.settle({ ...first!, kind: 'succeed', result: { ref: 'inline', hash: 'b'.repeat(64), text: '{}' } })
    await store.settle({ ...first!, kind: 'fail' })
    await store.settle({ ...second!, kind: 'release' })
    expect(await violations()).toEqual([])
  })

  test('I1 finds an accepted run that is gone, and what is left of one', async () => {
    const gone = 'ffffffff-0000-7000-8000-000000000000'
    await database.query(`INSERT INTO holdfast.run_events (run_id, seq, type, at) VALUES ($1, 1, 'created', now())`, [
      gone,
    ])
    expect(await violations([{ runId: gone }])).toEqual([
      `I1 run ${gone}: an event is left of a run that is gone`,
      `I1 run ${gone}: it was accepted and is gone`,
    ])
  })

  test('I2 finds a key that led to two runs, and a key of another payload', async () => {
    const [one, two] = [await submit('k1'), await submit('k2')]
    await database.query(`UPDATE holdfast.idempotency_keys SET payload_hash = 'x' WHERE key = 'k2'`)
    const found = await violations([
      { runId: one, owner: 'o', key: 'k1' },
      { runId: two, owner: 'o', key: 'k1' },
    ])
    expect(found).toContain(`I2 run ${two}: key k2 is of another owner or payload`)
    expect(found).toContain(`I2 run ${two}: key k1 of o had led to run ${one}`)
  })
})
