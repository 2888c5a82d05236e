/** Why a child ended, as the error of the attempt that ran in it. */

import { constants } from 'node:os'
import { ownError } from '../model/attempt-error.ts'
import type { AttemptError } from './executor.ts'
import type { LastWords } from './messages.ts'

export type ExitReport = {
  code: number | null
  signal: NodeJS.Signals | null
  /** What the watchdog wrote before it ended the process. */
  lastWords: LastWords | null
  /** V8 wrote that the heap is full. */
  heapFull: boolean
  /** The process could not even be started. */
  startError: Error | null
}

export function exitError(report: ExitReport): AttemptError {
  const { code, signal, lastWords, heapFull, startError } = report
  if (startError) return ownError('ProcessNotStarted', `no process could be started: ${startError.message}`)
  const exitCode = signal ? 128 + (constants.signals[signal] ?? 0) : code
  if (lastWords) {
    const { residentMb, limitMb } = lastWords
    const message = `the process used ${residentMb} MB of resident memory, more than its limit of ${limitMb} MB`
    return ownError('MemoryLimit', message, { exitCode })
  }
  if (heapFull && (signal === 'SIGABRT' || code === 134)) {
    return ownError('OutOfMemory', 'the process ran out of memory: its JavaScript heap is full', { exitCode })
  }
  return ownError('ProcessCrashed', crashed(code, signal), { exitCode })
}

function crashed(code: number | null, signal: NodeJS.Signals | null): string {
  if (signal === 'SIGKILL') {
    return 'the process was ended by SIGKILL from outside, as the system does when memory runs out'
  }
  if (signal) return `the process was ended by ${signal}`
  return `the process ended itself with exit code ${code} before the attempt was over`
}
