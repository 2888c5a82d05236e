import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { definition } from '../../test/support/definition.ts'
import type { AttemptInput, Outcome } from '../executor/executor.ts'
import { type Context, model } from './model.ts'
import { Registry } from './registry.ts'
import { runAttempt } from './run-attempt.ts'
import { AttemptScope, LOG_CUT_MESSAGE } from './scope.ts'

type Reports = { progress: unknown[]; log: unknown[][] }

function scopeOf(more: Partial<AttemptInput> = {}): { scope: AttemptScope; reports: Reports } {
  const reports: Reports = { progress: [], log: [] }
  const input = {
    runId: 'r',
    attempt: 1,
    model: 'm',
    modelVersion: '1',
    parameters: {},
    seed: 5,
    timeoutMs: 1000,
    ...more,
  }
  const scope = new AttemptScope(input, {
    progress: (value) => reports.progress.push(value),
    log: (...line) => reports.log.push(line),
  })
  return { scope, reports }
}

function runWith(run: (parameters: { n: number }, ctx: Context) => unknown, more: Partial<AttemptInput> = {}) {
  const { scope, reports } = scopeOf({ parameters: { n: 1 }, ...more })
  const registry = new Registry([model({ name: 'm', parameters: z.object({ n: z.number().max(9) }), run })])
  return { outcome: runAttempt(registry, scope), scope, reports }
}

async function errorOf(outcome: Outcome | Promise<Outcome>) {
  const settled = await outcome
  return settled.status === 'failed' ? settled.error : undefined
}

describe('outcomes', () => {
  test('a synchronous result is an outcome at once, in canonical form', () => {
    const { outcome } = runWith(({ n }) => ({ z: n, a: { 10: 1, 9: 2 } }))
    expect(outcome).toEqual({ status: 'succeeded', resultText: '{"a":{"10":1,"9":2},"z":1}' })
  })

  test('nothing returned is null', async () => {
    expect(await runWith(async () => {}).outcome).toEqual({ status: 'succeeded', resultText: 'null' })
  })

  test.each([
    ['a bigint', () => ({ rows: [{ id: 1n }] }), '/rows/0/id'],
    ['NaN', () => [Number.NaN], '/0'],
    ['NUL in a text', () => ({ text: 'a\0' }), '/text'],
    [
      'a toJSON that throws',
      () => ({
        toJSON: () => {
          throw new Error('no')
        },
      }),
      'no',
    ],
  ])('a result with %s is refused for good, with the place', async (_, run, place) => {
    const error = await errorOf(runWith(run).outcome)
    expect(error).toMatchObject({ class: 'ResultNotJson', retryable: false, message: expect.stringContaining(place) })
  })

  test('parameters that the own schema refuses fail for good', async () => {
    const error = await errorOf(runWith(() => null, { parameters: { n: 10 } }).outcome)
    expect(error).toMatchObject({
      class: 'ParametersRefused',
      retryable: false,
      message: expect.stringContaining('/n: '),
    })
  })

  test('a schema that checks asynchronously or throws is served too', async () => {
    const of = (refine: () => Promise<boolean> | never) =>
      new Registry([model({ name: 'm', parameters: z.object({}).refine(refine), run: () => 1 })])
    expect(
      await runAttempt(
        of(async () => true),
        scopeOf().scope,
      ),
    ).toMatchObject({ status: 'succeeded' })
    expect(
      await errorOf(
        runAttempt(
          of(async () => false),
          scopeOf().scope,
        ),
      ),
    ).toMatchObject({ class: 'ParametersRefused' })
    const broken = of(() => {
      throw new RangeError('schema bug')
    })
    expect(await errorOf(runAttempt(broken, scopeOf().scope))).toMatchObject({ class: 'RangeError' })
  })

  test('a model that is not offered fails the attempt', async () => {
    expect(await errorOf(runAttempt(new Registry(), scopeOf().scope))).toMatchObject({ class: 'ModelNotOffered' })
    const registry = new Registry()
    registry.declare(definition({ name: 'm', executor: 'command' }))
    const error = await errorOf(runAttempt(registry, scopeOf().scope))
    expect(error).toMatchObject({ class: 'ExecutorNotAllowed', message: expect.stringContaining('executor command') })
  })
})

describe('the context', () => {
  test('may be taken apart', () => {
    const { outcome, reports } = runWith((_, { progress, logger, random, ...rest }) => {
      const { info } = logger
      progress({ done: 1 })
      info('hello', { a: 1 })
      return [random() < 1, rest.runId, rest.attempt, rest.seed, rest.model, rest.modelVersion]
    })
    expect(outcome).toMatchObject({ resultText: '[true,"r",1,5,"m","1"]' })
    expect(reports).toEqual({ progress: [{ done: 1 }], log: [['info', 'hello', { a: 1 }]] })
  })

  test('random repeats for a seed and attempt, and differs between attempts', () => {
    const draw = (attempt: number) => runWith((_, ctx) => [ctx.random(), ctx.random()], { attempt }).outcome
    expect(draw(1)).toEqual(draw(1))
    expect(draw(1)).not.toEqual(draw(2))
  })

  test('the signal tells the first reason, whether it is looked at before or after', async () => {
    const { promise: told, resolve: tell } = Promise.withResolvers<void>()
    const { outcome, scope } = runWith(async (_, ctx) => {
      await told
      return [ctx.signal.aborted, ctx.signal.reason.reason]
    })
    scope.abort('lease-lost')
    scope.abort('timeout')
    tell()
    expect(await outcome).toMatchObject({ resultText: '[true,"lease-lost"]' })
  })

  test('what is thrown after the signal is the answer to it', async () => {
    const waiting = (_: unknown, { signal }: Context) =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    const cancelled = runWith(waiting)
    cancelled.scope.abort('cancelled')
    expect(await cancelled.outcome).toEqual({ status: 'cancelled' })
    const late = runWith(waiting)
    late.scope.abort('timeout')
    expect(await errorOf(late.outcome)).toMatchObject({ class: 'Timeout', message: expect.stringContaining('1 s') })
  })

  test('progress and log fields that are no JSON are left out with a word, and never throw', () => {
    const circle: Record<string, unknown> = {}
    circle.self = circle
    const { outcome, reports } = runWith((_, ctx) => {
      ctx.progress(circle)
      ctx.progress('x'.repeat(20_000))
      ctx.logger.warn('bad\0text', circle)
    })
    expect(outcome).toMatchObject({ status: 'succeeded' })
    expect(reports.progress).toEqual([])
    expect(reports.log.map(([level]) => level)).toEqual(['warn', 'warn', 'warn'])
    expect(reports.log[2]).toEqual(['warn', 'bad\uFFFDtext', { fields_left_out: expect.stringContaining('itself') }])
  })

  test('a flood of log lines is cut with a mark', () => {
    const { reports } = runWith((_, ctx) => {
      for (let line = 0; line < 400; line++) ctx.logger.info('x'.repeat(10_000))
    })
    expect(reports.log.length).toBeLessThan(200)
    expect(reports.log.at(-1)).toEqual(['warn', LOG_CUT_MESSAGE])
  })
})
