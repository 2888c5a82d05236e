import { expect, test } from 'vitest'
import type { ModelDefinition } from '../run/definition.ts'
import { offeredModels } from './offered-models.ts'

const of = (name: string, executor: string, executors?: string[]) =>
  ({ name, version: '1', executor, ...(executors && { executors }) }) as ModelDefinition

test('a worker takes what it can run wherever it may be asked to run', () => {
  const definitions = [
    of('function', 'inline'),
    of('program', 'command'),
    of('python', 'remote'),
    of('job', 'ray'),
    of('either', 'command', ['command', 'ray']),
  ]
  const { offered, leftToOthers, lacking } = offeredModels(definitions, ['inline', 'process', 'command'])
  expect(offered.map(({ name }) => name)).toEqual(['function', 'program'])
  expect(leftToOthers.map(({ name }) => name)).toEqual(['python', 'job', 'either'])
  expect(lacking).toEqual([
    { model: 'job@1', executors: ['ray'] },
    { model: 'either@1', executors: ['ray'] },
  ])
})
