import { expect, test } from 'vitest'
import { inSlices } from './slices.ts'

function* counting(to: number): Generator<number, void, void> {
  for (let number = 1; number <= to; number += 1) yield number
}

/** Each item takes so long that a slice holds only a few. */
function* slowly(to: number): Generator<number, void, void> {
  for (const number of counting(to)) {
    const untilMs = performance.now() + 3
    while (performance.now() < untilMs);
    yield number
  }
}

test('all items come once and in order, and the last slice says so', async () => {
  const slices: number[][] = []
  let wasDone = false
  await inSlices(
    slowly(12),
    (items, isDone) => {
      slices.push(items)
      wasDone = isDone
      return true
    },
    new AbortController().signal,
  )
  expect(slices.flat()).toEqual([...counting(12)])
  expect(slices.length).toBeGreaterThan(2)
  expect(wasDone).toBe(true)
})

test('it ends when there is enough, and when nobody wants it any more', async () => {
  const taken: number[] = []
  const take = (items: number[]) => {
    taken.push(...items)
    return taken.length < 2
  }
  await inSlices(slowly(1_000), take, new AbortController().signal)
  expect(taken.length).toBeLessThan(20)
  const never = await inSlices(counting(3), () => true, AbortSignal.abort())
  expect(never).toBeUndefined()
})
