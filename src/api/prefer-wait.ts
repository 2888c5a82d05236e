/**
 * `Prefer: wait=N` (RFC 7240): holds an answer back until the run is as far as the caller wants, or the time is over.
 * It never changes which answer that is.
 *
 * A waiter holds no connection to the database; it is woken by the follower. The run is read once more after the waiter
 * has begun to listen, so that nothing falls in between. A client that goes away frees its waiter, never its run.
 */

import type { FastifyReply, FastifyRequest } from 'fastify'
import { isTerminal } from '../run/status.ts'
import type { RunDetail, Store } from '../store/store.ts'
import type { Log } from '../telemetry/log.ts'
import { etagOf, namesEtag } from './etag.ts'
import type { FeedFollower, LiveEvent } from './feed-follower.ts'
import { type Principal, principalOf } from './principal.ts'
import { maySee } from './visible-run.ts'

export const WAIT_SECONDS_MAX = 60

/** Null without the preference; what cannot be read as one is ignored. The first one counts. */
export function preferredWaitSeconds(request: FastifyRequest): number | null {
  const { prefer } = request.headers
  for (const preference of [prefer ?? []].flat().join(',').split(',')) {
    const seconds = /^\s*wait\s*=\s*"?(\d{1,9})"?\s*(?:;.*)?$/i.exec(preference)?.[1]
    if (seconds !== undefined) return Math.min(WAIT_SECONDS_MAX, Number(seconds))
  }
  return null
}

type WaitFor = {
  runId: string
  principal: Principal
  seconds: number
  isEnough(detail: RunDetail): boolean
  /** An event after which it is worth looking again. */
  mayBeEnough(live: LiveEvent): boolean
}

export type RunWaits = {
  /**
   * After a submit: the run when it has ended or the time is over. Null when nobody asked to wait, or waiting is not
   * possible.
   */
  preferredEnd(request: FastifyRequest, reply: FastifyReply, runId: string): Promise<RunDetail | null>
  /** For a read: the same, and with an `If-None-Match` header as soon as the run is another than the one it names. */
  preferredChange(
    request: FastifyRequest,
    reply: FastifyReply,
    runId: string,
    ifNoneMatch: string | undefined,
  ): Promise<RunDetail | null>
  /** Answers all of them now. */
  close(): void
}

type Woken = LiveEvent | 'time' | 'gone' | 'moved'

export function createRunWaits({ store, follower, log }: { store: Store; follower: FeedFollower; log: Log }): RunWaits {
  const waiting = new Set<(woken: Woken) => void>()
  /** Those who wait for the same event share one look at the run. */
  const looks = new Map<string, Promise<RunDetail | null>>()
  let isClosed = false

  /** Of a run that is not the caller's nothing shows, not even that it makes a request wait. */
  async function look(runId: string, principal: Principal): Promise<RunDetail | null> {
    const detail = await store.readRun(runId, principal.sees)
    return detail && maySee(principal, detail.run.owner) ? detail : null
  }

  function lookAfter({ event }: LiveEvent, principal: Principal): Promise<RunDetail | null> {
    const key = `${event.runId} ${event.seq} ${principal.sees}`
    const underWay = looks.get(key)
    if (underWay) return underWay
    const begun = look(event.runId, principal).finally(() => looks.delete(key))
    looks.set(key, begun)
    return begun
  }

  async function wait(reply: FastifyReply, what: WaitFor): Promise<RunDetail | null> {
    const { runId, principal } = what
    let next = Promise.withResolvers<Woken>()
    const wake = (woken: Woken) => next.resolve(woken)
    const listening = await follower.listen({
      runId,
      onEvent: (live) => void (what.mayBeEnough(live) && wake(live)),
      onMoved: () => wake('moved'),
    })
    const onGone = () => wake('gone')
    const timer = setTimeout(wake, what.seconds * 1_000, 'time')
    reply.raw.once('close', onGone)
    waiting.add(wake)
    if (reply.raw.closed) onGone()
    try {
      let detail = await look(runId, principal)
      while (detail && !what.isEnough(detail) && !isClosed) {
        const woken = await next.promise
        next = Promise.withResolvers()
        if (woken === 'gone') return detail
        if (woken === 'time' || woken === 'moved') return await look(runId, principal)
        detail = await lookAfter(woken, principal)
      }
      return detail
    } finally {
      clearTimeout(timer)
      reply.raw.off('close', onGone)
      waiting.delete(wake)
      listening.close()
    }
  }

  /** A wait that fails is no reason to refuse: the answer is the one without it. */
  async function applied(
    request: FastifyRequest,
    reply: FastifyReply,
    what: Omit<WaitFor, 'seconds' | 'principal'>,
  ): Promise<RunDetail | null> {
    const seconds = preferredWaitSeconds(request)
    if (seconds === null) return null
    try {
      const detail = await wait(reply, { ...what, seconds, principal: principalOf(request) })
      if (detail) reply.header('Preference-Applied', `wait=${seconds}`)
      // At a shutdown the connection must not be kept: the listener would wait for it.
      if (isClosed) reply.header('Connection', 'close')
      return detail
    } catch (error) {
      log.warn({ request_id: request.id, run_id: what.runId, err: error }, 'a request could not wait for its run')
      return null
    }
  }

  const hasEnded = ({ run }: RunDetail) => isTerminal(run.status)
  const ends = ({ event }: LiveEvent) => event.status !== null && isTerminal(event.status)

  return {
    preferredEnd: (request, reply, runId) => applied(request, reply, { runId, isEnough: hasEnded, mayBeEnough: ends }),
    preferredChange: (request, reply, runId, ifNoneMatch) =>
      applied(request, reply, {
        runId,
        // A run that has ended will not become another one.
        isEnough: (detail) =>
          hasEnded(detail) || (ifNoneMatch !== undefined && !namesEtag(ifNoneMatch, etagOf(detail))),
        mayBeEnough: (live) => ifNoneMatch !== undefined || ends(live),
      }),
    close() {
      isClosed = true
      for (const wake of waiting) wake('moved')
    },
  }
}
