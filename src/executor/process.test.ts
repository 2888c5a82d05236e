import { afterAll, describe, expect, test } from 'vitest'
import type { Outcome } from './executor.ts'
import { attemptOf, gone, isAlive, Notes, outcomeOf, resultOf, start } from './fixtures/attempts.ts'
import { executorWith, stopExecutors } from './fixtures/executors.ts'
import type { ProcessExecutor } from './process.ts'

afterAll(stopExecutors)

const shared = executorWith()

/** After whatever happened, the next attempt is served as if nothing had. */
async function expectHealthy(executor: ProcessExecutor): Promise<void> {
  expect(await resultOf(executor, attemptOf('echo', { a: 1 }))).toMatchObject({ parameters: { a: 1 } })
}

function errorOf(outcome: Outcome): { class: string; message: string; exitCode?: number | null } {
  if (outcome.status !== 'failed') throw new Error(`expected a failure, got ${JSON.stringify(outcome)}`)
  return outcome.error
}

describe('a healthy attempt', () => {
  test('no child is started before the first attempt, and one child serves attempts one after the other', async () => {
    const executor = executorWith()
    expect(executor.childCount).toBe(0)
    const first = await resultOf(executor, attemptOf('echo'))
    const second = await resultOf(executor, attemptOf('echo', {}, { attempt: 2 }))
    expect(executor.childCount).toBe(1)
    expect(second).toMatchObject({ pid: (first as { pid: number }).pid, served: 2, attempt: 2, runId: 'run-1' })
  })

  test('the child reads the input files where they were copied to', async () => {
    const path = import.meta.filename
    const file = { parameter: '/document', fileId: 'a'.repeat(64), name: 'x.txt', bytes: 1, type: 'text/plain', path }
    const seen = await resultOf(shared, attemptOf('reads-file', {}, { files: [file] }))
    expect(seen).toMatchObject({
      name: 'x.txt',
      path,
      count: 1,
      text: expect.stringContaining('reads the input files'),
    })
  })

  test('errors cross the border with class, message, stack and what they ask for', async () => {
    const thrown = errorOf(await outcomeOf(shared, attemptOf('throws', { kind: 'error' })))
    expect(thrown).toMatchObject({ class: 'RangeError', message: 'out of range' })
    expect(thrown).toHaveProperty('stack', expect.stringContaining('behaviours.ts'))
    const fatal = await outcomeOf(shared, attemptOf('throws', { kind: 'fatal' }))
    expect(errorOf(fatal)).toMatchObject({ class: 'Fatal', retryable: false })
    const later = await outcomeOf(shared, attemptOf('throws', { kind: 'retry-after' }))
    expect(errorOf(later)).toMatchObject({ class: 'RetryAfter', retryAfterSeconds: 7 })
  })

  test('a model with a plain JSON Schema runs and checks its parameters again', async () => {
    expect(await resultOf(shared, attemptOf('by-json-schema', { n: 1 }))).toBe(2)
    const refused = errorOf(await outcomeOf(shared, attemptOf('by-json-schema', { n: 'x' })))
    expect(refused).toMatchObject({ class: 'ParametersRefused', message: expect.stringContaining('/n') })
  })

  test('output arrives line by line before the outcome, with logger lines and the latest progress', async () => {
    const notes = new Notes()
    await resultOf(shared, attemptOf('prints'), notes)
    expect(notes.messages.toSorted()).toEqual(['by logger', 'first line', 'second line', 'to stderr, without an end'])
    expect(notes.lines).toContainEqual({
      level: 'warn',
      message: 'to stderr, without an end',
      fields: { stream: 'stderr' },
    })
    expect(notes.lines).toContainEqual({ level: 'info', message: 'by logger', fields: { answer: 42 } })
    expect(notes.progressValues.at(-1)).toEqual({ done: 2 })
  })

  test('the latest cost arrives before the outcome, and not every one', async () => {
    const notes = new Notes()
    await resultOf(shared, attemptOf('costs'), notes)
    expect(notes.costs.at(-1)).toBe(10)
    expect(notes.costs.length).toBeLessThan(100)
  })

  test('a flood of output is cut at a line and at an attempt', async () => {
    const notes = new Notes()
    expect(await resultOf(shared, attemptOf('floods'), notes)).toBe('done')
    const kept = notes.messages.reduce((sum, message) => sum + message.length, 0)
    expect(Math.max(...notes.messages.map((message) => message.length))).toBeLessThan(8300)
    expect(kept).toBeLessThan(1024 * 1024 + 10_000)
    expect(notes.messages.at(-1)).toContain('left out')
  })

  test('what an earlier attempt left running reports nothing into the next', async () => {
    const executor = executorWith({ childrenMax: 1 })
    const pid = await resultOf(executor, attemptOf('leaves-activity'))
    const notes = new Notes()
    expect(await resultOf(executor, attemptOf('idles', { ms: 50 }), notes)).toBe(pid)
    expect(notes).toMatchObject({ lines: [], progressValues: [] })
  })

  test('the child sees only the allowed part of the environment', async () => {
    const env = {
      PATH: '/bin',
      LC_ALL: 'C',
      DATABASE_URL: 'postgres://secret',
      HOLDFAST_TOKEN: 'secret',
      EXTRA: 'x',
      OTHER: 'y',
    }
    const executor = executorWith({ env, envNames: ['EXTRA'] })
    const seen = (await resultOf(executor, attemptOf('environment'))) as Record<string, string>
    const ours = Object.keys(seen).filter((name) => !name.startsWith('NODE_'))
    expect(ours.toSorted()).toEqual(['EXTRA', 'LC_ALL', 'PATH'])
  })
})

describe('an attempt that breaks its process', () => {
  test('process.exit is a crash with the exit code', async () => {
    const error = errorOf(await outcomeOf(shared, attemptOf('exits')))
    expect(error).toMatchObject({ class: 'ProcessCrashed', exitCode: 3, message: expect.stringContaining('code 3') })
    await expectHealthy(shared)
  })

  test('a segmentation fault is a crash that names the signal', async () => {
    const error = errorOf(await outcomeOf(shared, attemptOf('signals', { signal: 'SIGSEGV' })))
    expect(error).toMatchObject({ class: 'ProcessCrashed', exitCode: 139, message: expect.stringContaining('SIGSEGV') })
    await expectHealthy(shared)
  })

  test('an exception nobody caught fails the attempt that runs', async () => {
    const error = errorOf(await outcomeOf(shared, attemptOf('stray-error', { kind: 'timer' })))
    expect(error).toMatchObject({ class: 'TypeError', message: 'nobody catches me' })
    await expectHealthy(shared)
  })

  test('a rejection nobody handles fails the attempt that runs', async () => {
    const error = errorOf(await outcomeOf(shared, attemptOf('stray-error', { kind: 'promise' })))
    expect(error).toMatchObject({ class: 'TypeError', message: 'nobody waits for me' })
    await expectHealthy(shared)
  })

  test('closing the channel is a crash', async () => {
    expect(errorOf(await outcomeOf(shared, attemptOf('disconnects'))).class).toBe('ProcessCrashed')
    await expectHealthy(shared)
  })

  test('a full heap is OutOfMemory', async () => {
    const executor = executorWith({ memoryLimitMb: 2_000, execArgv: ['--max-old-space-size=32'] })
    expect(errorOf(await outcomeOf(executor, attemptOf('fills-heap')))).toMatchObject({
      class: 'OutOfMemory',
      exitCode: 134,
    })
    await expectHealthy(executor)
  })

  test('more resident memory than allowed is MemoryLimit', async () => {
    const executor = executorWith({ memoryLimitMb: 200 })
    const error = errorOf(await outcomeOf(executor, attemptOf('fills-memory')))
    expect(error).toMatchObject({ class: 'MemoryLimit', message: expect.stringContaining('limit of 200 MB') })
    await expectHealthy(executor)
  })
})

test('a child that keeps much of its memory is replaced after the attempt', async () => {
  const executor = executorWith({ memoryLimitMb: 400 })
  const pid = await resultOf(executor, attemptOf('keeps-memory', { mb: 200 }))
  expect(await resultOf(executor, attemptOf('echo'))).not.toMatchObject({ pid })
})

describe('an attempt that takes too long', () => {
  test('it is told by its signal, and its child is used again', async () => {
    const executor = executorWith()
    const before = await resultOf(executor, attemptOf('echo'))
    const error = errorOf(await outcomeOf(executor, attemptOf('waits', {}, { timeoutMs: 20 })))
    expect(error).toMatchObject({ class: 'Timeout', message: expect.stringContaining('0.02 s') })
    expect(await resultOf(executor, attemptOf('echo'))).toMatchObject({ pid: (before as { pid: number }).pid })
  })

  test('an endless loop is killed with the program it started', async () => {
    await expectHealthy(shared)
    const { handle, notes } = await start(shared, attemptOf('loops', { withProgram: true }, { timeoutMs: 1_000 }))
    const { pid, program } = (await notes.firstProgress) as { pid: number; program: number }
    expect(errorOf(await shared.watch(handle)).class).toBe('Timeout')
    await gone([pid, program])
    await expectHealthy(shared)
  })
})

describe('a cancelled attempt', () => {
  test('user code that answers its signal ends as cancelled and keeps its child', async () => {
    const executor = executorWith()
    const { handle, notes } = await start(executor, attemptOf('waits'))
    const { pid } = (await notes.firstProgress) as { pid: number }
    await executor.cancel(handle, 'cancelled', 10_000)
    expect(await executor.watch(handle)).toEqual({ status: 'cancelled' })
    expect(await resultOf(executor, attemptOf('echo'))).toMatchObject({ pid })
  })

  test('a result that comes after the signal stands, and the reason is told', async () => {
    const { handle, notes } = await start(shared, attemptOf('finishes-anyway'))
    await notes.firstProgress
    await shared.cancel(handle, 'lease-lost', 10_000)
    expect(await shared.watch(handle)).toEqual({ status: 'succeeded', resultText: '{"reason":"lease-lost"}' })
  })

  test('user code that ignores its signal is killed after the grace', async () => {
    const { handle, notes } = await start(shared, attemptOf('ignores'))
    const { pid } = (await notes.firstProgress) as { pid: number }
    await Promise.all([shared.cancel(handle, 'cancelled', 50), shared.cancel(handle, 'cancelled', 10_000)])
    expect(await shared.watch(handle)).toEqual({ status: 'cancelled' })
    expect(isAlive(pid)).toBe(false)
    await expectHealthy(shared)
  })

  test('a deaf program that it leaves behind is killed although user code ended by itself', async () => {
    const { handle, notes } = await start(shared, attemptOf('starts-program'))
    const { program } = (await notes.firstProgress) as { program: number }
    await shared.cancel(handle, 'cancelled', 10_000)
    await gone([program])
  })

  test('an attempt that still waits for a child ends at once', async () => {
    const executor = executorWith({ childrenMax: 1 })
    const busy = await start(executor, attemptOf('ignores'))
    const waiting = await start(executor, attemptOf('echo'))
    await executor.cancel(waiting.handle, 'cancelled', 10_000)
    expect(await executor.watch(waiting.handle)).toEqual({ status: 'cancelled' })
    await executor.cancel(busy.handle, 'cancelled', 0)
    expect(await executor.watch(busy.handle)).toEqual({ status: 'cancelled' })
  })
})
