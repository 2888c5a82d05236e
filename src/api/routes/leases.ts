/**
 * Work for workers in any language: they ask for it here, wait as long as there is none, and get runs with a token for
 * each. What they say about an attempt afterwards is in `lease-attempts.ts`.
 */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { LeaseBody, StartBody } from '../../contract/lease.ts'
import type { Lease } from '../../store/store.ts'
import { runFields } from '../../telemetry/log.ts'
import type { ApiDeps } from '../api.ts'
import { leaseLost, ticketHashOf } from '../attempt-credential.ts'
import { checkedBody } from '../body.ts'
import { handLeases, startedObject } from '../hand-leases.ts'
import type { Known } from '../known.ts'
import { createLeaseOffers } from '../lease-offer.ts'
import type { LeasePresence } from '../lease-presence.ts'
import { createLeaseWaits } from '../lease-waits.ts'
import { preferredWaitSeconds } from '../prefer-wait.ts'
import { principalOf } from '../principal.ts'
import { runIdOf } from '../run-path.ts'
import { sendPrivate } from '../send-json.ts'
import { LEASE_DOC, START_DOC } from './lease-docs.ts'

const WAIT_SECONDS = 30
const LEASE_MS = 60_000
const POLL_MS = 1_000

type Deps = ApiDeps & {
  known: Known
  presence: LeasePresence
  stillAllowed: (request: FastifyRequest) => Promise<boolean>
}

export function leaseRoutes(app: FastifyInstance, deps: Deps): void {
  const { store, wakeup, log, metrics, config, presence, stillAllowed } = deps
  const leaseMs = config.worker?.leaseMs ?? LEASE_MS
  const offerOf = createLeaseOffers(store)

  async function giveBack({ runId, epoch, attempt, queue }: Lease, workerId: string): Promise<void> {
    const { status } = await store.remote.settle({ runId, epoch, attempt, workerId, kind: 'release' })
    if (status === 'PENDING') wakeup.hint(`queue:${queue}`, runId)
  }

  const waits = createLeaseWaits({
    claim: ({ workerId, slots, offer: { queues, models } }) =>
      store.remote.claim({ workerId, leaseMs, slots, queues: queues.map((queue) => ({ queue, room: null })), models }),
    giveBack,
    wakeup,
    log,
    pollMs: config.worker?.pollMs ?? POLL_MS,
  })
  app.addHook('preClose', () => waits.close())

  function announce(lease: Lease, workerId: string): void {
    if (lease.attempt === 1) metrics.queueLag.observe(lease.queuedSeconds)
    const { runId, payloadHash, attempt: attemptCount, queue } = lease
    log.info(
      runFields({ runId, payloadHash, workerId, status: 'RUNNING', attemptCount, queue, executor: 'remote' }),
      'run leased',
    )
  }

  /** A worker that is gone before the answer was sent never hears of its leases. */
  function giveBackUnlessSent(reply: FastifyReply, leases: Lease[], workerId: string): void {
    let isSent = false
    reply.raw.once('finish', () => {
      isSent = true
    })
    reply.raw.once('close', () => {
      if (isSent) return
      for (const lease of leases) {
        giveBack(lease, workerId).catch((error: unknown) =>
          log.warn({ err: error, run_id: lease.runId }, 'a lease whose answer was lost was not given back'),
        )
      }
    })
  }

  app.post('/leases', { config: { role: 'worker', body: 'required', doc: LEASE_DOC } }, async (request, reply) => {
    const body = checkedBody(request, LeaseBody)
    const workerId = `remote:${body.worker}`
    if (body.stopping) {
      await presence.stopped(workerId)
      return reply.code(204).send()
    }
    const offer = await offerOf(body, principalOf(request))
    await presence.seen({
      ...shownOf(body, request.ip),
      workerId,
      queues: offer.queues,
      models: offer.models.map(label),
    })
    const seconds = body.wait_seconds ?? preferredWaitSeconds(request) ?? WAIT_SECONDS
    const leases = await waits.next(
      { workerId, slots: body.slots, offer },
      { seconds, gone: goneSignal(reply), mayStill: () => stillAllowed(request) },
    )
    // At a shutdown the connection must not be kept: the listener would wait for it.
    if (waits.isClosed()) reply.header('Connection', 'close')
    if (leases.length === 0) return reply.code(204).send()
    for (const lease of leases) announce(lease, workerId)
    giveBackUnlessSent(reply, leases, workerId)
    const giveAllBack = (those: Lease[]) => Promise.all(those.map((lease) => giveBack(lease, workerId)))
    const { handed, unfit } = await handLeases(deps, leases, leaseMs).catch(async (error: unknown) => {
      await giveAllBack(leases).catch(() => undefined)
      throw error
    })
    await giveAllBack(unfit)
    return sendPrivate(reply, { data: handed })
  })

  app.post(
    '/leases/:id/start',
    { config: { role: 'public', body: 'required', doc: START_DOC } },
    async (request, reply) => {
      const runId = runIdOf(request)
      const ticketHash = ticketHashOf(request)
      const { token_hash: tokenHash } = checkedBody(request, StartBody)
      const open = await store.attempts.redeemTicket(runId, ticketHash, Buffer.from(tokenHash, 'hex'))
      if (!open) throw leaseLost(runId)
      return sendPrivate(reply, await startedObject(deps, open, leaseMs))
    },
  )
}

function label({ model, version }: { model: string; version: string }): string {
  return `${model}@${version}`
}

function shownOf({ host, pid, version, concurrency, slots }: LeaseBody, ip: string) {
  return { host: host ?? ip, pid: pid ?? 0, version: version ?? '', concurrency: concurrency ?? slots }
}

function goneSignal(reply: FastifyReply): AbortSignal {
  const gone = new AbortController()
  reply.raw.once('close', () => gone.abort())
  if (reply.raw.closed) gone.abort()
  return gone.signal
}
