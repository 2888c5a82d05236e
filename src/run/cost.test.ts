import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { AMOUNT_MAX, amountText, roundAmount } from './amount.ts'
import { type CostDefinition, costProblems, estimateOf } from './cost.ts'

const SCHEMA = { type: 'object', properties: { months: {}, region: {}, rows: {}, scale: {}, deep: {} } }
const PARAMETERS = { months: 24, region: 'north', rows: [1, 2, 3], scale: 0.5, deep: { x: 2 } }

const amountOf = (estimate: number | string, parameters: unknown = PARAMETERS) => {
  const estimated = estimateOf({ estimate }, parameters)
  return estimated.ok ? estimated.amount : estimated.problem
}
const problemsOf = (estimate: unknown) => costProblems({ estimate }, SCHEMA).map(({ detail }) => detail)

describe('an estimate', () => {
  it.each([
    [12.5, 12.5],
    ['3', 3],
    ['10 / 4', 2.5],
    ['parameters.months * 2', 48],
    ['2 * parameters.months + 0.25', 48.25],
    ['parameters.months * parameters.scale', 12],
    ['size(parameters.rows) * 1.5', 4.5],
    ['ceil(parameters.months / 7)', 4],
    ['max(parameters.months - 30, 1)', 1],
    ['parameters.region == "north" ? 10 : 1.5', 10],
    ['parameters.region in ["south", "west"] ? 10 : 1.5', 1.5],
    ['has(parameters.deep) && parameters.deep.x > 1 ? 0x10 : 0', 16],
    ['has(parameters.missing) ? parameters.missing : 7', 7],
    ['parameters["months"] % 5', 4],
    ['parameters.rows[2] * 10', 30],
    ['floor(2.9) + min(1, 2)', 3],
    ['0.1 + 0.2', 0.3],
    ['1.0 / 3.0', 0.333333],
  ])('%s gives %d', (estimate, amount) => {
    expect(amountOf(estimate)).toBe(amount)
  })

  it.each([
    ['parameters.missing * 2', /no such key: missing/],
    ['parameters.region * 2', /no such overload/],
    ['0 - parameters.months', /gives -24, and a cost must be/],
    ['parameters.months / 0', /gives Infinity/],
    ['(parameters.months - 24) / 0', /gives NaN/],
    ['parameters.months * 1000000000', /gives 24000000000/],
    ['parameters.region', /gives a string, not a number/],
    ['ceil(parameters.region)', /not a number/],
    ['parameters.rows[9]', /index out of bounds/],
    ['int(parameters.region)', /cannot convert to int/],
  ])('%s cannot be computed', (estimate, problem) => {
    expect(amountOf(estimate)).toMatch(problem)
  })

  it('is never NaN, negative or infinite, whatever the parameters are', () => {
    const parameters = fc.record({ a: fc.anything(), b: fc.oneof(fc.double(), fc.jsonValue()) })
    const formulas = fc.constantFrom(
      'parameters.a * parameters.b',
      'parameters.b / parameters.a',
      'parameters.b % 3 - 1',
      'size(parameters.b) * 2',
      'ceil(parameters.b)',
      'parameters.b',
      'parameters.b.constructor.name',
      'parameters.a == parameters.b ? 1 : -1',
    )
    fc.assert(
      fc.property(formulas, parameters, (estimate, given) => {
        const estimated = estimateOf({ estimate }, given)
        if (!estimated.ok) return estimated.problem.length > 0
        return (
          estimated.amount >= 0 && estimated.amount <= AMOUNT_MAX && roundAmount(estimated.amount) === estimated.amount
        )
      }),
    )
  })
})

describe('a cost is refused where the model is defined', () => {
  it.each([
    ['an expression that does not parse', 'parameters.months *', /expression/],
    ['anything but parameters', 'process.env', /knows only parameters, not process/],
    ['a name that is no parameter', 'parameters.month * 2', /month is no parameter; the nearest is months/],
    ['a name in brackets that is no parameter', 'parameters["month"]', /month is no parameter/],
    ['loops', 'parameters.rows.map(x, x * 2)', /no method map/],
    ['nested loops', 'parameters.rows.all(x, parameters.rows.all(y, true)) ? 1 : 2', /no method all/],
    ['regular expressions', 'parameters.region.matches("(a+)+$") ? 1 : 2', /no method matches/],
    ['regular expressions as a function', 'matches(parameters.region, "(a+)+$") ? 1 : 2', /no function matches/],
    ['times', 'timestamp("2020-01-01T00:00:00Z")', /no function timestamp/],
    ['maps', '{"a": 1}.a', /maxMapEntries/],
    ['long lists', `1 in [${Array.from({ length: 100 }, () => '1').join()}] ? 1 : 2`, /maxListElements/],
    ['deep nesting', `${'('.repeat(400)}1${')'.repeat(400)}`, /maxDepth/],
    ['many parts', `1${'+1'.repeat(400)}`, /exceeded max/],
    ['long texts', `"${'a'.repeat(2_000)}"`, /longer than 1000/],
    ['what is no number', '"ten"', /gives a string/],
    ['a comparison', 'parameters.months > 3', /gives a bool/],
    ['bytes', 'b"abc" == b"abc" ? 1 : 2', /may use numbers/],
    ['numbers without end', '1e400', /invalid number/],
    ['whole numbers that are not exact', '9'.repeat(40), /too large/],
    ['the size of what is put together', 'size(parameters.region + parameters.region)', /size of a parameter only/],
    ['prototypes', 'parameters.__proto__.x', /__proto__ is no parameter/],
    ['an empty text', '', /expression/],
    ['a negative number', -1, /must be a number from 0/],
    ['no number', Number.NaN, /must be a number from 0/],
    ['an amount without end', Number.POSITIVE_INFINITY, /must be a number from 0/],
    ['another kind of value', { cel: '1' }, /must be a number, or an expression/],
  ])('%s', (_what, estimate, detail) => {
    expect(problemsOf(estimate).join()).toMatch(detail)
  })

  it('for each of its other keys', () => {
    const cost = { estimate: 1, ratePerSecond: -1, onFailure: 'keep', onCancel: 1, currency: '$$', price: 2 }
    expect(
      costProblems(cost, SCHEMA)
        .map(({ at }) => at)
        .toSorted(),
    ).toEqual(['currency', 'onCancel', 'onFailure', 'price', 'ratePerSecond'])
    expect(costProblems(5, SCHEMA)).toHaveLength(1)
  })

  it('and not otherwise', () => {
    const cost: CostDefinition = {
      estimate: 'parameters.months * 2',
      ratePerSecond: 0.1,
      onFailure: 'release',
      onCancel: 'actual',
      currency: 'USD',
    }
    expect(costProblems(cost, SCHEMA)).toEqual([])
    expect(costProblems(undefined, SCHEMA)).toEqual([])
  })
})

it('an amount is written with two decimals, or as many as it has', () => {
  expect(amountText(12, 'USD')).toBe('12.00 USD')
  expect(amountText(0.000125, null)).toBe('0.000125')
})
