/**
 * The smallest worker that passes the cases: what a library has to do, in one place, and proof that the cases can be
 * passed.
 */

import { createHash } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { LeaseObject } from '../../../src/contract/lease.ts'
import type { StepBody } from '../../../src/contract/step.ts'
import type { WorkerCase } from './scripted-server.ts'

type Program = WorkerCase['program']
type Why = 'cancelled' | 'lease-lost' | 'shutdown'
type Reply = { status: number; body: { cancel_requested?: boolean; data?: LeaseObject[] } | null }

const PAUSE_MS = 20
const GRACE_MS = 50

export class ReferenceWorker {
  readonly #url: string
  readonly #case: WorkerCase
  readonly #stop = new AbortController()
  readonly #running = new Set<Promise<void>>()

  constructor(url: string, given: WorkerCase) {
    this.#url = url
    this.#case = given
  }

  stop(): void {
    this.#stop.abort()
  }

  async run(): Promise<void> {
    const { name: worker, models, slots } = this.#case.worker
    const offer = { worker, models, slots }
    while (!this.#stop.signal.aborted) {
      const free = slots - this.#running.size
      if (free === 0) {
        await Promise.race([...this.#running, this.#stopped()])
        continue
      }
      const answer = await this.#post('/leases', { ...offer, slots: free, wait_seconds: 1 }).catch(() => null)
      if (answer === null || answer.status >= 500) await delay(PAUSE_MS)
      for (const lease of answer?.body?.data ?? []) this.#begin(lease)
    }
    await Promise.all(this.#running)
    await this.#post('/leases', { ...offer, stopping: true })
  }

  #begin(lease: LeaseObject): void {
    const attempt = this.#attempt(lease).finally(() => this.#running.delete(attempt))
    this.#running.add(attempt)
  }

  async #attempt(lease: LeaseObject): Promise<void> {
    const work = new AbortController()
    const abort = (why: Why) => work.abort(why)
    const say = (verb: string, body: unknown) => this.#say(lease, verb, body, abort)
    const step = (body: StepBody) => this.#commit(lease, body, abort)
    const beats = this.#keepLease(lease, abort, work.signal)
    const onStop = () => setTimeout(abort, GRACE_MS, 'shutdown' satisfies Why)
    this.#stop.signal.addEventListener('abort', onStop)
    const file = this.#fileReader(lease)
    const ending = await carryOut(this.#case.program, lease, { say, step, file }, work.signal).catch((error: Error) =>
      errorOf(error),
    )
    beats.end()
    this.#stop.signal.removeEventListener('abort', onStop)
    const why: Why | null = work.signal.aborted ? work.signal.reason : null
    if ('result' in ending) await this.#complete(lease, ending.result)
    else if (why === 'cancelled') await this.#settle(lease, 'fail', { cancelled: true })
    else if (why === 'shutdown') await this.#settle(lease, 'release', {})
    else if (why === null) await this.#settle(lease, 'fail', ending)
  }

  async #complete(lease: LeaseObject, result: unknown): Promise<void> {
    const status = await this.#settle(lease, 'complete', { result })
    if (status !== 413) return
    const error = { class: 'ResultTooLarge', message: 'the service did not take the result', retryable: false }
    await this.#settle(lease, 'fail', { error })
  }

  /** Until there is an answer that more of the same would not change. */
  async #settle(lease: LeaseObject, verb: string, body: unknown): Promise<number> {
    for (;;) {
      const status = await this.#post(`/leases/${lease.run_id}/${verb}`, body, lease.token).then(
        (reply) => reply.status,
        () => 0,
      )
      if (status !== 0 && status < 500) return status
      await delay(PAUSE_MS)
    }
  }

  /** Each file is fetched once; what is not the file that its id names is not used. */
  #fileReader(lease: LeaseObject): Tell['file'] {
    const known = new Map<string, string>()
    return async (parameter) => {
      const file = lease.files.find((one) => one.parameter === `/${parameter}`)
      if (!file) throw Object.assign(new Error(`no file at ${parameter}`), { retryable: false })
      const found = known.get(file.file_id)
      if (found !== undefined) return found
      const answer = await fetch(this.#url + file.href, { headers: { 'holdfast-attempt-token': lease.token } })
      const text = await answer.text()
      if (createHash('sha256').update(text).digest('hex') !== file.file_id) {
        throw Object.assign(new Error('the bytes are others'), { name: 'InputFileDamaged' })
      }
      known.set(file.file_id, text)
      return text
    }
  }

  /** As an end is said; the work goes on when it is kept. */
  async #commit(lease: LeaseObject, body: StepBody, abort: (why: Why) => void): Promise<void> {
    const status = await this.#settle(lease, 'steps', body)
    if (status === 409) abort('lease-lost')
    if (status !== 200) throw Object.assign(new Error(`the step was answered ${status}`), { retryable: false })
  }

  async #say(lease: LeaseObject, verb: string, body: unknown, abort: (why: Why) => void): Promise<boolean> {
    const reply = await this.#post(`/leases/${lease.run_id}/${verb}`, body, lease.token).catch(() => null)
    if (reply?.status === 409) abort('lease-lost')
    else if (reply?.body?.cancel_requested) abort('cancelled')
    return reply?.status === 200
  }

  /** The lease counts from when the last good heartbeat was sent. */
  #keepLease(lease: LeaseObject, abort: (why: Why) => void, aborted: AbortSignal): { end(): void } {
    const leaseMs = lease.lease_seconds * 1_000
    let isEnded = false
    let goodAt = performance.now()
    const beat = async () => {
      const sentAt = performance.now()
      if (await this.#say(lease, 'heartbeat', {}, abort)) goodAt = sentAt
      else if (sentAt - goodAt > leaseMs / 2) abort('lease-lost')
      if (!isEnded && !aborted.aborted) timer = setTimeout(beat, leaseMs / 6)
    }
    let timer = setTimeout(beat, leaseMs / 6)
    return {
      end() {
        isEnded = true
        clearTimeout(timer)
      },
    }
  }

  #stopped(): Promise<void> {
    return new Promise((resolve) => this.#stop.signal.addEventListener('abort', () => resolve(), { once: true }))
  }

  async #post(path: string, body: unknown, token?: string): Promise<Reply> {
    const answer = await fetch(this.#url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(token && { 'holdfast-attempt-token': token }) },
      body: JSON.stringify(body),
    })
    const text = await answer.text()
    return { status: answer.status, body: text === '' ? null : JSON.parse(text) }
  }
}

type Ended = { result: unknown } | { error: object }
type Tell = {
  say(verb: string, body: unknown): Promise<boolean>
  step(body: StepBody): Promise<void>
  file(parameter: string): Promise<string>
}

async function carryOut(
  program: Program,
  lease: LeaseObject,
  { say, step, file }: Tell,
  aborted: AbortSignal,
): Promise<Ended> {
  const done = new Map(lease.steps.map(({ name, output }) => [name, output]))
  const returned: Record<string, unknown> = {}
  for (const act of program) {
    if (act.do === 'return') return { result: act.value }
    if (act.do === 'return-parameters') return { result: lease.parameters }
    if (act.do === 'throw') throw Object.assign(new Error(String(act.message)), { name: act.class })
    if (act.do === 'throw-fatal') throw Object.assign(new Error(String(act.message)), { retryable: false })
    if (act.do === 'progress') await say('progress', { progress: act.value })
    if (act.do === 'log') await say('logs', { pieces: [{ stream: 'log', text: act.text }] })
    if (act.do === 'step') {
      const { name, output } = act as { do: string } & StepBody
      if (!done.has(name)) await step({ name, output })
      if (!done.has(name)) done.set(name, output)
      returned[name] = done.get(name)
    }
    if (act.do === 'read-file') await file(String(act.parameter))
    if (act.do === 'return-file') return { result: await file(String(act.parameter)) }
    if (act.do === 'return-steps') return { result: returned }
    if (act.do === 'until-aborted' && !aborted.aborted) {
      await new Promise((resolve) => aborted.addEventListener('abort', resolve, { once: true }))
    }
  }
  throw new Error('the work was stopped')
}

function errorOf(error: Error & { retryable?: boolean }): Ended {
  const { name, message, stack, retryable } = error
  return { error: { class: name, message, stack, ...(retryable !== undefined && { retryable }) } }
}
