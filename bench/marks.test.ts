import { describe, expect, test } from 'vitest'
import type { Measured } from './bench.ts'
import { marksOf, otherRatiosOf } from './marks.ts'

function measured(id: string, series: Measured['series']): Measured {
  return { id, title: id, unit: 'runs/s', series }
}

describe('marks', () => {
  test('submit is compared with the better of the two peers, never with hand-written SQL', () => {
    const series = {
      holdfast: [10, 8, 9],
      'graphile-worker': [1, 1, 1],
      'pg-boss': [2, 2, 2],
      'hand-written': [9, 9, 9],
    }
    const [mark] = marksOf([measured('submit', series)])
    expect(mark).toMatchObject({ against: 'pg-boss', ratio: { median: 4.5, min: 4, max: 5 }, reached: true })
  })

  test('a mark is reached exactly at its bound', () => {
    const [mark] = marksOf([measured('drain', { holdfast: [8], 'graphile-worker': [10] })])
    expect(mark).toMatchObject({ wanted: '≥ 0.8', reached: true })
  })

  test('a latency is good when it is low', () => {
    const [mark] = marksOf([measured('latency-p50', { holdfast: [5], 'graphile-worker': [4] })])
    expect(mark).toMatchObject({ wanted: '≤ 1.2', reached: false })
  })

  test('growth has a mark for each state of the tables', () => {
    const marks = marksOf([measured('growth', { 'empty tables': [10], '5 pending': [9], '7 finished': [8] })])
    expect(marks.map(({ what, reached }) => [what, reached])).toEqual([
      ['drain with 5 pending', true],
      ['drain with 7 finished', false],
    ])
  })

  test('beside a held snapshot the last seconds are compared with the first', () => {
    const [mark] = marksOf([measured('snapshot-holdfast', { first: [100], last: [70] })])
    expect(mark).toMatchObject({ ratio: { median: 0.7 }, reached: true })
  })

  test('every contender gets its ratio', () => {
    const ratios = otherRatiosOf([measured('bulk', { holdfast: [6], 'pg-boss': [3], 'hand-written': [12] })])
    expect(ratios.map(({ against, ratio }) => [against, ratio.median])).toEqual([
      ['pg-boss', 2],
      ['hand-written', 0.5],
    ])
  })
})
