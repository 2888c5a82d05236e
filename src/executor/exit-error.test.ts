import { expect, test } from 'vitest'
import { type ExitReport, exitError } from './exit-error.ts'

const quiet: ExitReport = { code: null, signal: null, lastWords: null, heapFull: false, startError: null }

test('what the watchdog wrote comes before how the process ended', () => {
  const error = exitError({ ...quiet, signal: 'SIGKILL', lastWords: { residentMb: 210, limitMb: 200 } })
  expect(error).toMatchObject({ class: 'MemoryLimit', message: expect.stringContaining('210 MB'), exitCode: 137 })
})

test('an abort is out of memory only when V8 has said so', () => {
  expect(exitError({ ...quiet, signal: 'SIGABRT', heapFull: true }).class).toBe('OutOfMemory')
  expect(exitError({ ...quiet, signal: 'SIGABRT' }).class).toBe('ProcessCrashed')
  expect(exitError({ ...quiet, code: 1, heapFull: true }).class).toBe('ProcessCrashed')
})

test('a kill from outside hints at the system running out of memory', () => {
  expect(exitError({ ...quiet, signal: 'SIGKILL' }).message).toContain('memory')
})

test('a process that could not be started says why', () => {
  const error = exitError({ ...quiet, startError: new Error('spawn EAGAIN') })
  expect(error).toMatchObject({ class: 'ProcessNotStarted', message: expect.stringContaining('EAGAIN') })
})
