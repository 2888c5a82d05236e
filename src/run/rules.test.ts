/** The rules of one run: single steps, then random histories against the invariants. */

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  adopt,
  beat,
  type Change,
  claim,
  handOver,
  letGo,
  noteLateResult,
  type Run,
  reclaim,
  requestCancel,
  type SettleKind,
  settle,
  showLife,
  submitted,
} from './rules.ts'
import { isTerminal } from './status.ts'
import { mayAttemptBecome } from './transition.ts'

const leaseMs = 60
const fresh = (maxAttempts = 3) => submitted({ nowMs: 0, maxAttempts })
const claimed = (nowMs = 0, run = fresh()) => taken(claim(run, { worker: 'w1', nowMs, leaseMs }))

function taken(change: Change): Run {
  if (!change.ok) throw new Error(change.why)
  return change.run
}

function why(change: Change): string {
  return change.ok ? 'accepted' : change.why
}

describe('claim', () => {
  test('gives a lease with a new epoch and a new attempt', () => {
    expect(claimed(5)).toEqual({
      ...fresh(),
      status: 'RUNNING',
      attemptCount: 1,
      leaseEpoch: 1,
      leaseOwner: 'w1',
      leaseExpiresAtMs: 65,
      eventSeq: 2,
      attempts: ['RUNNING'],
    })
  })

  test('R374: the first worker gets the lease, the second is refused while it is valid', () => {
    expect(why(claim(claimed(), { worker: 'w2', nowMs: 10, leaseMs }))).toBe('a RUNNING run is leased already')
  })

  test('waits for the time the run is available', () => {
    const run = submitted({ nowMs: 0, maxAttempts: 1, availableAtMs: 100 })
    expect(why(claim(run, { worker: 'w1', nowMs: 99, leaseMs }))).toBe('the run is not available yet')
    expect(claim(run, { worker: 'w1', nowMs: 100, leaseMs }).ok).toBe(true)
  })
})

describe('beat', () => {
  test('extends the lease without an event, and never shortens it', () => {
    const later = taken(beat(claimed(), { worker: 'w1', epoch: 1, nowMs: 20, leaseMs }))
    expect(later).toEqual({ ...claimed(), leaseExpiresAtMs: 80 })
    expect(taken(beat(later, { worker: 'w1', epoch: 1, nowMs: 0, leaseMs })).leaseExpiresAtMs).toBe(80)
  })

  test('of an expired lease that nobody took back is accepted', () => {
    expect(taken(beat(claimed(), { worker: 'w1', epoch: 1, nowMs: 500, leaseMs })).leaseExpiresAtMs).toBe(560)
  })

  test.each([
    ['another epoch', { worker: 'w1', epoch: 2 }, 'lease epoch 2 is over, the run is at 1'],
    ['another worker', { worker: 'w2', epoch: 1 }, 'the lease belongs to w1'],
  ])('with %s is refused', (_what, who, reason) => {
    expect(why(beat(claimed(), { ...who, nowMs: 0, leaseMs }))).toBe(reason)
  })
})

describe('settle', () => {
  const at = (kind: SettleKind, more = {}) => settle(claimed(), { epoch: 1, kind, nowMs: 10, ...more })
  const ended = { leaseOwner: null, leaseExpiresAtMs: null, eventSeq: 3 }

  test.each([
    ['succeed', { resultHash: 'h' }, { status: 'SUCCEEDED', attempts: ['SUCCEEDED'], resultHash: 'h' }],
    ['fail', {}, { status: 'FAILED', attempts: ['FAILED'] }],
    ['retry', { delayMs: 5 }, { status: 'PENDING', attempts: ['FAILED'], availableAtMs: 15 }],
    ['cancel', {}, { status: 'CANCELLED', attempts: ['CANCELLED'] }],
    ['release', {}, { status: 'PENDING', attempts: ['RELEASED'], releaseCount: 1, availableAtMs: 0 }],
  ] as const)('%s ends the attempt and the lease', (kind, more, change) => {
    expect(taken(at(kind, more))).toEqual({ ...claimed(), ...ended, ...change })
  })

  test.each(['retry', 'release'] as const)('%s of a run being cancelled ends it CANCELLED', (kind) => {
    const asked = taken(requestCancel(claimed(), { nowMs: 1 }))
    const run = taken(settle(asked, { epoch: 1, kind, nowMs: 10, delayMs: 5 }))
    expect(run).toMatchObject({ status: 'CANCELLED', availableAtMs: 0, cancelRequested: true })
  })

  test('after the lease expired but before anyone took the run back is accepted', () => {
    expect(settle(claimed(), { epoch: 1, kind: 'succeed', nowMs: 10_000, resultHash: 'h' }).ok).toBe(true)
  })

  test('of a lease that was taken back is stale, also when the same worker has the run again', () => {
    const back = taken(reclaim(claimed(), { nowMs: 61 }))
    expect(why(settle(back, { epoch: 1, kind: 'succeed', nowMs: 62 }))).toBe('the run is PENDING')
    const again = claimed(62, back)
    expect(why(settle(again, { epoch: 1, kind: 'succeed', nowMs: 63 }))).toBe('lease epoch 1 is over, the run is at 2')
  })

  test('a second time is stale, and the note of it is one event', () => {
    const done = taken(at('succeed', { resultHash: 'h' }))
    expect(why(settle(done, { epoch: 1, kind: 'fail', nowMs: 11 }))).toBe('the run is SUCCEEDED')
    expect(noteLateResult(done)).toEqual({ ...done, eventSeq: done.eventSeq + 1 })
  })
})

describe('work that an engine has', () => {
  const submittedTo = () =>
    taken(handOver(taken(claim(fresh(), { worker: 'w1', nowMs: 0, leaseMs, engine: true })), { epoch: 1 }))

  test('its attempt is SUBMITTED until the first sign of life, and later signs change nothing', () => {
    expect(submittedTo().attempts).toEqual(['SUBMITTED'])
    const alive = taken(showLife(submittedTo(), { epoch: 1 }))
    expect(alive.attempts).toEqual(['RUNNING'])
    expect(taken(showLife(alive, { epoch: 1 }))).toBe(alive)
    expect(why(showLife(alive, { epoch: 2 }))).toContain('epoch 2 is over')
  })

  test('an expired lease of it changes hands with a new epoch and the same attempt', () => {
    expect(why(adopt(submittedTo(), { worker: 'w2', nowMs: 60, leaseMs }))).toBe('the lease is still valid')
    expect(taken(adopt(submittedTo(), { worker: 'w2', nowMs: 61, leaseMs }))).toMatchObject({
      leaseOwner: 'w2',
      leaseEpoch: 2,
      leaseExpiresAtMs: 121,
      attemptCount: 1,
      attempts: ['SUBMITTED'],
    })
  })

  test('no other work is adopted or let go of', () => {
    expect(why(adopt(claimed(), { worker: 'w2', nowMs: 61, leaseMs }))).toBe('no engine has the attempt')
    expect(why(letGo(claimed(), { epoch: 1, nowMs: 5 }))).toBe('no engine has the attempt')
  })

  test('let go of, it can be adopted at once', () => {
    const left = taken(letGo(submittedTo(), { epoch: 1, nowMs: 5 }))
    expect(taken(adopt(left, { worker: 'w2', nowMs: 6, leaseMs })).leaseEpoch).toBe(2)
  })

  test('it is reclaimed only when nobody adopted it for a while', () => {
    expect(why(reclaim(submittedTo(), { nowMs: 90, adoptMs: 30 }))).toBe('the lease is still valid')
    expect(taken(reclaim(submittedTo(), { nowMs: 91, adoptMs: 30 })).attempts).toEqual(['LOST'])
  })

  test('a lost job counts and puts the run at the back of its queue', () => {
    const lost = taken(settle(submittedTo(), { epoch: 1, kind: 'lost', nowMs: 7 }))
    expect(lost).toMatchObject({ status: 'PENDING', availableAtMs: 7, attempts: ['LOST'], releaseCount: 0 })
  })
})

describe('reclaim', () => {
  test('takes only expired leases', () => {
    expect(why(reclaim(claimed(), { nowMs: 60 }))).toBe('the lease is still valid')
    expect(why(reclaim(fresh(), { nowMs: 61 }))).toContain('PENDING')
  })

  test('loses the attempt and puts the run at the back of the queue', () => {
    expect(taken(reclaim(claimed(), { nowMs: 61 }))).toMatchObject({
      status: 'PENDING',
      attempts: ['LOST'],
      availableAtMs: 61,
      eventSeq: 3,
    })
  })

  test('fails the run when its attempts are used up, of which released ones do not count', () => {
    const released = taken(settle(claimed(0, fresh(1)), { epoch: 1, kind: 'release', nowMs: 1 }))
    const lost = taken(reclaim(claimed(1, released), { nowMs: 100 }))
    expect(lost).toMatchObject({ status: 'FAILED', attempts: ['RELEASED', 'LOST'], attemptCount: 2, releaseCount: 1 })
  })

  test('ends a run being cancelled CANCELLED, also when its attempts are used up', () => {
    const asked = taken(requestCancel(claimed(0, fresh(1)), { nowMs: 1 }))
    expect(taken(reclaim(asked, { nowMs: 61 }))).toMatchObject({ status: 'CANCELLED', attempts: ['LOST'] })
  })
})

describe('requestCancel', () => {
  test('ends a PENDING run at once', () => {
    expect(taken(requestCancel(fresh(), { nowMs: 1 }))).toMatchObject({
      status: 'CANCELLED',
      cancelRequested: true,
      eventSeq: 2,
      attempts: [],
    })
  })

  test('asks a RUNNING run to stop, and asking again changes nothing', () => {
    const asked = taken(requestCancel(claimed(), { nowMs: 1 }))
    expect(asked).toEqual({ ...claimed(), cancelRequested: true, eventSeq: 3 })
    expect(taken(requestCancel(asked, { nowMs: 2 }))).toEqual(asked)
  })

  test('comes too late for a finished run', () => {
    const done = taken(settle(claimed(), { epoch: 1, kind: 'succeed', nowMs: 1 }))
    expect(why(requestCancel(done, { nowMs: 2 }))).toBe('a SUCCEEDED run is final')
  })
})

type Step = (run: Run, nowMs: number) => Change

const worker = fc.constantFrom('w1', 'w2')
const epoch = fc.nat(4)
const steps: fc.Arbitrary<Step> = fc.oneof(
  worker.map(
    (name): Step =>
      (run, nowMs) =>
        claim(run, { worker: name, nowMs, leaseMs }),
  ),
  fc.tuple(worker, epoch).map(
    ([name, at]): Step =>
      (run, nowMs) =>
        beat(run, { worker: name, epoch: at, nowMs, leaseMs }),
  ),
  fc.tuple(epoch, fc.constantFrom<SettleKind>('succeed', 'fail', 'retry', 'cancel', 'release', 'lost'), fc.nat(90)).map(
    ([at, kind, delayMs]): Step =>
      (run, nowMs) =>
        settle(run, { epoch: at, kind, nowMs, delayMs, resultHash: 'h' }),
  ),
  fc.constant<Step>((run, nowMs) => reclaim(run, { nowMs })),
  epoch.map(
    (at): Step =>
      (run) =>
        handOver(run, { epoch: at }),
  ),
  epoch.map(
    (at): Step =>
      (run) =>
        showLife(run, { epoch: at }),
  ),
  epoch.map(
    (at): Step =>
      (run, nowMs) =>
        letGo(run, { epoch: at, nowMs }),
  ),
  worker.map(
    (name): Step =>
      (run, nowMs) =>
        adopt(run, { worker: name, nowMs, leaseMs }),
  ),
  fc.constant<Step>((run, nowMs) => requestCancel(run, { nowMs })),
)

function expectSound(before: Run, after: Run): void {
  expect(isTerminal(before.status)).toBe(false)
  expect(after.status === 'RUNNING').toBe(after.leaseOwner !== null && after.leaseExpiresAtMs !== null)
  expect(after.attempts).toHaveLength(after.attemptCount)
  expect(after.attempts.filter((state) => state === 'RUNNING')).toHaveLength(after.status === 'RUNNING' ? 1 : 0)
  expect(after.attempts.filter((state) => state === 'RELEASED')).toHaveLength(after.releaseCount)
  expect(after.attempts.filter((state) => state === 'SUCCEEDED')).toHaveLength(after.status === 'SUCCEEDED' ? 1 : 0)
  expect(after.resultHash !== null).toBe(after.status === 'SUCCEEDED')
  expect(after.status === 'PENDING' && after.cancelRequested).toBe(false)
  expect(after.eventSeq - before.eventSeq).toBeLessThanOrEqual(1)
  expect(after.leaseEpoch).toBeGreaterThanOrEqual(before.leaseEpoch)
  before.attempts.forEach((state, index) => {
    const now = after.attempts[index] as typeof state
    expect(now === state || mayAttemptBecome(state, now)).toBe(true)
  })
}

test('R378 property: whatever happens in whatever order, the invariants hold', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(steps, fc.nat(70)), { maxLength: 50 }), (history) => {
      let run = fresh(2)
      let nowMs = 0
      for (const [step, passedMs] of history) {
        nowMs += passedMs
        const change = step(run, nowMs)
        if (!change.ok) continue
        expectSound(run, change.run)
        run = change.run
      }
    }),
    { numRuns: 500 },
  )
})
