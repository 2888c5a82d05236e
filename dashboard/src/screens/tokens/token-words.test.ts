import { describe, expect, it } from 'vitest'
import { bodyOf, revokeWords, tokenLook } from './token-words.ts'

const NOW_MS = Date.parse('2030-01-10T00:00:00Z')

describe('a new token', () => {
  it('has what was filled in, and queues only as a worker', () => {
    const form = { role: 'worker', owner: ' farm ', name: '', expiresIn: '86400', queues: 'gpu, large,,' } as const
    expect(bodyOf(form)).toEqual({
      role: 'worker',
      owner: 'farm',
      expires_in_seconds: 86_400,
      queues: ['gpu', 'large'],
    })
    expect(bodyOf({ ...form, role: 'viewer', name: ' laptop ', expiresIn: '' })).toEqual({
      role: 'viewer',
      owner: 'farm',
      name: 'laptop',
    })
  })
})

describe('a token', () => {
  it('is good, ends soon, has ended or was revoked', () => {
    const word = (expires_at: string | null, revoked_at: string | null = null) =>
      tokenLook({ expires_at, revoked_at }, NOW_MS).word
    expect(word(null)).toBe('GOOD')
    expect(word('2030-03-01T00:00:00Z')).toBe('GOOD')
    expect(word('2030-01-12T00:00:00Z')).toBe('ENDS SOON')
    expect(word('2030-01-09T00:00:00Z')).toBe('EXPIRED')
    expect(word(null, '2030-01-01T00:00:00Z')).toBe('REVOKED')
  })

  it('says what its end stops', () => {
    expect(revokeWords({ role: 'worker', owner: 'farm', last_used_at: null })).toContain('never used')
    expect(revokeWords({ role: 'viewer', owner: 'ana', last_used_at: '2030-01-01T00:00:00Z' })).toContain('Runs of ana')
  })
})
