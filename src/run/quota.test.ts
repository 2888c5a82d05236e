/** Which rules apply to a run, and what they decide together. */

import { describe, expect, it } from 'vitest'
import { decide, LIMITS, type QuotaLimits, type QuotaRule, refusalText, rulesThatApply, type Usage } from './quota.ts'

const NONE = Object.fromEntries(LIMITS.map((limit) => [limit, null])) as QuotaLimits

function rule(options: Partial<Omit<QuotaRule, 'limits'>> & Partial<QuotaLimits> = {}): QuotaRule {
  const { owner = '*', model = '', together = false, action = 'block', ...limits } = options
  return { owner, model, together, action, limits: { ...NONE, ...limits } }
}

const counted = { owner: 'ana', model: null }
const applied = (one: QuotaRule, usage: Usage) => ({ rule: one, counted, usage })

describe('rules that apply', () => {
  const run = { owner: 'ana', model: 'forecast' }

  it('of the rules that count the same, the most specific one', () => {
    const everyone = rule({ max_concurrent: 1 })
    const own = rule({ owner: 'ana', max_concurrent: 9 })
    expect(rulesThatApply([everyone, own], run)).toEqual([{ rule: own, counted: { owner: 'ana', model: null } }])
    expect(rulesThatApply([everyone, own], { ...run, owner: 'bo' })).toEqual([
      { rule: everyone, counted: { owner: 'bo', model: null } },
    ])
  })

  it('its owner over all models and within the model, everyone together likewise', () => {
    const rules = [
      rule({ owner: 'ana' }),
      rule({ model: 'forecast' }),
      rule({ together: true }),
      rule({ model: 'forecast', together: true }),
      rule({ owner: 'ana', model: 'other' }),
      rule({ owner: 'bo' }),
    ]
    expect(rulesThatApply(rules, run).map((one) => one.counted)).toEqual([
      { owner: 'ana', model: null },
      { owner: null, model: null },
      { owner: 'ana', model: 'forecast' },
      { owner: null, model: 'forecast' },
    ])
  })

  it('without a model only those over all models, once each', () => {
    const rules = [rule({ owner: 'ana' }), rule({ owner: 'ana', model: 'forecast' })]
    expect(rulesThatApply(rules, { owner: 'ana', model: '' })).toHaveLength(1)
  })
})

describe('a decision', () => {
  const one = { max_concurrent: 1, runs_per_hour: 1, runs_per_day: 1 }

  it('admits up to the limit and refuses beyond it', () => {
    const five = rule({ max_concurrent: 5 })
    expect(decide([applied(five, { max_concurrent: 4 })], one).kind).toBe('admit')
    expect(decide([applied(five, { max_concurrent: 5 })], one)).toMatchObject({
      kind: 'refuse',
      binding: { rule: five, limit: 'max_concurrent', maximum: 5, used: 5 },
    })
  })

  it('a limit of none, and one that nobody counted, says nothing', () => {
    expect(decide([applied(rule(), { max_concurrent: 99 })], one)).toEqual({ kind: 'admit', warnings: [] })
    expect(decide([applied(rule({ cost_per_day: 1 }), {})], one)).toEqual({ kind: 'admit', warnings: [] })
  })

  it('a limit of nothing at all refuses the first', () => {
    expect(decide([applied(rule({ runs_per_day: 0 }), { runs_per_day: 0 })], one).kind).toBe('refuse')
  })

  it('names the one with the least room', () => {
    const wide = applied(rule({ max_concurrent: 10 }), { max_concurrent: 10 })
    const narrow = applied(rule({ together: true, max_concurrent: 8 }), { max_concurrent: 9 })
    for (const order of [
      [wide, narrow],
      [narrow, wide],
    ]) {
      expect(decide(order, one)).toMatchObject({ kind: 'refuse', binding: { maximum: 8 } })
    }
  })

  it('warns from 80 % on, counting the run itself', () => {
    const ten = rule({ max_concurrent: 10 })
    expect(decide([applied(ten, { max_concurrent: 6 })], one)).toEqual({ kind: 'admit', warnings: [] })
    expect(decide([applied(ten, { max_concurrent: 7 })], one)).toMatchObject({
      warnings: [{ limit: 'max_concurrent', maximum: 10, used: 8, action: 'block' }],
    })
  })

  it('over a limit that only warns, it is admitted and told', () => {
    const lenient = rule({ max_concurrent: 1, action: 'warn' })
    expect(decide([applied(lenient, { max_concurrent: 5 })], one)).toMatchObject({
      kind: 'admit',
      warnings: [{ maximum: 1, used: 6, action: 'warn' }],
    })
  })

  it('over a limit that asks for approval, it waits for it, unless another refuses', () => {
    const asking = applied(rule({ max_concurrent: 1, action: 'require_approval' }), { max_concurrent: 1 })
    const blocking = applied(rule({ together: true, max_concurrent: 1 }), { max_concurrent: 1 })
    expect(decide([asking], one)).toMatchObject({ kind: 'approve', binding: { maximum: 1 } })
    expect(decide([asking, blocking], one).kind).toBe('refuse')
  })

  it('amounts that add up to the limit fit', () => {
    const spending = applied(rule({ cost_per_day: 0.3 }), { cost_per_day: 0.1 })
    expect(decide([spending], { cost_per_day: 0.2 }).kind).toBe('admit')
    expect(decide([spending], { cost_per_day: 0.200001 }).kind).toBe('refuse')
  })
})

it('the texts of refusals', () => {
  expect(refusalText({ limit: 'max_concurrent', maximum: 5 })).toBe('Quota exceeded: Maximum 5 concurrent runs allowed')
  expect(refusalText({ limit: 'runs_per_hour', maximum: 7 })).toBe('Quota exceeded: Maximum 7 runs per hour allowed')
  expect(refusalText({ limit: 'cost_per_day', maximum: 2 })).toMatch(/^Cost limit exceeded: /)
})
