import { expect, test } from 'vitest'
import { createPlacesSignal } from './freed-places.ts'

test('runs that end during a round are one more round, also when a round fails', async () => {
  const asked: string[][] = []
  const rounds: PromiseWithResolvers<{ freed: []; stopped: [] }>[] = []
  const store = {
    blocks: {
      promoteAfter(runIds: string[]) {
        asked.push(runIds)
        rounds.push(Promise.withResolvers())
        return rounds.at(-1)!.promise
      },
    },
  }
  const signal = createPlacesSignal({ store, wakeup: { hint: () => {} } })
  for (const runId of ['a', 'b', 'c']) signal(runId)
  expect(asked).toEqual([['a']])
  rounds[0]!.reject(new Error('the database is away'))
  await expect.poll(() => rounds.length).toBe(2)
  rounds[1]!.resolve({ freed: [], stopped: [] })
  await rounds[1]!.promise
  await Promise.resolve()
  expect(asked).toEqual([['a'], ['b', 'c']])
})
