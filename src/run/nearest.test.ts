import { expect, test } from 'vitest'
import { nearestNames, nearestOf } from './nearest.ts'

test('the nearest name comes first, whatever its case', () => {
  expect(nearestNames('Baseline_forcast', ['baseline_forecast', 'baseline_forecast_v1', 'train'], 3)).toEqual([
    'baseline_forecast',
    'baseline_forecast_v1',
  ])
})

test('a name that resembles nothing has no nearest one', () => {
  expect(nearestOf('zzzzzz', ['status', 'limit'])).toBeNull()
})

test('a name too long to be a typing mistake is not compared', () => {
  expect(nearestOf('x'.repeat(100_000), ['x'])).toBeNull()
})
