import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  checkRetryPolicy,
  DEFAULT_RETRY_POLICY,
  decideRetry,
  mergeRetryPolicy,
  RETRY_DELAY_SECONDS_MAX,
  type RetryPolicy,
  type RetryPolicyInput,
} from './retry.ts'

const policyOf = (input: RetryPolicyInput): RetryPolicy => mergeRetryPolicy({}, {}, input)

function decide(
  input: RetryPolicyInput,
  countedAttempts: number,
  random = 0,
  error: Parameters<typeof decideRetry>[0]['error'] = { class: 'Error' },
) {
  const policy = policyOf(input)
  return decideRetry({ policy, error, countedAttempts, maxAttempts: policy.maxAttempts, random })
}

function delayOf(input: RetryPolicyInput, countedAttempts: number, random = 0): number {
  const decision = decide({ ...input, maxAttempts: 1000 }, countedAttempts, random)
  return decision.retry ? decision.delaySeconds : Number.NaN
}

test('R276, R277: by default three attempts, after 5, 20 and 60 seconds', () => {
  expect([1, 2, 3, 4].map((attempts) => delayOf({}, attempts))).toEqual([5, 20, 60, 60])
  expect(decide({}, 2)).toEqual({ retry: true, delaySeconds: 20 })
  expect(decide({}, 3)).toEqual({ retry: false, reason: 'attempts-exhausted' })
})

describe('whether', () => {
  test.each([
    ['fatal', { retryable: false }, {}, 'fatal'],
    ['in noRetryOn', {}, { noRetryOn: ['Bad'] }, 'no-retry-on'],
    ['in noRetryOn by its path', {}, { noRetryOn: ['errors.Bad'] }, 'no-retry-on'],
    ['in both lists', {}, { noRetryOn: ['Bad'], retryOn: ['Bad'] }, 'no-retry-on'],
    ['not in retryOn', {}, { retryOn: ['Timeout', 'errors'] }, 'not-in-retry-on'],
    ['retryable by itself but in noRetryOn', { retryable: true }, { noRetryOn: ['Bad'] }, 'no-retry-on'],
  ] as const)('an error that is %s is not retried', (_what, flags, policy, reason) => {
    const error = { class: 'pkg.errors.Bad', ...flags }
    expect(decide(policy as unknown as RetryPolicyInput, 1, 0, error)).toEqual({ retry: false, reason })
  })

  test.each([
    ['in retryOn', {}, { retryOn: ['Bad'] }],
    ['retryable by itself though not in retryOn', { retryable: true }, { retryOn: ['Other'] }],
    ['like a listed name but another class', {}, { noRetryOn: ['ad', 'NotBad', 'pkg'] }],
  ] as const)('an error that is %s is retried', (_what, flags, policy) => {
    const error = { class: 'pkg.Bad', ...flags }
    expect(decide(policy as unknown as RetryPolicyInput, 1, 0, error).retry).toBe(true)
  })

  test('a fatal error says so even when the attempts are used up', () => {
    expect(decide({}, 9, 0, { class: 'Bad', retryable: false })).toEqual({ retry: false, reason: 'fatal' })
  })
})

describe('RetryAfter', () => {
  const asked = (seconds: number) =>
    decide({ maxDelaySeconds: 30 }, 1, 0.7, { class: 'Busy', retryable: true, retryAfterSeconds: seconds })

  test('is taken as it is, without jitter and above the cap of the policy', () => {
    expect(asked(120)).toEqual({ retry: true, delaySeconds: 120 })
    expect(asked(0)).toEqual({ retry: true, delaySeconds: 0 })
  })

  test('of ages is a year', () => {
    expect(asked(Infinity)).toEqual({ retry: true, delaySeconds: RETRY_DELAY_SECONDS_MAX })
  })

  test('that is no delay leaves it to the policy', () => {
    expect(asked(-1)).toEqual({ retry: true, delaySeconds: 5 * (1 - 0.1 * 0.7) })
    expect(asked(Number.NaN)).toEqual({ retry: true, delaySeconds: 5 * (1 - 0.1 * 0.7) })
  })
})

describe('delays', () => {
  const seconds = fc.double({ min: 0, max: 10_000, noNaN: true })
  const shape = fc.record({
    backoff: fc.constantFrom('fixed', 'exponential', 'list'),
    baseDelaySeconds: seconds,
    maxDelaySeconds: seconds,
    factor: fc.double({ min: 1, max: 1000, noNaN: true }),
    delaysSeconds: fc.array(seconds, { minLength: 1, maxLength: 5 }),
    jitter: fc.double({ min: 0, max: 1, noNaN: true }),
  }) satisfies fc.Arbitrary<RetryPolicyInput>
  const attempts = fc.integer({ min: 1, max: 900 })
  const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })

  test('property: jitter takes at most its part away and the cap holds', () => {
    fc.assert(
      fc.property(shape, attempts, random, (policy, counted, drawn) => {
        const whole = delayOf({ ...policy, jitter: 0 }, counted)
        const delay = delayOf(policy, counted, drawn)
        expect(whole).toBeLessThanOrEqual(policy.maxDelaySeconds)
        expect(delay).toBeLessThanOrEqual(whole)
        expect(delay).toBeGreaterThanOrEqual(whole * (1 - policy.jitter) * (1 - 1e-12))
      }),
    )
  })

  test('property: exponential delays never fall and start at the base', () => {
    fc.assert(
      fc.property(shape, attempts, (shaped, counted) => {
        const policy = { ...shaped, backoff: 'exponential' as const }
        expect(delayOf(policy, counted + 1)).toBeGreaterThanOrEqual(delayOf(policy, counted))
        expect(delayOf(policy, 1)).toBe(Math.min(policy.baseDelaySeconds, policy.maxDelaySeconds))
      }),
    )
  })

  test('fixed stays, exponential multiplies up to the cap, the last of a list repeats', () => {
    const four = (policy: RetryPolicyInput) => [1, 2, 3, 4].map((counted) => delayOf(policy, counted))
    expect(four({ backoff: 'fixed', baseDelaySeconds: 7 })).toEqual([7, 7, 7, 7])
    expect(four({ backoff: 'exponential', baseDelaySeconds: 2, factor: 3, maxDelaySeconds: 20 })).toEqual([
      2, 6, 18, 20,
    ])
    expect(four({ delaysSeconds: [9, 1] })).toEqual([9, 1, 1, 1])
  })
})

describe('merging', () => {
  test('R284: the model wins over the queue, the queue over the global policy, field by field', () => {
    const merged = mergeRetryPolicy(
      { maxAttempts: 9, jitter: 0.5, noRetryOn: ['A'] },
      { maxAttempts: 7, jitter: 0.4 },
      { maxAttempts: 5 },
    )
    expect(merged).toEqual({ ...DEFAULT_RETRY_POLICY, maxAttempts: 5, jitter: 0.4, noRetryOn: ['A'] })
  })

  test('three empty levels are the default, and an undefined field is not set', () => {
    expect(mergeRetryPolicy({}, {}, {})).toEqual(DEFAULT_RETRY_POLICY)
    expect(mergeRetryPolicy({ maxAttempts: 4 }, {}, { maxAttempts: undefined }).maxAttempts).toBe(4)
  })

  test('null in retryOn lifts a list from below', () => {
    expect(mergeRetryPolicy({ retryOn: ['A'] }, {}, { retryOn: null }).retryOn).toBeNull()
  })

  test.each([
    ['delays mean a list', { backoff: 'fixed' }, { delaysSeconds: [1] }, 'list'],
    ['a factor means exponential', { backoff: 'fixed' }, { factor: 2 }, 'exponential'],
    ['a base over a list means exponential', {}, { baseDelaySeconds: 1 }, 'exponential'],
    ['a base over fixed stays fixed', { backoff: 'fixed' }, { baseDelaySeconds: 1 }, 'fixed'],
    ['a backoff that is named is taken', {}, { backoff: 'fixed', baseDelaySeconds: 1, factor: 2 }, 'fixed'],
    ['a cap alone changes no backoff', {}, { maxDelaySeconds: 10 }, 'list'],
  ] as const)('%s', (_what, queue, model, backoff) => {
    expect(mergeRetryPolicy({}, queue, model as unknown as RetryPolicyInput).backoff).toBe(backoff)
  })

  test('a cap from below does not cut delays a level states, a cap of the level does', () => {
    expect(delayOf({ delaysSeconds: [7200] }, 1)).toBe(7200)
    expect(delayOf({ delaysSeconds: [7200], maxDelaySeconds: 60 }, 1)).toBe(60)
    expect(
      mergeRetryPolicy({ maxDelaySeconds: 10 }, {}, { backoff: 'fixed', baseDelaySeconds: 30 }).maxDelaySeconds,
    ).toBe(30)
  })
})

describe('checking', () => {
  test('good policies have no problems', () => {
    expect(checkRetryPolicy({})).toEqual([])
    expect(checkRetryPolicy({ ...DEFAULT_RETRY_POLICY })).toEqual([])
    expect(checkRetryPolicy({ maxAttempts: undefined, retryOn: null })).toEqual([])
  })

  test.each([
    [null, 'object'],
    [[], 'object'],
    [{ attempts: 3 }, 'attempts is no field'],
    [{ toString: 3 }, 'toString is no field'],
    [{ maxAttempts: 0 }, 'maxAttempts'],
    [{ maxAttempts: 1.5 }, 'maxAttempts'],
    [{ backoff: 'linear' }, 'backoff'],
    [{ baseDelaySeconds: -1 }, 'baseDelaySeconds'],
    [{ maxDelaySeconds: Infinity }, 'maxDelaySeconds'],
    [{ factor: 0.5 }, 'factor'],
    [{ delaysSeconds: [] }, 'delaysSeconds'],
    [{ delaysSeconds: [Number.NaN] }, 'delaysSeconds'],
    [{ jitter: 2 }, 'jitter'],
    [{ jitter: '0.1' }, 'jitter'],
    [{ retryOn: 'Error' }, 'retryOn'],
    [{ noRetryOn: null }, 'noRetryOn'],
    [{ noRetryOn: [''] }, 'noRetryOn'],
    [{ baseDelaySeconds: 10, maxDelaySeconds: 5 }, 'above'],
  ])('%j has one problem', (policy, words) => {
    const problems = checkRetryPolicy(policy)
    expect(problems).toHaveLength(1)
    expect(problems[0]).toContain(words)
  })
})
