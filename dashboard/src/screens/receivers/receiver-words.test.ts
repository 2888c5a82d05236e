import { describe, expect, it } from 'vitest'
import { failureWords, lookOf, whoseWords } from './receiver-words.ts'

describe('a receiver', () => {
  it('is enabled, failing or disabled', () => {
    expect(lookOf({ enabled: true, failures: 0 }).word).toBe('ENABLED')
    expect(lookOf({ enabled: true, failures: 2 }).word).toBe('FAILING')
    expect(lookOf({ enabled: false, failures: 2 }).word).toBe('DISABLED')
  })

  it('tells how often it failed', () => {
    expect(failureWords({ enabled: true, failures: 0 })).toBeNull()
    expect(failureWords({ enabled: true, failures: 1 })).toBe('The last one failed; it is tried on')
    expect(failureWords({ enabled: false, failures: 7 })).toBe('The last 7 failed')
    expect([whoseWords('*'), whoseWords('ana')]).toEqual(['Everyone', 'ana'])
  })
})
