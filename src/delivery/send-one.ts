/**
 * One sending of one delivery, and what is to become of it. Whatever the sender does, throwing, answering nonsense or never ending, this
 * ends in time and answers how it went: a poison message harms nothing but itself.
 */

import type { ClaimedDelivery, Sent } from '../store/ports/deliveries.ts'
import { backoffMs } from './backoff.ts'
import { type HeardFailures, UNHEARD_MAX } from './heard-failures.ts'
import type { Handed, Sender } from './sender.ts'
import { storable, storableText } from './storable.ts'

export type SendOptions = {
  sender: Pick<Sender, 'send'>
  /** All of a sending, from name look-up to the last byte of the answer. */
  timeoutMs: number
  /** How long a sender may take to notice that its time is over before nobody waits for it any more. */
  abortGraceMs?: number
  /** Aborted when the relay must end now. */
  stopping: AbortSignal
  delaysSeconds: readonly number[]
  heardFailures: HeardFailures
  random?: () => number
}

const ABORT_GRACE_MS = 2_000
const STOPPED = 'the relay was stopped while this was being sent'
const OUTCOMES: readonly string[] = ['delivered', 'failed', 'refused', 'gone'] satisfies Handed['outcome'][]

export async function sendOne(delivery: ClaimedDelivery, options: SendOptions): Promise<Sent> {
  const startedAt = new Date()
  const fromMs = performance.now()
  const handed = (await endsRelays(delivery, options)) ? ENDS_RELAYS : await handOver(delivery, options)
  const decided = await verdict(handed, delivery, options)
  return {
    id: delivery.id,
    token: delivery.token,
    attempt: delivery.attempts,
    startedAt,
    durationMs: performance.now() - fromMs,
    request: storable(handed.request),
    response: storable(handed.response),
    error: handed.error == null ? null : storableText(String(handed.error)),
    ...decided,
  }
}

const ENDS_RELAYS: Handed = {
  outcome: 'refused',
  request: null,
  response: null,
  error: 'it was not sent: too many relays have ended while they were sending it',
}

async function endsRelays(delivery: ClaimedDelivery, { delaysSeconds, heardFailures }: SendOptions): Promise<boolean> {
  if (delivery.tries < delaysSeconds.length + UNHEARD_MAX) return false
  return heardFailures(delivery).then(
    (heard) => delivery.tries - heard >= UNHEARD_MAX,
    () => false,
  )
}

async function handOver(delivery: ClaimedDelivery, options: SendOptions): Promise<Handed> {
  const { sender, timeoutMs, stopping, abortGraceMs = ABORT_GRACE_MS } = options
  const ending = new AbortController()
  const ignored = Promise.withResolvers<Handed>()
  let graceTimer: NodeJS.Timeout | undefined
  const end = (why: string) => {
    if (ending.signal.aborted) return
    ending.abort(new Error(why))
    graceTimer = setTimeout(() => ignored.resolve(failed(why)), abortGraceMs)
  }
  const onStop = () => end(STOPPED)
  const timer = setTimeout(() => end(`no answer within ${timeoutMs / 1_000} s`), timeoutMs)
  stopping.addEventListener('abort', onStop, { once: true })
  if (stopping.aborted) onStop()
  try {
    const handed = await Promise.race([sender.send(delivery, ending.signal), ignored.promise])
    return OUTCOMES.includes(handed?.outcome) ? handed : failed('the sender did not say how it went')
  } catch (error) {
    return failed(error instanceof Error ? error.message : String(error))
  } finally {
    clearTimeout(timer)
    clearTimeout(graceTimer)
    stopping.removeEventListener('abort', onStop)
  }
}

function failed(error: string): Handed {
  return { outcome: 'failed', request: null, response: null, error }
}

type Verdict = Pick<Sent, 'outcome' | 'delayMs' | 'disable'> & Partial<Pick<Sent, 'error' | 'response'>>

async function verdict(handed: Handed, delivery: ClaimedDelivery, options: SendOptions): Promise<Verdict> {
  if (handed.outcome === 'delivered') return { outcome: 'delivered' }
  if (handed.outcome === 'refused') return { outcome: 'dead' }
  if (handed.outcome === 'gone')
    return { outcome: 'dropped', disable: storableText(handed.error ?? 'the receiver is gone') }
  // What a stop broke off says nothing of the receiver: no error is counted, and another relay may go on with it at once.
  if (options.stopping.aborted && handed.response == null)
    return { outcome: 'again', delayMs: 0, error: null, response: { note: STOPPED } }
  const delayMs = await delayAfter(handed, delivery, options)
  return delayMs === null ? { outcome: 'dead' } : { outcome: 'again', delayMs }
}

async function delayAfter(handed: Handed, delivery: ClaimedDelivery, options: SendOptions): Promise<number | null> {
  const { delaysSeconds, random = Math.random, heardFailures } = options
  const after = (tries: number) => backoffMs({ tries, retryAfterMs: handed.retryAfterMs }, random(), delaysSeconds)
  const delayMs = after(delivery.tries)
  if (delayMs !== null) return delayMs
  // While nobody can say how often it failed it is not given up.
  const heard = await heardFailures(delivery).catch(() => delaysSeconds.length - 1)
  return after(heard)
}
