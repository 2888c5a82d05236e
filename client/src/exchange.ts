/**
 * One request and its answer under a deadline. The timer and the caller's signal are let go when it is over, so that a
 * signal that lives for long does not gather listeners.
 */

import { HoldfastError } from './errors.ts'
import type { Fault } from './retry.ts'

export type Exchange = { signal: AbortSignal }

export type Tried<Got> = { kind: 'done'; value: Got } | Fault

/** Rejects only when the caller aborts; every other failure is told. */
export async function withDeadline<Got>(
  timeoutMs: number,
  caller: AbortSignal | undefined,
  once: (exchange: Exchange) => Promise<Got>,
): Promise<Tried<Got>> {
  const controller = new AbortController()
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    controller.abort(new DOMException('no answer in time', 'TimeoutError'))
  }, timeoutMs)
  const onAbort = () => controller.abort(caller?.reason)
  caller?.addEventListener('abort', onAbort, { once: true })
  try {
    return { kind: 'done', value: await once({ signal: controller.signal }) }
  } catch (cause) {
    if (caller?.aborted) throw caller.reason
    if (cause instanceof HoldfastError) return { kind: 'refused', error: cause }
    return { kind: isLate ? 'timeout' : 'lost', cause }
  } finally {
    clearTimeout(timer)
    caller?.removeEventListener('abort', onAbort)
  }
}
