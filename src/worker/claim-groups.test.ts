import { expect, test } from 'vitest'
import { FakeExecutor } from '../../test/support/fake-executor.ts'
import { claimGroups } from './claim-groups.ts'
import type { Room } from './slots.ts'

const MODELS = [
  { name: 'a', version: '1', executor: 'inline' },
  { name: 'b', version: '1', executor: 'ray' },
  { name: 'c', version: '1', executor: 'ray' },
]
const ROOM: Room = {
  slots: 10,
  queues: [{ queue: 'default', room: null }],
  models: MODELS.map(({ name, version }) => ({ model: name, version, room: null })),
}

function engine(room: number) {
  return Object.assign(new FakeExecutor('ray'), { room: () => room })
}

test('without executors that know their room there is one group with everything', () => {
  const groups = claimGroups(MODELS, [new FakeExecutor('inline'), new FakeExecutor('ray')], () => 5)
  expect(groups.map((group) => group.within(ROOM))).toEqual([ROOM])
})

test.each([
  [3, 0, 3],
  [3, 2, 1],
  [50, 0, 10],
  [0, 0, 0],
])('models that share a room of %i, with %i on their way, are claimed together, at most %i', (room, placing, slots) => {
  const groups = claimGroups(MODELS, [new FakeExecutor('inline'), engine(room)], () => placing)
  const claims = groups.map((group) => group.within(ROOM))
  expect(claims.map((claim) => [claim.slots, claim.models.map(({ model }) => model)])).toEqual([
    [10, ['a']],
    [slots, ['b', 'c']],
  ])
})

test('a model that may be asked to run on a bounded executor counts against its room, whatever its default is', () => {
  const models = [
    { name: 'a', version: '1', executor: 'inline' },
    { name: 'b', version: '1', executor: 'ray' },
    { name: 'c', version: '1', executor: 'command', executors: ['command', 'ray'] },
  ]
  const groups = claimGroups(models, [new FakeExecutor('inline'), new FakeExecutor('command'), engine(2)], () => 0)
  const claims = groups.map((group) => group.within(ROOM))
  expect(claims.map((claim) => [claim.slots, claim.models.map(({ model }) => model)])).toEqual([
    [10, ['a']],
    [2, ['b', 'c']],
  ])
})

test('a model that may run on either of two bounded executors is claimed within the smaller room', () => {
  const models = [
    { name: 'b', version: '1', executor: 'ray' },
    { name: 'c', version: '1', executor: 'ray', executors: ['ray', 'kubernetes'] },
  ]
  const other = Object.assign(new FakeExecutor('kubernetes'), { room: () => 1 })
  const groups = claimGroups(models, [engine(3), other], () => 0)
  const claims = groups.map((group) => group.within(ROOM)).filter((claim) => claim.models.length > 0)
  expect(claims.map((claim) => [claim.slots, claim.models.map(({ model }) => model)])).toEqual([
    [3, ['b']],
    [1, ['c']],
  ])
})
