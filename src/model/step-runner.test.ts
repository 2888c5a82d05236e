import { describe, expect, test } from 'vitest'
import type { StepState } from '../executor/executor.ts'
import { stepNotKept } from '../run/step-failure.ts'
import { Book, errorOf, inRun, parameters, perform, QUICK, rangeError, scopeOf } from './fixtures/step-book.ts'
import { type Context, Fatal, model, RetryAfter, type StepOptions } from './model.ts'

describe('a step that is done', () => {
  test('is not done again, by a model made of steps or inside run', async () => {
    const never = () => {
      throw new Error('it ran again')
    }
    const book = new Book({ a: { list: [1] }, b: 2 })
    const stepped = model({ name: 'm', parameters })
      .step('a', never)
      .step('b', never)
      .step('c', (b) => ({ b }))
    expect(await perform(stepped, book)).toEqual({ status: 'succeeded', resultText: '{"b":2}' })
    expect(book.names).toEqual(['c'])
    const within = inRun(async (ctx) => [await ctx.step('a', never), await ctx.step('b', () => never())])
    expect(await perform(within, new Book({ a: 1, b: 2 }))).toMatchObject({ resultText: '[1,2]' })
  })

  test('gives the same whether it was just done or read back', async () => {
    const seen: unknown[] = []
    const made = model({ name: 'm', parameters })
      .step('a', () => ({ at: new Date(0), none: undefined, z: 1, a: 2 }))
      .step('b', (value) => void seen.push(value))
    const book = new Book()
    await perform(made, book)
    await perform(made, Object.assign(new Book(), { before: book.committed.slice(0, 1) }))
    expect(seen).toEqual([seen[1], { at: '1970-01-01T00:00:00.000Z', a: 2, z: 1 }])
    expect(Object.keys(seen[0] as object)).toEqual(Object.keys(seen[1] as object))
  })
})

describe('tries', () => {
  test('a step is tried again where it stands, and the states tell of it', async () => {
    const book = new Book()
    const seen: StepState[][] = []
    let calls = 0
    const made = inRun((ctx) =>
      ctx.step(
        'flaky',
        () => {
          seen.push(book.told)
          if (++calls < 3) throw new RangeError(`no ${calls}`)
          return calls
        },
        QUICK,
      ),
    )
    expect(await perform(made, book)).toMatchObject({ resultText: '3' })
    expect(book.committed).toMatchObject([{ name: 'flaky', tries: 3 }])
    expect(seen[1]).toMatchObject([
      { name: 'flaky', state: 'RUNNING', tries: 2, lastError: { class: 'RangeError', message: 'no 1' } },
    ])
  })

  test('after four tries it is a RetryError with the last error, and the run is not retried', async () => {
    const book = new Book()
    let calls = 0
    const failing = () => {
      calls += 1
      throw new TypeError(`bad ${calls}`)
    }
    const made = model({ name: 'm', parameters }).step('parse', failing, QUICK)
    const error = await errorOf(perform(made, book))
    expect(error).toMatchObject({
      class: 'RetryError',
      message: 'step "parse" failed 4 times; last error: TypeError: bad 4',
      retryable: false,
      stack: expect.stringContaining('TypeError: bad 4'),
    })
    expect(book.told).toMatchObject([
      { name: 'parse', state: 'FAILED', tries: 4, lastError: { class: 'TypeError', message: 'bad 4' } },
    ])
    expect(book.names).toEqual([])
  })

  test('a model whose policy names RetryError is retried', async () => {
    const made = inRun((ctx) => ctx.step('a', () => Promise.reject(new Error('x')), { retries: 0 }), {
      retry: { retryOn: ['RetryError'] },
    })
    const error = await errorOf(perform(made))
    expect(error).toMatchObject({ class: 'RetryError', message: 'step "a" failed once; last error: Error: x' })
    expect(error.retryable).toBeUndefined()
  })

  test.each([
    ['noRetryOn', { noRetryOn: ['RangeError'] }],
    ['retryOn', { retryOn: ['TypeError'] }],
  ])('%s decides which errors are tried again', async (_, options) => {
    const error = await errorOf(perform(inRun((ctx) => ctx.step('a', rangeError, { ...QUICK, ...options }))))
    expect(error.message).toContain('failed once; last error: RangeError')
  })

  test('Fatal ends it at once with its own class', async () => {
    let calls = 0
    const fatal = () => {
      calls += 1
      throw new Fatal('never')
    }
    expect(await errorOf(perform(inRun((ctx) => ctx.step('a', fatal))))).toMatchObject({
      class: 'Fatal',
      retryable: false,
    })
    expect(calls).toBe(1)
  })

  test('a short RetryAfter is waited for inside, a long one is left to the run', async () => {
    let calls = 0
    const soon = () => {
      if (++calls === 1) throw new RetryAfter(0.001)
      return calls
    }
    expect(await perform(inRun((ctx) => ctx.step('a', soon)))).toMatchObject({ resultText: '2' })
    const late = () => {
      throw new RetryAfter(31)
    }
    expect(await errorOf(perform(inRun((ctx) => ctx.step('a', late))))).toMatchObject({
      class: 'RetryAfter',
      retryAfterSeconds: 31,
    })
  })

  test('a try that takes too long is told by its signal and not waited for', async () => {
    const book = new Book()
    const signals: AbortSignal[] = []
    const stuck = (ctx: Context) => {
      signals.push(ctx.signal)
      return new Promise(() => {})
    }
    const error = await errorOf(
      perform(
        inRun((ctx) => ctx.step('a', stuck, { ...QUICK, retries: 1, timeoutSeconds: 0.01 })),
        book,
      ),
    )
    expect(error.message).toBe(
      'step "a" failed 2 times; last error: StepTimeout: step "a" took longer than its limit of 0.01 s',
    )
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true])
  })

  test('an attempt that is stopped does not wait for its next try', async () => {
    const book = new Book()
    const scope = scopeOf(book)
    const made = inRun((ctx) => ctx.step('a', rangeError, { backoff: { baseDelaySeconds: 600, maxDelaySeconds: 600 } }))
    const outcome = perform(made, book, scope)
    await expect.poll(() => book.told[0]?.state).toBe('WAITING')
    scope.abort('cancelled')
    expect(await outcome).toEqual({ status: 'cancelled' })
  })
})

describe('what is refused', () => {
  test('an output that is no JSON, with the step and the place', async () => {
    let calls = 0
    const big = () => ({ rows: [BigInt(++calls)] })
    const error = await errorOf(perform(inRun((ctx) => ctx.step('load', big))))
    expect(error).toMatchObject({ class: 'StepOutputNotJson', retryable: false })
    expect(error.message).toContain('"load"')
    expect(error.message).toContain('/rows/0')
    expect(calls).toBe(1)
  })

  test.each([
    ['the same name twice', (ctx: Context) => ctx.step('a', () => 1).then(() => ctx.step('a', () => 2)), 'there twice'],
    ['a name of the database', (ctx: Context) => ctx.step('a\n', () => 1), 'printable ASCII'],
    ['options that are none', (ctx: Context) => ctx.step('a', () => 1, { tries: 3 } as StepOptions), 'no option tries'],
  ])('%s', async (_, run, problem) => {
    expect(await errorOf(perform(inRun(run)))).toMatchObject({
      class: 'StepRefused',
      retryable: false,
      message: expect.stringContaining(problem),
    })
  })

  test('an output that was not kept: the step is not tried again, the attempt is', async () => {
    const book = new Book()
    book.refuse = ({ name }) => stepNotKept(name, 'the disk is full')
    let calls = 0
    const error = await errorOf(
      perform(
        inRun((ctx) => ctx.step('a', () => ++calls)),
        book,
      ),
    )
    expect(error).toMatchObject({
      class: 'StepNotKept',
      retryable: true,
      message: 'the output of the step "a" could not be stored: the disk is full',
    })
    expect(calls).toBe(1)
  })

  test('a step that comes after the end of the attempt', async () => {
    const book = new Book()
    const late = Promise.withResolvers<unknown>()
    await perform(
      inRun((ctx) => void setImmediate(() => late.resolve(ctx.step('a', () => 1).catch((error) => error)))),
      book,
    )
    expect(await late.promise).toMatchObject({ name: 'StepOver' })
    expect(book.names).toEqual([])
  })
})

describe('steps inside a step', () => {
  test('are not done again when the outer one is tried again', async () => {
    const book = new Book()
    const calls: string[] = []
    const made = inRun((ctx) =>
      ctx.step(
        'outer',
        async (own) => {
          const inner = await own.step('inner', () => calls.push('inner'))
          const pages = await own.map('pages', [1, 2], (page) => calls.push(`page ${page}`))
          calls.push('outer')
          if (calls.filter((call) => call === 'outer').length === 1) throw new Error('once more')
          return [inner, pages.length]
        },
        QUICK,
      ),
    )
    expect(await perform(made, book)).toMatchObject({ resultText: '[1,2]' })
    expect(calls).toEqual(['inner', 'page 1', 'page 2', 'outer', 'outer'])
    expect(book.names).toEqual(['inner', 'pages[0]', 'pages[1]', 'pages', 'outer'])
  })

  test('that are used up are not multiplied by the tries of the outer one', async () => {
    let calls = 0
    const inner = (ctx: Context) =>
      ctx.step('inner', () => Promise.reject(new Error(`${++calls}`)), { ...QUICK, retries: 1 })
    const error = await errorOf(perform(inRun((ctx) => ctx.step('outer', inner, QUICK))))
    expect([calls, error.message]).toEqual([2, 'step "inner" failed 2 times; last error: Error: 2'])
  })

  test('of a try that took too long commit nothing', async () => {
    const book = new Book()
    const release = Promise.withResolvers<number>()
    const left: Promise<unknown>[] = []
    const stuck = (ctx: Context) => {
      left.push(ctx.step('inner', () => release.promise).catch((error: Error) => error))
      return new Promise(() => {})
    }
    await perform(
      inRun((ctx) => ctx.step('outer', stuck, { retries: 0, timeoutSeconds: 0.01 })),
      book,
    )
    release.resolve(1)
    expect(await left[0]).toMatchObject({ name: 'StepOver' })
    expect(book.names).toEqual([])
  })
})
