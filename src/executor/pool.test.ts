import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { attemptOf, FIXTURES, gone, isAlive, outcomeOf, resultOf, start } from './fixtures/attempts.ts'
import { executorWith, stopExecutors } from './fixtures/executors.ts'
import type { ProcessExecutor } from './process.ts'

async function pidOf(executor: ProcessExecutor, alone = false): Promise<number> {
  const { pid } = (await resultOf(executor, attemptOf('echo', {}, { alone }))) as { pid: number }
  return pid
}

afterAll(stopExecutors)

test('there are never more children than allowed, and who waits is served when one is free', async () => {
  const executor = executorWith({ childrenMax: 2 })
  const attempts = [1, 2, 3, 4, 5].map((attempt) => resultOf(executor, attemptOf('idles', { ms: 5 }, { attempt })))
  const pids = await Promise.all(attempts)
  expect(new Set(pids).size).toBeLessThanOrEqual(2)
  expect(executor.childCount).toBeLessThanOrEqual(2)
})

test('an attempt that is to run alone gets a fresh child, which ends with it', async () => {
  const executor = executorWith({ childrenMax: 1 })
  const shared = await pidOf(executor)
  const alone = await pidOf(executor, true)
  expect(alone).not.toBe(shared)
  expect([shared, alone]).not.toContain(await pidOf(executor))
  await gone([shared, alone])
})

test('idle children beyond the number kept are ended after a while', async () => {
  const executor = executorWith({ childrenMax: 2, idleMs: 20, idleKept: 1 })
  const both = await Promise.all([1, 2].map(() => start(executor, attemptOf('waits'))))
  const running = (await Promise.all(both.map(({ notes }) => notes.firstProgress))) as { pid: number }[]
  const pids = running.map(({ pid }) => pid)
  for (const { handle } of both) await executor.cancel(handle, 'cancelled', 10_000)
  await expect.poll(() => pids.filter(isAlive).length, { timeout: 5_000 }).toBe(1)
})

test('a child that dies while idle is replaced unnoticed', async () => {
  const executor = executorWith()
  const pid = await pidOf(executor)
  process.kill(pid, 'SIGKILL')
  // The death is not waited for, so the next attempt may well be handed to the dying child.
  expect(await pidOf(executor)).not.toBe(pid)
})

test('stop leaves no process behind, and nothing is accepted after it', async () => {
  const executor = executorWith()
  const idle = await pidOf(executor)
  const { handle, notes } = await start(executor, attemptOf('loops', { withProgram: true }))
  const { pid, program } = (await notes.firstProgress) as { pid: number; program: number }
  await executor.stop()
  expect(await executor.watch(handle)).toEqual({ status: 'cancelled' })
  expect(executor.childCount).toBe(0)
  expect([idle, pid].filter(isAlive)).toEqual([])
  await gone([program])
  await expect(executor.submit(attemptOf('echo'), notes)).rejects.toThrow('stopped')
})

test('models that cannot be loaded fail the attempt with the reason, each time anew', async () => {
  const executor = executorWith({ modules: ['./missing.ts'] })
  for (const attempt of [1, 2]) {
    const outcome = await outcomeOf(executor, attemptOf('echo', {}, { attempt }))
    const error = { class: 'ModelsNotLoaded', message: expect.stringContaining('missing.ts') }
    expect(outcome).toMatchObject({ status: 'failed', error })
  }
})

test('a module that ends its process while it is loaded fails the attempt', async () => {
  const outcome = await outcomeOf(executorWith({ modules: ['./exits-at-import.ts'] }), attemptOf('echo'))
  const error = { class: 'ProcessNotStarted', message: expect.stringContaining('exit code 9') }
  expect(outcome).toMatchObject({ status: 'failed', error })
})

test('a module that never finishes loading fails the attempt', async () => {
  const executor = executorWith({ modules: ['./never-loads.ts'], startMs: 50 })
  const error = { class: 'ProcessNotStarted', message: expect.stringContaining('longer than 0.05 s') }
  expect(await outcomeOf(executor, attemptOf('echo'))).toMatchObject({ status: 'failed', error })
})

test('a process that cannot be started fails the attempt', async () => {
  const outcome = await outcomeOf(executorWith({ from: join(FIXTURES, 'no-such-folder') }), attemptOf('echo'))
  const error = { class: 'ProcessNotStarted', message: expect.stringContaining('ENOENT') }
  expect(outcome).toMatchObject({ status: 'failed', error })
})

test('who wants to run alone is not passed by for ever by those later in line', async () => {
  const executor = executorWith({ childrenMax: 1 })
  const busy = await start(executor, attemptOf('waits'))
  await busy.notes.firstProgress
  const order: string[] = []
  const alone = pidOf(executor, true).then(() => order.push('alone'))
  const later = pidOf(executor).then(() => order.push('later'))
  await executor.cancel(busy.handle, 'cancelled', 10_000)
  await Promise.all([alone, later])
  expect(order).toEqual(['alone', 'later'])
})

test('children die with a killed worker, even in an endless loop, and so do the programs they started', async () => {
  const worker = spawn(process.execPath, [join(FIXTURES, 'lone-worker.ts')], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [line] = (await once(worker.stdout, 'data')) as [Buffer]
  const { pid, program } = JSON.parse(line.toString()) as { pid: number; program: number }
  expect([pid, program].filter(isAlive)).toEqual([pid, program])
  worker.kill('SIGKILL')
  await gone([pid, program], 2_000)
})
