/** A context may be taken apart, outside a step and inside one. */

import { expect, test } from 'vitest'
import { Book, inRun, perform } from './fixtures/step-book.ts'

test('what was taken out of a context works on its own, inside steps too', async () => {
  const book = new Book()
  const made = inRun(async ({ step, map, random, progress, logger, cost, signal, runId }) => {
    const first = random()
    const inner = await step('outer', async ({ step: own, map: each, random: draw, runId: same, signal: theirs }) => {
      const second = draw()
      return [
        same === runId,
        theirs.aborted,
        second !== first,
        await own('a', () => 1),
        await each('b', [1, 2], (n) => n),
      ]
    })
    progress(1)
    logger.info('hello')
    expect(() => cost(-1)).toThrow()
    return [signal.aborted, ...inner, await map('c', [3], (n) => n)]
  })
  expect(await perform(made, book)).toMatchObject({ resultText: '[false,true,false,true,1,[1,2],[3]]' })
})

test('a part of it can be replaced in an object made from it', async () => {
  const seen: string[] = []
  const made = inRun(async (ctx) => {
    const step: typeof ctx.step = (name, work, options) => {
      seen.push(name)
      return ctx.step(name, work, options)
    }
    const own: typeof ctx = Object.create(ctx, { step: { value: step } })
    return [own.random() !== ctx.random(), own.runId === ctx.runId, await own.step('a', () => 1), own.files]
  })
  expect(await perform(made, new Book())).toMatchObject({ resultText: '[true,true,1,[]]' })
  expect(seen).toEqual(['a'])
})

test('the sequence of random numbers goes on inside a step', async () => {
  const draws = (isInStep: boolean) =>
    perform(
      inRun(async (ctx) => [ctx.random(), isInStep ? await ctx.step('a', (inner) => inner.random()) : ctx.random()]),
      new Book(),
    )
  expect(await draws(true)).toEqual(await draws(false))
})
