import { describe, expect, expectTypeOf, test } from 'vitest'
import { Book, inRun, parameters, perform } from './fixtures/step-book.ts'
import { type Model, model, type StepOptions } from './model.ts'
import { Registry } from './registry.ts'

describe('a model made of steps', () => {
  const start = model({ name: 'm', parameters, version: '2' })
  const three = start
    .step('double', ({ n }) => n * 2)
    .step('say', async (twice, ctx) => ({ text: `${twice} of ${ctx.parameters.n}` }))
    .step('cut', ({ text }) => [text.length])

  test('hands the output of each step to the next; the last is the result', async () => {
    const book = new Book()
    const old = model({ name: 'm', parameters })
      .step('double', ({ n }) => n * 2)
      .step('less', (n) => n - 1)
    expect(await perform(old, book)).toEqual({ status: 'succeeded', resultText: '9' })
    expect(book.committed).toMatchObject([
      { name: 'double', outputText: '10', tries: 1, startedAt: expect.any(Date), cpuSeconds: null },
      { name: 'less', outputText: '9' },
    ])
  })

  test('is typed from the parameters to the result', () => {
    expectTypeOf(three.run).returns.toEqualTypeOf<number[] | Promise<number[]>>()
    start.step('a', (input, ctx) => {
      expectTypeOf(input).toEqualTypeOf<{ n: number }>()
      expectTypeOf(ctx.parameters).toEqualTypeOf<{ n: number }>()
    })
    three.step('b', (input) => expectTypeOf(input).toEqualTypeOf<number[]>())
    inRun(async (ctx) => {
      expectTypeOf(await ctx.step('a', async () => 'x')).toEqualTypeOf<string>()
      expectTypeOf(await ctx.map('b', [1], async (item) => `${item}`)).toEqualTypeOf<string[]>()
    })
    expectTypeOf(start).not.toExtend<Model>()
    expectTypeOf(three).toExtend<Model>()
  })

  test('each call makes a new frozen model with its steps in the definition', () => {
    expect(three.definition).toMatchObject({ version: '2', steps: ['double', 'say', 'cut'] })
    expect(start.definition.steps).toBeUndefined()
    expect(Object.isFrozen(start) && Object.isFrozen(three)).toBe(true)
  })

  test('without steps and without run it is refused where it is loaded', () => {
    expect(() => new Registry([start as unknown as Model])).toThrow('has nothing to do')
  })

  test.each([
    [['double', () => 1], 'already'],
    [['', () => 1], 'printable ASCII'],
    [['x'.repeat(129), () => 1], '1 to 128'],
    [['é', () => 1], 'printable ASCII'],
    [['pages[3]', () => 1], 'item of a map'],
    [['a', null], 'needs a function'],
    [['a', () => 1, { retries: -1 }], 'retries must be'],
    [['a', () => 1, { concurrency: 2 }], 'no option concurrency'],
    [['a', () => 1, { backoff: { jitter: 2 } }], 'jitter must be'],
  ])('a wrong step is refused where it is written: %j', (given, problem) => {
    const [name, work, options] = given as [string, () => unknown, StepOptions?]
    expect(() => three.step(name, work, options)).toThrow(problem)
  })
})
