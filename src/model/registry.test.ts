import { expect, test } from 'vitest'
import { z } from 'zod'
import { definition } from '../../test/support/definition.ts'
import { model } from './model.ts'
import { Registry } from './registry.ts'

const of = (name: string, version: string) => model({ name, version, parameters: z.object({}), run: () => null })

test('models are found by name and version', () => {
  const registry = new Registry([of('a', '1'), of('a', '2')])
  expect(registry.find('a', '2')?.version).toBe('2')
  expect(registry.find('a', '3')).toBeUndefined()
  expect(registry.nearestName('b')).toBe('a')
})

test('a second model of the same name and version is refused', () => {
  expect(() => new Registry([of('a', '1'), of('a', '1')])).toThrow('a@1 is defined twice')
})

test('a declared model has a definition and no function', () => {
  const registry = new Registry([of('a', '1')])
  const declared = definition({ name: 'b', executor: 'command', command: { argv: ['x'] } })
  registry.declare(declared)
  expect(registry.find('b', '1')).toBeUndefined()
  expect(registry.specOf('b', '1')).toBe(declared)
  expect(registry.specOf('a', '1')?.executor).toBe('process')
  expect(registry.declared()).toEqual([declared])
  expect(registry.nearestName('bb')).toBe('b')
})

test('a model is either declared or a function, and once', () => {
  const registry = new Registry([of('a', '1')])
  expect(() => registry.declare(definition({ name: 'a' }))).toThrow('a@1 is defined twice')
  registry.declare(definition({ name: 'b' }))
  expect(() => registry.declare(definition({ name: 'b' }))).toThrow('b@1 is defined twice')
  expect(() => registry.add(of('b', '1'))).toThrow('b@1 is defined twice')
})
