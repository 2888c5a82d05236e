import fc from 'fast-check'
import { expect, it } from 'vitest'
import { Slots } from './slots.ts'

const QUEUES = [
  { queue: 'default', limit: null },
  { queue: 'gpu', limit: 2 },
]
const MODELS = [
  { model: 'small', version: '1', limit: null },
  { model: 'big', version: '1', limit: 1 },
]
const taker = (queue: string, model: string) => ({ queue, model, modelVersion: '1' })

it('an empty worker has room for all its slots, each limit held', () => {
  expect(new Slots(5, QUEUES, MODELS).room()).toEqual({
    slots: 5,
    queues: [
      { queue: 'default', room: null },
      { queue: 'gpu', room: 2 },
    ],
    models: [
      { model: 'small', version: '1', room: null },
      { model: 'big', version: '1', room: 1 },
    ],
  })
})

it('a queue or model without room is left out, and comes back when a run of it ends', () => {
  const slots = new Slots(5, QUEUES, MODELS)
  slots.take([taker('gpu', 'big')])
  slots.take([taker('gpu', 'small')])
  expect(slots.room()).toEqual({
    slots: 3,
    queues: [{ queue: 'default', room: null }],
    models: [{ model: 'small', version: '1', room: null }],
  })
  slots.give([taker('gpu', 'big')])
  expect(slots.room().queues).toContainEqual({ queue: 'gpu', room: 1 })
  expect(slots.room().models).toContainEqual({ model: 'big', version: '1', room: 1 })
})

it('versions of a model are limited each on its own', () => {
  const models = ['1', '2'].map((version) => ({ model: 'big', version, limit: 1 }))
  const slots = new Slots(5, QUEUES, models)
  slots.take([{ queue: 'default', model: 'big', modelVersion: '1' }])
  expect(slots.room().models).toEqual([{ model: 'big', version: '2', room: 1 }])
})

it('those of one claim are counted together, each for its queue and its model', () => {
  const slots = new Slots(9, QUEUES, MODELS)
  const claimed = [taker('default', 'small'), taker('default', 'small'), taker('gpu', 'small'), taker('default', 'big')]
  slots.take(claimed)
  expect(slots.taken).toBe(4)
  expect(slots.room().queues).toContainEqual({ queue: 'gpu', room: 1 })
  expect(slots.room().models).toEqual([{ model: 'small', version: '1', room: null }])
  slots.give(claimed)
  expect(slots.room()).toEqual(new Slots(9, QUEUES, MODELS).room())
})

it('a full worker has no room at all', () => {
  const slots = new Slots(1, QUEUES, MODELS)
  slots.take([taker('default', 'small')])
  expect(slots.room()).toEqual({ slots: 0, queues: [], models: [] })
})

it('whatever is taken within the room and given back, no limit is passed and all is free in the end', () => {
  const step = fc.record({ queue: fc.constantFrom('default', 'gpu'), model: fc.constantFrom('small', 'big') })
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 6 }), fc.array(step), (total, steps) => {
      const slots = new Slots(total, QUEUES, MODELS)
      const held: { queue: string; model: string }[] = []
      for (const wanted of steps) {
        const room = slots.room()
        const fits =
          room.queues.some(({ queue }) => queue === wanted.queue) && room.models.some((m) => m.model === wanted.model)
        if (fits) {
          slots.take([taker(wanted.queue, wanted.model)])
          held.push(wanted)
        } else if (held.length > 0) {
          const ended = held.shift()!
          slots.give([taker(ended.queue, ended.model)])
        }
        expect(slots.taken).toBe(held.length)
        expect(slots.taken + slots.free).toBe(total)
        expect(slots.free).toBeGreaterThanOrEqual(0)
        expect(held.filter(({ queue }) => queue === 'gpu').length).toBeLessThanOrEqual(2)
        expect(held.filter(({ model }) => model === 'big').length).toBeLessThanOrEqual(1)
      }
      for (const ended of held) slots.give([taker(ended.queue, ended.model)])
      expect(slots.room()).toEqual(new Slots(total, QUEUES, MODELS).room())
    }),
  )
})
