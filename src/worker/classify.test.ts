/** What an outcome means for the run, for every reason the work may have been asked to stop. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fakeLease } from '../../test/support/fake-lease.ts'
import type { AbortReason, AttemptError, Outcome } from '../executor/executor.ts'
import { DEFAULT_RETRY_POLICY } from '../run/retry.ts'
import { classify } from './classify.ts'

const policy = () => ({ ...DEFAULT_RETRY_POLICY, delaysSeconds: [5, 20], jitter: 0 })
const ASKED: (AbortReason | null)[] = [null, 'cancelled', 'shutdown', 'timeout', 'lease-lost']

const broke: AttemptError = { class: 'Error', message: 'it broke', stack: null }
const fatal: AttemptError = { class: 'Fatal', message: 'never again', stack: null, retryable: false }
const later: AttemptError = { class: 'RetryAfter', message: 'later', stack: null, retryAfterSeconds: 42 }

const succeeded: Outcome = { status: 'succeeded', resultText: '{}' }
const failed = (error: AttemptError): Outcome => ({ status: 'failed', error })
const cancelled: Outcome = { status: 'cancelled' }
const unreachable: Outcome = { status: 'unreachable', reason: 'the cluster does not answer' }

function kindOf(outcome: Outcome, asked: AbortReason | null, lease = fakeLease()): string {
  return classify(outcome, { lease, policy, asked, random: 0 }).kind
}

describe.each([
  //                                          nobody asked, cancelled,   shutdown,   timeout,    lease-lost
  ['a success', succeeded, ['succeed', 'succeed', 'succeed', 'succeed', 'nothing']],
  ['a failure', failed(broke), ['retry', 'cancel', 'release', 'retry', 'nothing']],
  ['a fatal failure', failed(fatal), ['fail', 'fail', 'fail', 'fail', 'nothing']],
  ['work that stopped when told', cancelled, ['release', 'cancel', 'release', 'release', 'nothing']],
  ['work out of reach', unreachable, ['nothing', 'nothing', 'nothing', 'nothing', 'nothing']],
] as const)('%s', (_, outcome, kinds) => {
  it.each(ASKED.map((asked, index) => [asked ?? 'nobody', kinds[index]!, asked] as const))(
    'asked by %s ends in: %s',
    (_name, kind, asked) => {
      expect(kindOf(outcome, asked)).toBe(kind)
    },
  )
})

it('a retry waits as the policy says, and as long as the code asked for when it asked', () => {
  const delayOf = (error: AttemptError, attempt: number) =>
    classify(failed(error), { lease: fakeLease({ attempt }), policy, asked: null, random: 0 })
  expect(delayOf(broke, 1)).toMatchObject({ kind: 'retry', delaySeconds: 5, error: broke })
  expect(delayOf(broke, 2)).toMatchObject({ kind: 'retry', delaySeconds: 20 })
  expect(delayOf(later, 1)).toMatchObject({ kind: 'retry', delaySeconds: 42 })
})

it('the last counted attempt fails the run; released ones are not counted', () => {
  expect(kindOf(failed(broke), null, fakeLease({ attempt: 3 }))).toBe('fail')
  expect(kindOf(failed(broke), null, fakeLease({ attempt: 3, releaseCount: 1 }))).toBe('retry')
})

it('what an attempt failed with stays with it when it is cancelled or released', () => {
  for (const asked of ['cancelled', 'shutdown'] as const) {
    expect(classify(failed(broke), { lease: fakeLease(), policy, asked, random: 0 })).toMatchObject({ error: broke })
  }
})

const anyError: fc.Arbitrary<AttemptError> = fc.record(
  {
    class: fc.string(),
    message: fc.string(),
    stack: fc.constant(null),
    retryable: fc.boolean(),
    retryAfterSeconds: fc.double({ min: 0, noNaN: true }),
  },
  { requiredKeys: ['class', 'message', 'stack'] },
)
const anyOutcome: fc.Arbitrary<Outcome> = fc.oneof(
  fc.constant(succeeded),
  fc.constant(cancelled),
  fc.constant(unreachable),
  anyError.map(failed),
)
const anyLease = fc
  .record({ attempt: fc.integer({ min: 1, max: 9 }), releases: fc.nat(8), maxAttempts: fc.integer({ min: 1, max: 9 }) })
  .map(({ attempt, releases, maxAttempts }) =>
    fakeLease({ attempt, releaseCount: Math.min(releases, attempt - 1), maxAttempts }),
  )
const anyRandom = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })

it('a lost lease never settles anything', () => {
  fc.assert(
    fc.property(anyOutcome, anyLease, anyRandom, (outcome, lease, random) => {
      expect(classify(outcome, { lease, policy, asked: 'lease-lost', random }).kind).toBe('nothing')
    }),
  )
})

it('a cancelled run is never retried, and a retry always has budget left and a finite wait', () => {
  fc.assert(
    fc.property(anyOutcome, anyLease, anyRandom, fc.constantFrom(...ASKED), (outcome, lease, random, asked) => {
      const verdict = classify(outcome, { lease, policy, asked, random })
      if (verdict.kind !== 'retry') return
      expect(asked).not.toBe('cancelled')
      expect(lease.attempt - lease.releaseCount).toBeLessThan(lease.maxAttempts)
      expect(Number.isFinite(verdict.delaySeconds)).toBe(true)
    }),
  )
})
