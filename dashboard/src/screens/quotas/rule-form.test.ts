import type { QuotaRule } from '@holdfast/client'
import { describe, expect, it } from 'vitest'
import { bodyOf, emptyForm, formOf, isSameName, nameOf } from './rule-form.ts'

const rule: QuotaRule = {
  owner: '*',
  model: 'train',
  together: true,
  max_concurrent: 8,
  runs_per_hour: null,
  runs_per_day: null,
  cost_per_day: 12.5,
  cost_per_month: null,
  action: 'warn',
  created_at: '2030-01-01T00:00:00.000Z',
  updated_at: '2030-01-01T00:00:00.000Z',
  counted_at: null,
  links: { self: '/quotas/*' },
}

describe('the form of a rule', () => {
  it('gives back the rule it was made of', () => {
    const form = formOf(rule)
    expect(isSameName(nameOf(form), rule)).toBe(true)
    expect(bodyOf(form)).toEqual({
      max_concurrent: 8,
      runs_per_hour: null,
      runs_per_day: null,
      cost_per_day: 12.5,
      cost_per_month: null,
      action: 'warn',
    })
  })

  it('is about an owner, each of them or all together', () => {
    const form = { ...emptyForm('ana'), owner: ' ana ' }
    expect(nameOf(form)).toEqual({ owner: 'ana', model: null, together: false })
    expect(nameOf({ ...form, whose: 'each', model: 'train' })).toEqual({ owner: '*', model: 'train', together: false })
    expect(emptyForm('*')).toMatchObject({ whose: 'each', owner: '' })
  })

  it('takes separated digits, and leaves to the API what is no number', () => {
    const form = emptyForm('ana')
    const limits = { ...form.limits, max_concurrent: '1,000', runs_per_day: 'many', cost_per_day: '1,5' }
    expect(bodyOf({ ...form, limits })).toMatchObject({
      max_concurrent: 1_000,
      runs_per_day: 'many',
      cost_per_day: '1,5',
    })
  })
})
