/** Programs that misbehave: each ends with a clear error or as if it had behaved, no process of it is left, and the worker serves the next. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, describe, expect, test } from 'vitest'
import { until } from '../../test/support/until.ts'
import type { CommandExecutor } from './command.ts'
import type { Outcome } from './executor.ts'
import { attemptOf, FIXTURES, gone, isAlive, outcomeOf, resultOf, start } from './fixtures/attempts.ts'
import { CommandNotes, commandsWith, pathFor, pidIn, stopCommands } from './fixtures/commands.ts'

afterAll(stopCommands)

const MIB = 1024 * 1024
const shared = commandsWith()
const linux = process.platform === 'linux'

async function expectHealthy(executor: CommandExecutor): Promise<void> {
  expect(await resultOf(executor, attemptOf('echo', { a: 1 }))).toMatchObject({ parameters: { a: 1 } })
}

function errorOf(outcome: Outcome) {
  if (outcome.status !== 'failed') throw new Error(`expected a failure, got ${JSON.stringify(outcome)}`)
  return outcome.error
}

describe.runIf(linux)('a daemon', () => {
  test('that the program leaves is killed with the end of the attempt, and said', async () => {
    const pidFile = pathFor('daemon-left')
    const notes = new CommandNotes()
    expect(await resultOf(shared, attemptOf('daemon', { pidFile }), notes)).toBe('left a daemon')
    const pid = await pidIn(pidFile)
    expect(isAlive(pid)).toBe(false)
    expect(notes.messages).toEqual([expect.stringMatching(`killed 1 processes .*sleep \\(${pid}\\)`)])
    expect(notes.levels).toEqual(['error'])
    await expectHealthy(shared)
  })

  test('is killed with a cancelled program', async () => {
    const pidFile = pathFor('daemon-cancelled')
    const { handle, notes } = await start(shared, attemptOf('daemon', { pidFile, stays: true }))
    await notes.firstProgress
    await shared.cancel(handle, 'cancelled', 100)
    expect(isAlive(await pidIn(pidFile))).toBe(false)
  })

  test('that hides its mark is found while its parent lives', async () => {
    const pidFile = pathFor('daemon-hidden')
    const argv = ['sh', '-c', `env -i setsid sh -c 'echo $$ > ${pidFile}; exec sleep 600' & sleep 2; echo 1`]
    const executor = commandsWith({ spec: { argv } })
    expect(await resultOf(executor, attemptOf('x'))).toBe(1)
    expect(isAlive(await pidIn(pidFile))).toBe(false)
  })

  test('dies with a worker that is killed, as does the program, and their folder goes', async () => {
    const workFolder = pathFor('lone')
    const pidFile = pathFor('lone-daemon')
    const worker = spawn(process.execPath, [join(FIXTURES, 'lone-command-worker.ts'), workFolder, pidFile], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [line] = await once(createInterface({ input: worker.stdout }), 'line')
    const pids = [(JSON.parse(line) as { pid: number }).pid, await pidIn(pidFile)]
    expect(pids.every(isAlive)).toBe(true)
    worker.kill('SIGKILL')
    await gone(pids)
    await until(async () => (await readdir(workFolder)).length === 0, { what: 'the folder of the attempt is gone' })
  })
})

test('a program that ignores SIGTERM is killed when the grace is over', async () => {
  const { handle, notes } = await start(shared, attemptOf('deaf'))
  const { pid } = (await notes.firstProgress) as { pid: number }
  await shared.cancel(handle, 'cancelled', 200)
  expect(isAlive(pid)).toBe(false)
  expect(await shared.watch(handle)).toEqual({ status: 'cancelled' })
  await expectHealthy(shared)
})

test('a program that ignores SIGTERM does not outlive its time', async () => {
  const notes = new CommandNotes()
  const outcome = await outcomeOf(shared, attemptOf('deaf', {}, { timeoutMs: 1_000 }), notes)
  expect(errorOf(outcome)).toMatchObject({ class: 'Timeout', message: expect.stringContaining('killed') })
})

test.each([{ lines: true }, { lines: false }])('a flood of 1 GB costs little memory (%j)', async ({ lines }) => {
  const notes = new CommandNotes()
  const beforeBytes = process.memoryUsage.rss()
  let peakBytes = 0
  const sampling = setInterval(() => {
    peakBytes = Math.max(peakBytes, process.memoryUsage.rss())
  }, 20)
  const result = await resultOf(shared, attemptOf('floods', { megabytes: 1_024, lines }), notes)
  clearInterval(sampling)
  expect(result).toEqual({ flooded: true })
  expect(notes.printed.stdout.length).toBeLessThan(4 * MIB + 200)
  expect(notes.printed.stdout).toContain('[what follows is left out')
  expect(notes.messages).toEqual([expect.stringContaining('stdout: more than 4194304 bytes were printed')])
  expect(notes.levels).toEqual(['error'])
  expect(notes.largestPiece).toBeLessThanOrEqual(MIB)
  expect(peakBytes - beforeBytes).toBeLessThan(256 * MIB)
  await expectHealthy(shared)
})

describe.runIf(linux)('limits', () => {
  const small = commandsWith({ folderBytesMax: 16 * MIB, memoryLimitMb: 200 })

  test.each(['work', 'temporary', 'output'])('filling the %s folder ends the attempt', async (where) => {
    const error = errorOf(await outcomeOf(small, attemptOf('fills-folder', { where })))
    expect(error).toMatchObject({ class: 'FolderLimit', message: expect.stringContaining('16 MB') })
    await expectHealthy(small)
  })

  test('a million empty files are not nothing', async () => {
    const executor = commandsWith({ folderBytesMax: MIB })
    const error = errorOf(await outcomeOf(executor, attemptOf('many-files')))
    expect(error).toMatchObject({ class: 'FolderLimit' })
  })

  test.each(['eats', 'children-eat'])('memory over the limit ends the attempt (%s)', async (model) => {
    const error = errorOf(await outcomeOf(small, attemptOf(model)))
    expect(error).toMatchObject({ class: 'MemoryLimit', message: expect.stringContaining('200 MB'), exitCode: 137 })
    await expectHealthy(small)
  })

  test('the limit of the model wins over the general one', async () => {
    const executor = commandsWith({ memoryLimitMb: 50, spec: { memoryMb: null } })
    expect(await resultOf(executor, attemptOf('computes', { ms: 500 }))).toBe('done')
  })
})

test('no result is a clear error', async () => {
  const error = errorOf(await outcomeOf(shared, attemptOf('nothing')))
  expect(error).toMatchObject({ class: 'NoResult', exitCode: 0, message: expect.stringContaining('exit code 0') })
})

test('invalid UTF-8 and NUL are made printable in the log, and said', async () => {
  const notes = new CommandNotes()
  expect(await resultOf(shared, attemptOf('prints-bytes', { result: true }), notes)).toBe('fine')
  expect(notes.printed.stdout).toBe('a\uFFFD\uFFFDb\n')
  expect(notes.messages).toEqual([expect.stringContaining('no UTF-8, or NUL')])
  expect(notes.levels).toEqual(['error'])
})

test('invalid UTF-8 as a result is a clear error', async () => {
  const executor = commandsWith({ spec: { result: 'last-line' } })
  const error = errorOf(await outcomeOf(executor, attemptOf('prints-bytes')))
  expect(error).toMatchObject({ class: 'ResultNotJson', retryable: false })
})

test('a result file that is too large is a clear error', async () => {
  const executor = commandsWith({ resultBytesMax: 10_000 })
  const error = errorOf(await outcomeOf(executor, attemptOf('writes', { text: `"${'x'.repeat(20_000)}"` })))
  expect(error).toMatchObject({ class: 'ResultTooLarge', retryable: false, message: expect.stringContaining('10000') })
  await expectHealthy(executor)
})

test('a last line that is too long is a clear error', async () => {
  const error = errorOf(await outcomeOf(shared, attemptOf('prints', { text: `"${'x'.repeat(MIB)}"\n` })))
  expect(error).toMatchObject({ class: 'ResultTooLarge', message: expect.stringContaining('HOLDFAST_RESULT') })
})

test('a program that reads nothing does not block large parameters', async () => {
  const executor = commandsWith({ spec: { argv: ['sh', '-c', 'exec 0<&-; echo 1'] } })
  expect(await resultOf(executor, attemptOf('x', { text: 'x'.repeat(4 * MIB) }))).toBe(1)
})

test('a pipe in place of the result is not waited for', async () => {
  const executor = commandsWith({ spec: { argv: ['sh', '-c', 'mkfifo "$HOLDFAST_RESULT"'] } })
  const error = errorOf(await outcomeOf(executor, attemptOf('x')))
  expect(error).toMatchObject({ class: 'ResultNotJson', message: expect.stringContaining('no regular file') })
})

test.runIf(linux)('programs go on when the guard is killed, and are guarded again', async () => {
  const executor = commandsWith({ memoryLimitMb: 200 })
  const { handle, notes } = await start(executor, attemptOf('daemon', { pidFile: pathFor('guard'), stays: true }))
  await notes.firstProgress
  const before = executor.guardPid!
  process.kill(before, 'SIGKILL')
  await until(() => executor.guardPid !== before && executor.guardPid, { what: 'there is another guard' })
  await executor.cancel(handle, 'cancelled', 0)
  expect(isAlive(await pidIn(pathFor('guard')))).toBe(false)
  expect(existsSync(`/proc/${before}`)).toBe(false)
})
