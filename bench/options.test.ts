import { describe, expect, test } from 'vitest'
import { MEASUREMENTS, readOptions } from './options.ts'

describe('options', () => {
  test('without arguments everything is measured in at least five rounds', () => {
    const options = readOptions([])
    expect(options.only).toEqual([...MEASUREMENTS])
    expect(options.rounds).toBeGreaterThanOrEqual(5)
    expect(options.runs).toBe(50_000)
  })

  test('a chosen count wins over that of the quick mode', () => {
    expect(readOptions(['--quick', '--runs', '7'])).toMatchObject({ runs: 7, rounds: 1 })
  })

  test('measurements can be chosen', () => {
    expect(readOptions(['--only', 'submit, drain']).only).toEqual(['submit', 'drain'])
  })

  test.each([
    [['--only', 'speed'], 'no measurement is called "speed"'],
    [['--rounds', '0'], '--rounds must be a whole number'],
    [['--runs', 'many'], '--runs must be a whole number'],
    [['--fast'], '--fast'],
  ])('%j is refused', (args, message) => {
    expect(() => readOptions(args)).toThrow(message)
  })
})
