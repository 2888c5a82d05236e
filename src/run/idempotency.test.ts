/** What a taken name means, as a table and as the rules behind it. */

import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { judgeName, type TakenName, type WantedName } from './idempotency.ts'
import { isTerminal, RUN_STATUSES } from './status.ts'

const wanted: WantedName = { kind: 'key', runId: 'new', payloadHash: 'a', dedupe: 'active' }
const taken: TakenName = { runId: 'old', payloadHash: 'a', expired: false, status: 'RUNNING' }

describe('a key', () => {
  it.each([
    [false, 'RUNNING', 'a', 'hit'],
    [false, 'RUNNING', 'b', 'conflict'],
    [false, 'FAILED', 'a', 'hit'],
    [false, 'CANCELLED', 'b', 'conflict'],
    [true, 'PENDING', 'a', 'hit'],
    [true, 'RUNNING', 'b', 'conflict'],
    [true, 'SUCCEEDED', 'a', 'free'],
    [true, 'FAILED', 'b', 'free'],
  ] as const)('expired %s, run %s, payload %s: %s', (expired, status, payloadHash, verdict) => {
    expect(judgeName({ ...wanted, payloadHash }, { ...taken, expired, status })).toBe(verdict)
  })
})

describe('a slot', () => {
  it.each([
    ['active', false, 'PENDING', 'hit'],
    ['active', false, 'RUNNING', 'hit'],
    ['active', false, 'SUCCEEDED', 'free'],
    ['active', true, 'RUNNING', 'free'],
    ['succeeded', false, 'SUCCEEDED', 'hit'],
    ['succeeded', true, 'SUCCEEDED', 'free'],
    ['succeeded', false, 'FAILED', 'free'],
    ['succeeded', false, 'CANCELLED', 'free'],
  ] as const)('dedupe %s, expired %s, run %s: %s', (dedupe, expired, status, verdict) => {
    expect(judgeName({ ...wanted, kind: 'slot', dedupe }, { ...taken, expired, status })).toBe(verdict)
  })
})

describe('the name of a retried run', () => {
  it.each([
    [false, 'PENDING', 'hit'],
    [false, 'RUNNING', 'hit'],
    [true, 'RUNNING', 'hit'],
    [false, 'SUCCEEDED', 'free'],
    [false, 'FAILED', 'free'],
    [true, 'CANCELLED', 'free'],
  ] as const)('expired %s, retry %s: %s', (expired, status, verdict) => {
    const request = { ...wanted, kind: 'retry', payloadHash: 'b' } as const
    expect(judgeName(request, { ...taken, expired, status })).toBe(verdict)
  })
})

const hash = fc.constantFrom('a', 'b')
const anyWanted = fc.record<WantedName>({
  kind: fc.constantFrom('key', 'slot', 'retry'),
  runId: fc.constantFrom('one', 'two'),
  payloadHash: hash,
  dedupe: fc.constantFrom('active', 'succeeded'),
})
const anyTaken = fc.record<TakenName>({
  runId: fc.constantFrom('one', 'two'),
  payloadHash: hash,
  expired: fc.boolean(),
  status: fc.constantFrom(...RUN_STATUSES),
})

test('property: a request finds its own run again, whatever became of it', () => {
  fc.assert(
    fc.property(anyWanted, anyTaken, (request, name) => {
      expect(judgeName(request, name) === 'mine').toBe(request.runId === name.runId)
    }),
  )
})

test('property: nobody is ever given a FAILED or CANCELLED run by a slot', () => {
  fc.assert(
    fc.property(anyWanted, anyTaken, (request, name) => {
      fc.pre(request.kind === 'slot' && (name.status === 'FAILED' || name.status === 'CANCELLED'))
      expect(judgeName(request, name)).not.toBe('hit')
    }),
  )
})

test('property: the key of a run that is not finished is never free', () => {
  fc.assert(
    fc.property(anyWanted, anyTaken, (request, name) => {
      fc.pre(request.kind === 'key' && !isTerminal(name.status))
      expect(judgeName(request, name)).not.toBe('free')
    }),
  )
})

test('property: only keys conflict, and only over another payload', () => {
  fc.assert(
    fc.property(anyWanted, anyTaken, (request, name) => {
      fc.pre(judgeName(request, name) === 'conflict')
      expect([request.kind, request.payloadHash === name.payloadHash]).toEqual(['key', false])
    }),
  )
})
