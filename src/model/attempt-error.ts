/**
 * Turns whatever user code threw into an AttemptError, a plain record that survives a process border and a database.
 *
 * Nothing a thrown value does can hurt the caller: getters that throw, proxies, values that are no errors, texts of any size.
 */

import { inspect, types } from 'node:util'
import type { AttemptError } from '../executor/executor.ts'
import { cleanText } from './clean-text.ts'
import { isFatal, isRetryable, retryDelaySeconds } from './failure.ts'

const CLASS_BYTES_MAX = 200
const MESSAGE_BYTES_MAX = 8 * 1024
const STACK_BYTES_MAX = 16 * 1024
const CAUSES_MAX = 5

export function attemptErrorFrom(thrown: unknown): AttemptError {
  if (!isError(thrown)) {
    return {
      class: 'NotAnError',
      message: cleanText(`something that is no Error was thrown: ${describe(thrown)}`, MESSAGE_BYTES_MAX),
      stack: null,
    }
  }
  const error: AttemptError = {
    class: cleanText(classOf(thrown), CLASS_BYTES_MAX),
    message: cleanText(textOf(thrown, 'message') ?? '', MESSAGE_BYTES_MAX),
    stack: stackOf(thrown),
  }
  if (guarded(() => isFatal(thrown))) error.retryable = false
  else if (guarded(() => isRetryable(thrown))) error.retryable = true
  const delaySeconds = guarded(() => retryDelaySeconds(thrown))
  if (typeof delaySeconds === 'number' && delaySeconds >= 0) error.retryAfterSeconds = delaySeconds
  return error
}

/** A failed attempt that user code did not throw: the executor's own finding. */
export function ownError(className: string, message: string, more: Partial<AttemptError> = {}): AttemptError {
  return { class: className, message: cleanText(message, MESSAGE_BYTES_MAX), stack: null, ...more }
}

function isError(thrown: unknown): thrown is object {
  return guarded(() => types.isNativeError(thrown) || thrown instanceof Error) === true
}

/** The name an error gives itself; a subclass that did not name itself is known by its constructor. */
function classOf(error: object): string {
  const name = textOf(error, 'name')
  if (name && name !== 'Error') return name
  const constructorName = guarded(() => error.constructor.name)
  return typeof constructorName === 'string' && constructorName ? constructorName : (name ?? 'Error')
}

function stackOf(error: object): string | null {
  const parts: string[] = []
  let link: unknown = error
  while (isError(link) && parts.length < CAUSES_MAX) {
    const current = link
    parts.push(textOf(current, 'stack') ?? '')
    link = guarded(() => (current as Error).cause)
  }
  const stack = parts.filter(Boolean).join('\ncaused by: ')
  return stack ? cleanText(stack, STACK_BYTES_MAX) : null
}

function textOf(error: object, key: 'name' | 'message' | 'stack'): string | undefined {
  const value = guarded(() => (error as Record<string, unknown>)[key])
  return typeof value === 'string' ? value : undefined
}

function describe(thrown: unknown): string {
  if (typeof thrown === 'string') return thrown
  return guarded(() => inspect(thrown, { customInspect: false, depth: 2, maxStringLength: 4096 })) ?? typeof thrown
}

function guarded<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
