import { expect, test } from 'vitest'
import type { QuotaWarning } from './quota.ts'
import { warningText, warningTexts } from './quota-warning.ts'

const warning = (more: Partial<QuotaWarning> = {}): QuotaWarning => ({
  rule: { owner: 'ana', model: '', together: false },
  limit: 'max_concurrent',
  maximum: 5,
  used: 4,
  action: 'block',
  ...more,
})

test.each([
  [{}, 'Quota warning: 4 of 5 concurrent runs used'],
  [{ used: 6, action: 'warn' as const }, 'Quota warning: 6 of 5 concurrent runs used, which is over the limit'],
  [
    { limit: 'runs_per_hour' as const, rule: { owner: '*', model: 'forecast', together: true } },
    'Quota warning: 4 of 5 runs per hour used by the model forecast by all owners together',
  ],
  [
    { limit: 'cost_per_day' as const, used: 0.1 + 0.2, maximum: 0.3 },
    'Cost limit warning: 0.3 of 0.3 cost per day used',
  ],
])('%j is told as %s', (more, text) => {
  expect(warningText(warning(more))).toBe(text)
})

test('limits of cost are told in one text, apart from the others', () => {
  const costs = [warning({ limit: 'cost_per_day' }), warning({ limit: 'cost_per_month' })]
  expect(warningTexts([costs[0]!, warning(), costs[1]!])).toEqual({
    quota: ['Quota warning: 4 of 5 concurrent runs used'],
    cost: 'Cost limit warning: 4 of 5 cost per day used; Cost limit warning: 4 of 5 cost per month used',
  })
  expect(warningTexts([])).toEqual({ quota: [], cost: null })
  expect(warningTexts(undefined)).toEqual({ quota: [], cost: null })
})
