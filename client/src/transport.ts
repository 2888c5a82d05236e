/**
 * One call to the service: sent, sent again when that is safe and may help, and turned into an answer or an error.
 *
 * The body is written once, so that every repeat of a call is the same request to the byte, with the same idempotency key.
 */

import type { Clock } from './clock.ts'
import { HoldfastError, MaxRetriesExceeded, Timeout, Transient } from './errors.ts'
import { type Exchange, withDeadline } from './exchange.ts'
import { refusalOf } from './refusal.ts'
import { type Fault, type Repeat, retryDelayMs } from './retry.ts'

export type QueryValue = string | number | boolean | readonly (string | number)[] | null | undefined
export type Query = Record<string, QueryValue>

export type CallOptions = {
  /** Ends the call, and only this side of it: what the service has begun goes on. */
  signal?: AbortSignal | undefined
  /** Of one request; a call may send several. */
  timeoutMs?: number | undefined
}

export type Call = CallOptions & {
  method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  path: string
  query?: Query | undefined
  headers?: Record<string, string>
  repeat: Repeat
  /** How often it is sent again, when not as often as every other call. */
  retries?: number | undefined
  /** The idempotency key in the body, for what is said when no answer comes. */
  key?: string
}

/** Can be sent any number of times. */
export type Bytes = Blob | Uint8Array<ArrayBuffer>

type Content = { type: string | null; data: Bytes | FormData | string }

export type Answer = { status: number; headers: Headers; body: unknown }

export type Connection = {
  url: string
  headers: Record<string, string>
  fetch: typeof fetch
  clock: Clock
  timeoutMs: number
  retriesMax: number
}

export class Transport {
  readonly connection: Connection
  readonly clock: Clock

  constructor(connection: Connection) {
    this.connection = connection
    this.clock = connection.clock
  }

  /** The body as a value, as the JSON text of one, as bytes of a type, or as a form. */
  async send({
    body,
    bodyText,
    bytes,
    form,
    ...call
  }: Call & {
    body?: unknown
    bodyText?: string
    bytes?: { type: string; data: Bytes }
    form?: FormData
  }): Promise<Answer> {
    const text = bodyText ?? (body === undefined ? undefined : JSON.stringify(body))
    const sent = form ? { type: null, data: form } : bytes
    const content = text === undefined ? sent : { type: 'application/json', data: text }
    return this.#repeated(call, (exchange) => this.#answer(call, content, exchange))
  }

  /** For streams: the response as soon as its head is there. Deadline and signal end then: who reads the body also ends it. */
  async open(call: Call): Promise<Response> {
    return this.#repeated(call, async (exchange) => {
      const response = await this.#request(call, undefined, exchange)
      await this.#refuseUnlessSuccess(call, response)
      return response
    })
  }

  async #repeated<Got>(call: Call, once: (exchange: Exchange) => Promise<Got>): Promise<Got> {
    const { timeoutMs } = this.connection
    const retriesMax = call.retries ?? this.connection.retriesMax
    let isUnknown = false
    for (let attempts = 1; ; attempts += 1) {
      call.signal?.throwIfAborted()
      const tried = await withDeadline(call.timeoutMs ?? timeoutMs, call.signal, once)
      if (tried.kind === 'done') return tried.value
      isUnknown ||= tried.kind !== 'refused' || tried.error.status === 502 || tried.error.status === 504
      const delayMs = retryDelayMs(tried, attempts - 1, call.repeat, retriesMax)
      if (delayMs === null) throw this.#finalError(call, tried, { attempts, isUnknown })
      await this.clock.sleep(delayMs, call.signal)
    }
  }

  async #request(call: Call, content: Content | undefined, { signal }: Exchange): Promise<Response> {
    const { method, path, query, headers } = call
    const { url, headers: always, fetch } = this.connection
    const response = await fetch(`${url}${path}${queryText(query)}`, {
      method,
      headers: { ...always, ...(content?.type && { 'Content-Type': content.type }), ...headers },
      ...(content && { body: content.data }),
      signal,
      // A redirect followed would turn a POST into a GET, and carry the token elsewhere.
      redirect: 'manual',
    })
    if (response.type === 'opaqueredirect' || [301, 302, 303, 307, 308].includes(response.status)) {
      const where = response.headers.get('location') ?? 'somewhere else'
      throw new HoldfastError(`The service at ${url} redirects to ${where}; use that address.`, {
        status: response.status,
      })
    }
    return response
  }

  async #answer(call: Call, content: Content | undefined, exchange: Exchange): Promise<Answer> {
    const response = await this.#request(call, content, exchange)
    await this.#refuseUnlessSuccess(call, response)
    const { status, headers } = response
    const text = await response.text()
    if (text === '') return { status, headers, body: null }
    try {
      return { status, headers, body: JSON.parse(text) }
    } catch (cause) {
      const message = `${call.method} ${call.path} was answered ${status}, but not in JSON; is ${this.connection.url} the service?`
      throw new HoldfastError(message, { status, cause })
    }
  }

  async #refuseUnlessSuccess({ path }: Call, response: Response): Promise<void> {
    const { status, ok, headers } = response
    if (ok) return
    const text = await response.text()
    throw refusalOf({ status, text, path, retryAfter: headers.get('retry-after'), nowMs: this.clock.nowMs() })
  }

  #finalError(
    call: Call,
    fault: Fault,
    { attempts, isUnknown }: { attempts: number; isUnknown: boolean },
  ): HoldfastError {
    if (fault.kind === 'refused' && !(fault.error instanceof Transient)) return fault.error
    const key = call.key ?? null
    const hint = key !== null && isUnknown ? `; the run may exist: ask again with key ${key}` : ''
    const what = `${call.method} ${call.path}`
    const count = attempts === 1 ? '' : ` ${attempts} times`
    if (fault.kind === 'timeout') {
      const seconds = (call.timeoutMs ?? this.connection.timeoutMs) / 1000
      const message = `${what} got no answer within ${seconds} s${count && `,${count}`}${hint}`
      return new Timeout(message, { attempts, key, cause: fault.cause })
    }
    if (fault.kind === 'lost') {
      const message = `${what} failed${count}: ${reasonOf(fault.cause)}${hint}`
      return new MaxRetriesExceeded(message, { attempts, key, cause: fault.cause })
    }
    const { error } = fault
    const { status, code, problem, retryAfterMs } = error as Transient
    const message = `${what} was refused${count}: ${error.message}${hint}`
    return new MaxRetriesExceeded(message, { attempts, key, status, code, problem, retryAfterMs, cause: error })
  }
}

export function queryText(query: Query | undefined): string {
  const pairs = new URLSearchParams()
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value === undefined || value === null) continue
    for (const one of Array.isArray(value) ? value : [value]) pairs.append(name, String(one))
  }
  return pairs.size === 0 ? '' : `?${pairs}`
}

/** What fetch throws says little; what it was thrown for says more. */
function reasonOf(cause: unknown): string {
  const inner = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause
  return inner instanceof Error ? inner.message || inner.name : String(inner)
}
