import type { AuditEvent } from '@holdfast/client'
import { describe, expect, it } from 'vitest'
import { actionWords, fits, targetLink } from './audit-words.ts'

const event: AuditEvent = {
  audit_id: 1,
  at: '2030-01-01T00:00:00.000Z',
  actor_token_id: null,
  actor_owner: 'Ada',
  action: 'quota.put',
  target: 'ana model train together',
  data: {},
  request_id: null,
}

describe('the audit', () => {
  it('says known acts in words and unknown ones as they are', () => {
    expect(actionWords('queue.pause')).toBe('Paused a queue')
    expect(actionWords('moon.land')).toBe('moon.land')
    expect(actionWords('constructor')).toBe('constructor')
  })

  it('leads to what was acted on', () => {
    expect(targetLink(event)).toEqual({ to: '/quotas', search: { owner: 'ana' } })
    expect(targetLink({ action: 'run.approve', target: 'r1' })).toEqual({ to: '/runs/r1' })
    expect(targetLink({ action: 'model.change', target: 'train@1.2' })).toMatchObject({ search: { model: 'train' } })
    expect(targetLink({ action: 'recipient.put', target: 'ada@example.org' })).toBeNull()
    expect(targetLink({ action: 'queue.pause', target: null })).toBeNull()
  })

  it('is narrowed by the act and by a part of who did it', () => {
    expect(fits({ action: '', actor: 'ad' }, event)).toBe(true)
    expect(fits({ action: 'quota.put', actor: '' }, event)).toBe(true)
    expect(fits({ action: 'quota.delete', actor: '' }, event)).toBe(false)
    expect(fits({ action: '', actor: 'bob' }, event)).toBe(false)
  })
})
