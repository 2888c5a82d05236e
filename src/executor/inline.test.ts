import { describe, expect, test } from 'vitest'
import { model } from '../model/model.ts'
import { Registry } from '../model/registry.ts'
import { attemptOf, Notes, outcomeOf, resultOf, start } from './fixtures/attempts.ts'
import * as behaviours from './fixtures/behaviours.ts'
import { InlineExecutor } from './inline.ts'

const registry = new Registry(Object.values(behaviours))
const executor = new InlineExecutor({ registry, timeoutGraceMs: 10 })

describe('an inline attempt', () => {
  test('runs in this process and reports as it goes', async () => {
    const notes = new Notes()
    const result = await resultOf(executor, attemptOf('echo', { a: 1 }), notes)
    expect(result).toMatchObject({ parameters: { a: 1 }, pid: process.pid })
  })

  test('the latest cost is reported, and what is no amount is a mistake told to the model', async () => {
    const notes = new Notes()
    expect(await resultOf(executor, attemptOf('costs'), notes)).toMatch(/NaN must be a number from 0/)
    expect(notes.costs.at(-1)).toBe(10)
  })

  test('an error of a synchronous or an asynchronous function is a failed attempt', async () => {
    const outcome = await outcomeOf(executor, attemptOf('throws', { kind: 'text' }))
    expect(outcome).toMatchObject({ status: 'failed', error: { class: 'NotAnError', stack: null } })
    expect(await outcomeOf(executor, attemptOf('not-json'))).toMatchObject({
      status: 'failed',
      error: { class: 'ResultNotJson', retryable: false, message: expect.stringContaining('/deep/0') },
    })
  })

  test('a timeout fires the signal and fails the attempt', async () => {
    const outcome = await outcomeOf(executor, attemptOf('waits', {}, { timeoutMs: 5 }))
    expect(outcome).toMatchObject({ status: 'failed', error: { class: 'Timeout' } })
  })

  test('code that does not stop at its timeout is given up after the grace', async () => {
    const outcome = await outcomeOf(executor, attemptOf('ignores', {}, { timeoutMs: 5 }))
    const error = { class: 'Timeout', message: expect.stringContaining('did not stop') }
    expect(outcome).toMatchObject({ status: 'failed', error })
  })

  test('cancel resolves when the code has ended', async () => {
    const { handle } = await start(executor, attemptOf('waits'))
    await executor.cancel(handle, 'cancelled', 60_000)
    expect(await executor.watch(handle)).toEqual({ status: 'cancelled' })
    await executor.cancel(handle, 'cancelled', 60_000)
  })

  test('code that ignores its signal is given up, and what it reports later is dropped', async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    const reported = Promise.withResolvers<void>()
    const deaf = model({
      name: 'deaf',
      parameters: behaviours.echo.parameters,
      async run(_, ctx) {
        await released
        ctx.logger.info('too late')
        ctx.progress('too late')
        reported.resolve()
      },
    })
    const lonely = new InlineExecutor({ registry: new Registry([deaf]) })
    const { handle, notes } = await start(lonely, attemptOf('deaf'))
    await lonely.cancel(handle, 'lease-lost', 1)
    expect(await lonely.watch(handle)).toEqual({ status: 'cancelled' })
    release()
    await reported.promise
    expect(notes).toMatchObject({ lines: [], progressValues: [] })
  })

  test('a timeout beyond what the platform can count does not fire at once', async () => {
    const notes = new Notes()
    expect(await resultOf(executor, attemptOf('idles', { ms: 5 }, { timeoutMs: 1e12 }), notes)).toBe(process.pid)
  })
})
