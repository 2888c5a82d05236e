import { describe, expect, test } from 'vitest'
import { Book, errorOf, inRun, perform } from './fixtures/step-book.ts'

describe('a map', () => {
  test('does so many at once and gives the results in order, each an item of its own', async () => {
    const book = new Book()
    let now = 0
    let most = 0
    const made = inRun((ctx) =>
      ctx.map(
        'pages',
        new Set([5, 4, 3, 2, 1]),
        async (page, _, index) => {
          most = Math.max(most, ++now)
          for (let turn = 0; turn < page; turn += 1) await new Promise(setImmediate)
          now -= 1
          return page * 10 + index
        },
        { concurrency: 2 },
      ),
    )
    expect(await perform(made, book)).toMatchObject({ resultText: '[50,41,32,23,14]' })
    expect(most).toBe(2)
    expect(book.names.toSorted()).toEqual(['pages', 'pages[0]', 'pages[1]', 'pages[2]', 'pages[3]', 'pages[4]'])
    expect(book.committed.at(-1)).toMatchObject({ name: 'pages', outputText: '{"items":5}' })
  })

  test('goes on with the items that are not done', async () => {
    const done: number[] = []
    const book = new Book({ 'pages[0]': 'a', 'pages[2]': 'c' })
    const made = inRun((ctx) => ctx.map('pages', [0, 1, 2, 3], (_, __, index) => done.push(index)))
    expect(await perform(made, book)).toMatchObject({ resultText: '["a",1,"c",2]' })
    expect(done).toEqual([1, 3])
  })

  test('fails with an item whose tries are used up, after those under way, and begins no more', async () => {
    const book = new Book()
    const begun: number[] = []
    const made = inRun((ctx) =>
      ctx.map(
        'pages',
        [0, 1, 2, 3, 4, 5],
        async (page) => {
          begun.push(page)
          if (page === 0) throw new RangeError('no page')
          for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate)
          return page
        },
        { concurrency: 2, retries: 0 },
      ),
    )
    const error = await errorOf(perform(made, book))
    expect(error.message).toBe('step "pages[0]" failed once; last error: RangeError: no page')
    expect(begun).toEqual([0, 1])
    expect(book.names).toEqual(['pages[1]'])
    expect(book.told).toMatchObject([
      { name: 'pages', state: 'FAILED', items: { done: 1, of: 6 } },
      { name: 'pages[0]', state: 'FAILED', lastError: { class: 'RangeError' } },
    ])
  })

  test('of nothing is an empty list, and too long a name is refused', async () => {
    expect(await perform(inRun((ctx) => ctx.map('pages', [], () => 1)))).toMatchObject({ resultText: '[]' })
    const long = inRun((ctx) => ctx.map('x'.repeat(121), [], () => 1))
    expect((await errorOf(perform(long))).message).toContain('1 to 120')
  })
})
