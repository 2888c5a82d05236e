/** The result of a program that ended well: the file it wrote, else the last line it printed, as canonical JSON text. */

import { ownError } from '../model/attempt-error.ts'
import { canonicalText, NotJson } from '../run/canonical.ts'
import type { CommandSpec } from '../run/definition.ts'
import { JsonRefused, parseStrictJson } from '../run/json.ts'
import type { AttemptError, Outcome } from './executor.ts'
import type { LastLine } from './last-line.ts'
import { NotPlainFile, readPlainFile } from './plain-file.ts'

export type ResultPlaces = {
  from: CommandSpec['result']
  path: string
  lastLine: LastLine
  bytesMax: number
  lineBytesMax: number
}

const NO_FILE = 'it wrote no file where HOLDFAST_RESULT says'

export async function readCommandResult(places: ResultPlaces): Promise<Outcome> {
  if (places.from !== 'last-line') {
    const fromFile = await readResultFile(places)
    if (fromFile) return fromFile
    if (places.from === 'file') return failed(noResult(NO_FILE))
  }
  return readLastLine(places)
}

/** Null when there is none. */
export async function readResultFile({ path, bytesMax }: ResultPlaces): Promise<Outcome | null> {
  try {
    const found = await readPlainFile(path, bytesMax)
    if (found === null) return null
    if (found.bytes === null) return failed(tooLarge(`the result file has ${found.size} bytes`, bytesMax))
    return succeeded(found.bytes, 'the result file')
  } catch (error) {
    if (!(error instanceof NotPlainFile)) throw error
    return failed(notJson(`the result file was not read: ${error.message}`))
  }
}

function readLastLine({ from, lastLine, lineBytesMax }: ResultPlaces): Outcome {
  const line = lastLine.read()
  const missing = from === 'last-line' ? [] : [NO_FILE]
  if (line === null) return failed(noResult([...missing, 'it printed nothing to standard output'].join(' and ')))
  if (line.tooLong) {
    const cure = 'write a large result to the file that HOLDFAST_RESULT names'
    return failed(tooLarge('the last line of the output, taken for the result, is too long', lineBytesMax, cure))
  }
  const outcome = succeeded(line.bytes, 'the last line of the output')
  // Ordinary chatter is no broken result.
  const meant = from === 'last-line' || outcome.status === 'succeeded' || /^\s*[{[]/.test(line.bytes.toString('latin1'))
  return meant ? outcome : failed(noResult(`${NO_FILE} and the last line of its output is no JSON`))
}

function succeeded(bytes: Buffer, what: string): Outcome {
  try {
    return { status: 'succeeded', resultText: canonicalText(parseStrictJson(bytes)) }
  } catch (error) {
    if (!(error instanceof JsonRefused || error instanceof NotJson)) throw error
    return failed(notJson(`${what} is not valid JSON: ${error.message}`))
  }
}

function failed(error: AttemptError): Outcome {
  return { status: 'failed', error }
}

function noResult(why: string): AttemptError {
  return ownError('NoResult', `the program ended with exit code 0 but left no result: ${why}`, { exitCode: 0 })
}

function notJson(message: string): AttemptError {
  return ownError('ResultNotJson', message, { retryable: false, exitCode: 0 })
}

function tooLarge(what: string, bytesMax: number, cure = 'see HOLDFAST_RESULT_MAX_BYTES'): AttemptError {
  const message = `${what}; at most ${bytesMax} bytes are accepted (${cure})`
  return ownError('ResultTooLarge', message, { retryable: false, exitCode: 0 })
}
