import { expect, test } from 'vitest'
import { isResultPath, notParameters } from './hash-names.ts'

const SCHEMA = { properties: { region: {}, seed: {} } }

test('a name that is no parameter is told with the nearest', () => {
  expect(notParameters(['seed', 'regoin'], SCHEMA)).toEqual([{ index: 1, name: 'regoin', nearest: 'region' }])
})

test('a schema that allows other names, or states none, knows them all', () => {
  expect(notParameters(['x'], { ...SCHEMA, additionalProperties: true })).toEqual([])
  expect(notParameters(['x'], {})).toEqual([])
})

test('a path into the result has no empty part', () => {
  expect(['a', 'a.b', '', '.a', 'a..b'].map(isResultPath)).toEqual([true, true, false, false, false])
})
