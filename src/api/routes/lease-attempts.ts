/**
 * What code that runs elsewhere says about its attempt: that it lives, how far it is, what its steps gave, what it printed, how it ended.
 * The attempt token is the only credential; it is looked at before the body is read, and it is good while the attempt
 * is open.
 */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { CompleteBody, FailBody, HeartbeatBody, LogsBody, ProgressBody, ReleaseBody } from '../../contract/lease.ts'
import { StepBody } from '../../contract/step.ts'
import type { AttemptError } from '../../executor/executor.ts'
import { roundAmount } from '../../run/amount.ts'
import { canonicalText } from '../../run/canonical.ts'
import { hiddenTexts, hideTexts } from '../../run/redaction.ts'
import type { OpenAttempt } from '../../store/ports/attempts.ts'
import { ProgressWriter } from '../../worker/progress.ts'
import type { ApiDeps } from '../api.ts'
import { attemptTokenHashOf, leaseLost } from '../attempt-credential.ts'
import { checkedBody } from '../body.ts'
import { createEndAttempt, type Ending, type TokenHolder } from '../end-attempt.ts'
import { createKeepStep } from '../keep-step.ts'
import type { Known } from '../known.ts'
import type { LeasePresence } from '../lease-presence.ts'
import { committedStep } from '../present-step.ts'
import { createRateLimit } from '../rate-limit.ts'
import { redactOptionsOf } from '../redact-options.ts'
import { runIdOf } from '../run-path.ts'
import { sendPrivate } from '../send-json.ts'
import { createSendLeaseFile } from '../send-lease-file.ts'
import {
  COMPLETE_DOC,
  FAIL_DOC,
  FILE_DOC,
  HEARTBEAT_DOC,
  LOGS_DOC,
  PROGRESS_DOC,
  RELEASE_DOC,
  STEP_DOC,
} from './lease-docs.ts'

const LEASE_MS = 60_000
const DEADLINE_GRACE_MS = 10_000
const PROGRESS_EVERY_MS = 1_000
const PROGRESS_BYTES_MAX = 64 * 1024
const LOGS_BYTES_MAX = 1024 * 1024
const RESULT_BYTES_MAX = 64 * 1024 * 1024
/** Of what stands around a result. */
const AROUND_BYTES_MAX = 1_024
const CLASS_LENGTH_MAX = 200
const MESSAGE_LENGTH_MAX = 8 * 1024
const STACK_LENGTH_MAX = 16 * 1024

declare module 'fastify' {
  interface FastifyRequest {
    /** Set before the body is read, on the routes of attempts that run elsewhere. */
    tokenHolder: TokenHolder | null
  }
}

type Deps = ApiDeps & { known: Known; presence: LeasePresence }

export function leaseAttemptRoutes(app: FastifyInstance, deps: Deps): void {
  const { store, config, presence } = deps
  const leaseMs = config.worker?.leaseMs ?? LEASE_MS
  const deadlineGraceMs = config.worker?.deadlineGraceMs ?? DEADLINE_GRACE_MS
  const redaction = redactOptionsOf(config)
  const endAttempt = createEndAttempt(deps)
  const keepStep = createKeepStep(deps)
  const resultBytesMax = (config.result?.bytesMax ?? RESULT_BYTES_MAX) + AROUND_BYTES_MAX
  const progress = createProgressNotes(app, deps)
  const sendFile = createSendLeaseFile(app, deps)
  const { ratePerMinute = 0, rateBurst = null } = config.access ?? {}
  const limit = createRateLimit({ perMinute: ratePerMinute, burst: rateBurst })

  /** As many requests as with an access token. */
  function credentialOf(request: FastifyRequest, reply: FastifyReply): { runId: string; tokenHash: Buffer } {
    const runId = runIdOf(request)
    const tokenHash = attemptTokenHashOf(request)
    const refused = limit?.take(tokenHash.toString('base64'), reply)
    if (refused) throw refused
    return { runId, tokenHash }
  }

  async function findHolder(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { runId, tokenHash } = credentialOf(request, reply)
    const open = await store.attempts.findByToken(runId, tokenHash)
    const ended = open ? null : await store.remote.ended(runId, tokenHash)
    if (!open && !ended) throw leaseLost(runId)
    request.tokenHolder = { runId, tokenHash, open, ended }
  }

  function openOf({ tokenHolder }: FastifyRequest): OpenAttempt {
    const { runId, open } = tokenHolder!
    if (!open) throw leaseLost(runId)
    return open
  }

  const held = { role: 'public', body: 'required' } as const
  app.decorateRequest('tokenHolder', null)

  app.post(
    '/leases/:id/heartbeat',
    { config: { ...held, body: 'optional', doc: HEARTBEAT_DOC }, bodyLimit: PROGRESS_BYTES_MAX },
    async (request, reply) => {
      const { runId, tokenHash } = credentialOf(request, reply)
      const body = request.body === undefined ? {} : checkedBody(request, HeartbeatBody)
      const extended = await store.attempts.extendByToken(runId, tokenHash, { leaseMs, deadlineGraceMs })
      if (!extended) throw leaseLost(runId)
      presence.holderSeen(runId)
      if (body.progress !== undefined) {
        const open = await store.attempts.findByToken(runId, tokenHash)
        if (open) progress.note(open, body.progress)
      }
      return sendPrivate(reply, {
        cancel_requested: extended.cancelRequested,
        deadline: extended.deadlineAt.toISOString(),
        lease_seconds: leaseMs / 1_000,
        lease_expires_at: extended.leaseExpiresAt.toISOString(),
      })
    },
  )

  app.post(
    '/leases/:id/progress',
    { config: { ...held, doc: PROGRESS_DOC }, bodyLimit: PROGRESS_BYTES_MAX, onRequest: findHolder },
    async (request, reply) => {
      const open = openOf(request)
      progress.note(open, checkedBody(request, ProgressBody).progress ?? null)
      return sendPrivate(reply, { cancel_requested: open.cancelRequested })
    },
  )

  app.post(
    '/leases/:id/logs',
    { config: { ...held, doc: LOGS_DOC }, bodyLimit: LOGS_BYTES_MAX, onRequest: findHolder },
    async (request, reply) => {
      const open = openOf(request)
      const hidden = hiddenTexts(open.parameters, redaction)
      const pieces = checkedBody(request, LogsBody).pieces.map(({ stream, text }) => ({
        stream,
        text: hideTexts(text, hidden),
      }))
      const { lost } = await store.attemptLogs.append([{ fence: open, pieces }])
      if (lost.length > 0) throw leaseLost(open.runId)
      return sendPrivate(reply, { cancel_requested: open.cancelRequested })
    },
  )

  app.post(
    '/leases/:id/steps',
    { config: { ...held, doc: STEP_DOC }, bodyLimit: resultBytesMax, onRequest: findHolder },
    async (request, reply) => {
      const { runId } = openOf(request)
      const { tokenHash } = request.tokenHolder!
      return sendPrivate(reply, committedStep(await keepStep(runId, tokenHash, checkedBody(request, StepBody))))
    },
  )

  app.get(
    '/leases/:id/files/:file_id',
    { config: { role: 'public', doc: FILE_DOC }, onRequest: findHolder },
    (request, reply) => sendFile(openOf(request).runId, request, reply),
  )

  const end = async (request: FastifyRequest, reply: FastifyReply, ending: Ending) => {
    await progress.write()
    return sendPrivate(reply, await endAttempt(request.tokenHolder!, ending))
  }

  app.post(
    '/leases/:id/complete',
    {
      config: { ...held, doc: COMPLETE_DOC },
      bodyLimit: resultBytesMax,
      onRequest: findHolder,
    },
    (request, reply) => {
      const { result = null, cost } = checkedBody(request, CompleteBody)
      return end(request, reply, { verb: 'complete', resultText: canonicalText(result), ...costOf(cost) })
    },
  )

  app.post('/leases/:id/fail', { config: { ...held, doc: FAIL_DOC }, onRequest: findHolder }, (request, reply) =>
    end(request, reply, failureOf(checkedBody(request, FailBody))),
  )

  app.post(
    '/leases/:id/release',
    { config: { ...held, body: 'optional', doc: RELEASE_DOC }, onRequest: findHolder },
    (request, reply) => {
      if (request.body !== undefined) checkedBody(request, ReleaseBody)
      return end(request, reply, { verb: 'release' })
    },
  )
}

function costOf(cost: number | null | undefined): { cost?: number } {
  return typeof cost === 'number' ? { cost: roundAmount(cost) } : {}
}

function failureOf({ error, cancelled, cost }: FailBody): Ending {
  if (!error) {
    // Without a word of what went wrong, and not asked to stop, it is still a failure.
    const unnamed: AttemptError = { class: 'Error', message: 'the worker said that it failed, not why', stack: null }
    return { verb: 'fail', error: cancelled ? null : unnamed, cancelled: cancelled === true, ...costOf(cost) }
  }
  const said: AttemptError = {
    class: cut(error.class, CLASS_LENGTH_MAX),
    message: cut(error.message, MESSAGE_LENGTH_MAX),
    stack: error.stack ? cut(error.stack, STACK_LENGTH_MAX) : null,
  }
  if (typeof error.retryable === 'boolean') said.retryable = error.retryable
  if (typeof error.retry_after_seconds === 'number') said.retryAfterSeconds = error.retry_after_seconds
  if (typeof error.exit_code === 'number') said.exitCode = error.exit_code
  return { verb: 'fail', error: said, cancelled: cancelled === true, ...costOf(cost) }
}

function cut(text: string, lengthMax: number): string {
  return text.length <= lengthMax ? text : `${text.slice(0, lengthMax).toWellFormed()} … [cut]`
}

type ProgressNotes = { note(open: OpenAttempt, value: unknown): void; write(): Promise<void> }

/** Gathered and written once a second while there is some; what an attempt said last is written before it ends. */
function createProgressNotes(app: FastifyInstance, { store, log }: Deps): ProgressNotes {
  const writer = new ProgressWriter(store)
  let timer: NodeJS.Timeout | null = null

  async function write(): Promise<void> {
    if (timer) clearTimeout(timer)
    timer = null
    await writer.write().catch((error: unknown) => log.warn({ err: error }, 'progress was not written'))
  }
  app.addHook('preClose', write)
  return {
    note(open, value) {
      writer.note(open, value)
      timer ??= setTimeout(() => void write(), PROGRESS_EVERY_MS)
    },
    write,
  }
}
