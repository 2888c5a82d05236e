import { expect, test } from 'vitest'
import { allowedExecutors, isLeasedElsewhere } from './allowed-executors.ts'

test.each([
  [{ executor: 'process' }, ['process']],
  [{ executor: 'inline' }, ['inline', 'process']],
  [{ executor: 'command' }, ['command']],
  [{ executor: 'ray', executors: ['command', 'ray'] }, ['ray', 'command']],
])('%j allows %j', (choice, allowed) => {
  expect(allowedExecutors(choice)).toEqual(allowed)
})

test('only remote models are left to others', () => {
  expect(['remote', 'command', 'ray', 'process'].filter((executor) => isLeasedElsewhere({ executor }))).toEqual([
    'remote',
  ])
})
