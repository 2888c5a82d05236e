import { expect, test } from 'vitest'
import { z } from 'zod'
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
