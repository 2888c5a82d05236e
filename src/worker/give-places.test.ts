import { describe, expect, test } from 'vitest'
import { createPlaces, givePlaces } from './give-places.ts'

const log = { info: () => {} }
const given = (changes: object = {}) => ({ freed: [], stopped: [], more: false, ...changes })

test('each queue with work is hinted once, and each worker whose run is to stop', async () => {
  const hints: string[] = []
  const freed = ['a', 'b', 'c'].map((runId, index) => ({ runId, queue: index < 2 ? 'one' : 'two' }))
  const stopped = [{ runId: 'd', holder: 'w-1' }]
  const store = { blocks: { promote: async () => given({ freed, stopped, more: true }) } }
  const isMore = await givePlaces({ store, log, hint: (topic, runId) => hints.push(`${topic} ${runId}`) })
  expect(isMore).toBe(true)
  expect(hints).toEqual(['queue:one b', 'queue:two c', 'worker:w-1 d'])
})

describe('the loop of a worker', () => {
  const run = (runId: string, model = 'plain') => ({ runId, model, modelVersion: '1' })

  function openPlaces(areKeysInUse: boolean) {
    const asked: (string[] | 'all')[] = []
    const blocks = {
      areKeysInUse,
      promote: async () => {
        asked.push('all')
        return given()
      },
      promoteAfter: async (runIds: string[]) => {
        asked.push(runIds)
        return given()
      },
    }
    const keyed = [{ name: 'keyed', version: '1' }]
    const places = createPlaces({ store: { blocks }, wakeup: { hint: () => {} }, log, everyMs: 600_000, keyed })
    return { places, asked, blocks }
  }

  test('asks about runs that ended alone, and about everything once in a while', async () => {
    const { places, asked } = openPlaces(true)
    await places.tick()
    expect([places.ended([run('a')]), places.ended([run('b')])]).toEqual([true, true])
    await places.tick()
    await places.tick()
    expect(asked).toEqual(['all', ['a', 'b']])
  })

  test('where no run has a key of its request, only those of models with keys are asked about', async () => {
    const { places, asked } = openPlaces(false)
    await places.tick()
    expect([places.ended([run('a')]), places.ended([run('a'), run('b', 'keyed')])]).toEqual([false, true])
    await places.tick()
    expect(asked).toEqual(['all', ['b']])
  })

  test('is told of the first request with a key, and looks; of later ones it knows', async () => {
    const { places, asked, blocks } = openPlaces(false)
    await places.tick()
    expect(places.keysAsked()).toBe(true)
    await places.tick()
    blocks.areKeysInUse = true
    expect([places.keysAsked(), asked]).toEqual([false, ['all', 'all']])
  })
})
