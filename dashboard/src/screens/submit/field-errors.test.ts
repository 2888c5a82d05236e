import { expect, test } from 'vitest'
import {
  errorAround,
  errorsOfBranch,
  errorWithin,
  namesWithoutField,
  optionError,
  parameterErrors,
} from './field-errors.ts'

const ERRORS = [
  { pointer: '/parameters/region', detail: 'is required' },
  { pointer: '/parameters/rows/1/name', detail: 'must be string' },
  { pointer: '/parameters/regoin', detail: 'is not a known parameter; the nearest is region' },
  { pointer: '/queue', detail: 'is not a known queue' },
  { pointer: '/concurrency/limit', detail: 'must be at least 1' },
  { pointer: '/parametersx', detail: 'is unknown' },
]

test('errors of parameters and of options are told apart', () => {
  expect(parameterErrors(ERRORS).map(({ pointer }) => pointer)).toEqual(['/region', '/rows/1/name', '/regoin'])
  expect(optionError(ERRORS, 'queue')).toBe('is not a known queue')
  expect(optionError(ERRORS, 'concurrency')).toBe('must be at least 1')
  expect(optionError(ERRORS, 'title')).toBeNull()
})

test('a field tells what is at it and inside, one that holds others only what these cannot', () => {
  const errors = parameterErrors(ERRORS)
  expect(errorWithin(errors, '/region')).toBe('is required')
  expect(errorWithin(errors, '/rows')).toBe('1 › name must be string')
  expect(errorWithin(errors, '/reg')).toBeNull()
  const shown = (step: string) => ['region', 'rows'].includes(step)
  expect(errorAround(errors, '', shown)).toBe('regoin is not a known parameter; the nearest is region')
  expect(errorAround(errors, '/rows', () => false)).toBe('1 › name must be string')
})

test('of the errors of several forms, those of the chosen one are told', () => {
  const errors = [
    { pointer: '/source/path', detail: 'is required' },
    { pointer: '/source/kind', detail: 'must be "file"' },
    { pointer: '/source/url', detail: 'is required' },
    { pointer: '/source', detail: 'must match exactly one schema in oneOf' },
    { pointer: '/name', detail: 'is required' },
  ]
  const web = { names: ['kind', 'url'], constants: ['kind'] }
  expect(errorsOfBranch(errors, '/source', web).map(({ pointer }) => pointer)).toEqual(['/name', '/source/url'])
  const other = { names: ['kind'], constants: ['kind'] }
  expect(errorsOfBranch(errors, '/source', other), 'nothing is lost').toHaveLength(5)
  expect(errorsOfBranch(errors, '/source', null)).toHaveLength(5)
})

test('names without a field are told', () => {
  expect(namesWithoutField({ a: 1, b: 2 }, ['a'])).toEqual(['b'])
  expect(namesWithoutField([1], [])).toEqual([])
})
