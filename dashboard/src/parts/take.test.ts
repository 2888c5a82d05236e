import { describe, expect, it } from 'vitest'
import { take } from './take.ts'

const never = new AbortController().signal

async function* numbers(count: number): AsyncGenerator<number> {
  for (let number = 1; number <= count; number += 1) yield number
}

describe('the first of a list', () => {
  it('are so many and no more, and it is said whether there are others', async () => {
    const options = { signal: never, budgetMs: 10_000 }
    expect(await take(() => numbers(5), 3, options)).toEqual({ items: [1, 2, 3], hasMore: true, isCut: false })
    expect(await take(() => numbers(3), 3, options)).toEqual({ items: [1, 2, 3], hasMore: false, isCut: false })
    expect(await take(() => numbers(0), 3, options)).toEqual({ items: [], hasMore: false, isCut: false })
  })

  it('are those that were found when looking takes too long', async () => {
    async function* slow(signal: AbortSignal): AsyncGenerator<number> {
      yield 1
      await new Promise((_, stop) => signal.addEventListener('abort', () => stop(signal.reason)))
    }
    expect(await take(slow, 3, { signal: never, budgetMs: 5 })).toEqual({ items: [1], hasMore: true, isCut: true })
  })

  it('pass on what went wrong', async () => {
    // biome-ignore lint/correctness/useYield: it fails before it has anything
    async function* broken(): AsyncGenerator<number> {
      throw new Error('no answer')
    }
    await expect(take(broken, 3, { signal: never, budgetMs: 10_000 })).rejects.toThrow('no answer')
  })
})
