/**
 * The error of a program that did not end well. What it says of itself in the file HOLDFAST_ERROR names comes first; without that, its exit
 * code or signal and the end of what it wrote to standard error, where most languages leave a traceback.
 */

import { constants } from 'node:os'
import { ownError } from '../model/attempt-error.ts'
import { cleanText } from '../model/clean-text.ts'
import { parseStrictJson } from '../run/json.ts'
import { RETRY_DELAY_SECONDS_MAX } from '../run/retry.ts'
import type { Excess } from './command-guard-messages.ts'
import type { AttemptError } from './executor.ts'
import { readPlainFile } from './plain-file.ts'

/** Of sysexits.h: the command was used wrongly, the input is wrong, the configuration is wrong. The same again cannot help. */
export const FATAL_EXIT_CODES_DEFAULT: readonly number[] = [64, 65, 78]

export type ProgramEnd = { code: number | null; signal: NodeJS.Signals | null; stderrTail: string }

const ERROR_FILE_BYTES_MAX = 256 * 1024
const CLASS_BYTES_MAX = 200
const STACK_BYTES_MAX = 16 * 1024
const LAST_WORDS_CHARS_MAX = 500

export function endError(end: ProgramEnd, fatalExitCodes: readonly number[]): AttemptError {
  const { code, signal, stderrTail } = end
  const lastWords = stderrTail.trimEnd().split('\n').at(-1)?.trim().slice(0, LAST_WORDS_CHARS_MAX)
  const message = `${ending(end)}${lastWords ? `: ${lastWords}` : ''}`
  const stack = stderrTail.trim() === '' ? null : cleanText(stderrTail, STACK_BYTES_MAX)
  const fatal = signal === null && code !== null && fatalExitCodes.includes(code)
  return ownError('CommandFailed', message, { stack, exitCode: exitCodeOf(end), ...(fatal && { retryable: false }) })
}

function ending({ code, signal }: ProgramEnd): string {
  if (signal === null) return `the program ended with exit code ${code}`
  const who = signal === 'SIGKILL' ? ' from outside, as the system does when memory runs out' : ''
  return `the program was ended by ${signal}${who}`
}

export function excessError(excess: Excess, limits: { memoryBytesMax: number | null; folderBytesMax: number }) {
  if (excess.what === 'memory') {
    const limit = megabytes(limits.memoryBytesMax ?? 0)
    const message = `the processes of the program used ${megabytes(excess.bytes)} MB of memory, more than the limit of ${limit} MB`
    return ownError('MemoryLimit', message, { exitCode: 137 })
  }
  const limit = megabytes(limits.folderBytesMax)
  const message = `the program filled its folder with more than the ${limit} MB it may have there`
  return ownError('FolderLimit', message, { exitCode: 137 })
}

function megabytes(bytes: number): number {
  return Math.round(bytes / 1_048_576)
}

function exitCodeOf({ code, signal }: ProgramEnd): number | null {
  return signal ? 128 + (constants.signals[signal] ?? 0) : code
}

/** What the program says of itself, over what its end looked like; `problem` when it said it wrongly. */
export async function describedError(
  path: string,
  plain: AttemptError,
): Promise<{ error: AttemptError; problem: string | null }> {
  try {
    const found = await readPlainFile(path, ERROR_FILE_BYTES_MAX)
    if (found === null) return { error: plain, problem: null }
    if (found.bytes === null) throw new Error(`it is larger than ${ERROR_FILE_BYTES_MAX} bytes`)
    return { error: withDescription(plain, parseStrictJson(found.bytes)), problem: null }
  } catch (error) {
    return { error: plain, problem: `the file of HOLDFAST_ERROR was not used: ${(error as Error).message}` }
  }
}

function withDescription(plain: AttemptError, said: unknown): AttemptError {
  if (typeof said !== 'object' || said === null || Array.isArray(said)) throw new Error('it holds no JSON object')
  const { class: className, message, stack, retryable, retry_after_seconds: delay } = said as Record<string, unknown>
  const error: AttemptError = { ...plain }
  if (typeof className === 'string' && className !== '') error.class = cleanText(className, CLASS_BYTES_MAX)
  if (typeof message === 'string') error.message = ownError('', message).message
  if (typeof stack === 'string') error.stack = cleanText(stack, STACK_BYTES_MAX)
  if (typeof retryable === 'boolean') error.retryable = retryable
  if (typeof delay === 'number' && delay >= 0 && delay <= RETRY_DELAY_SECONDS_MAX) error.retryAfterSeconds = delay
  return error
}
