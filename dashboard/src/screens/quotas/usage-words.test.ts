import type { ModelInfo, QuotaUsage } from '@holdfast/client'
import { describe, expect, it } from 'vitest'
import { currencyOf, levelOf, percentOf, ruleWords, sharesOf, sourceWords } from './usage-words.ts'

const none = { runs: null, reservations: null, held: null, settled: null }

function usage(more: Partial<QuotaUsage>): QuotaUsage {
  const rule = { owner: 'ana', model: null, together: false }
  const base = { rule, limit: 'max_concurrent', maximum: 10, used: 0, binds: true, action: 'block' } as const
  return { ...base, sources: none, ...more }
}

function costs(name: string, currency: string | null): Pick<ModelInfo, 'name' | 'cost'> {
  return { name, cost: { estimate: 1, rate_per_second: null, on_failure: 'actual', on_cancel: 'actual', currency } }
}

describe('how much of a limit is used', () => {
  it('is near its end from 80 percent on, and full when nothing fits any more', () => {
    expect([7, 8, 9, 10, 12].map((used) => levelOf({ used, maximum: 10 }))).toEqual([
      'calm',
      'near',
      'near',
      'full',
      'full',
    ])
    expect(levelOf({ used: 0, maximum: 0 })).toBe('full')
    expect([percentOf({ used: 0, maximum: 0 }), percentOf({ used: 1, maximum: 3 })]).toEqual([100, 33])
  })

  it('has pieces that fit into the bar, also when more is used than allowed', () => {
    const shares = sharesOf(usage({ used: 12, sources: { ...none, runs: 9, reservations: 3 } }))
    expect(shares).toMatchObject([
      { name: 'runs', percent: 75, look: 'solid' },
      { name: 'reservations', percent: 25, look: 'striped' },
    ])
    expect(sharesOf(usage({ maximum: 0, sources: { ...none, runs: 0 } }))).toMatchObject([{ percent: 0 }])
  })

  it('says what uses it', () => {
    expect(sourceWords(usage({ sources: { ...none, runs: 1, reservations: 2 } }), null)).toBe('1 run, 2 reservations')
    const cost = usage({ limit: 'cost_per_day', sources: { ...none, held: 30, settled: 60.5 } })
    expect(sourceWords(cost, 'USD')).toBe('60.5 USD spent, 30 USD held')
  })
})

describe('a rule in words', () => {
  it('tells whose it is and for which model', () => {
    expect(ruleWords({ owner: 'ana', model: null, together: false })).toBe('ana')
    expect(ruleWords({ owner: '*', model: 'train', together: false })).toBe('each owner by itself, model train')
    expect(ruleWords({ owner: '*', model: null, together: true })).toBe('everyone together')
  })

  it('has a currency only where the models agree on one', () => {
    const models = [costs('a', 'USD'), costs('b', 'EUR'), { name: 'c', cost: null }]
    expect(currencyOf(models, null)).toBeNull()
    expect(currencyOf(models, 'b')).toBe('EUR')
    expect(currencyOf(models, 'c')).toBeNull()
    expect(currencyOf([costs('a', 'USD'), costs('b', 'USD')], null)).toBe('USD')
  })
})
