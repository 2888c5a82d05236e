/**
 * Health for people and probes: `/livez` says the process answers, `/healthz` that what it depends on answers too,
 * `/readyz` that it also wants new requests. Each answers within two seconds, however its parts hang.
 */

import type { FastifyInstance, FastifyReply } from 'fastify'
import { HealthAnswer, LiveAnswer } from '../../contract/health.ts'
import type { ApiDeps } from '../api.ts'
import type { RouteDoc } from '../route-doc.ts'
import { within } from '../within.ts'

const CHECK_MS_MAX = 2_000

type Part = 'postgres' | 'redis'
type Health = { ok: boolean; parts: HealthAnswer['parts'] }

const LIVE_DOC: RouteDoc = {
  summary: 'Ask whether the process answers',
  tag: 'service',
  answers: { 200: { description: 'It does.', schema: LiveAnswer } },
  refusals: [],
}

function healthDoc(summary: string): RouteDoc {
  return {
    summary,
    tag: 'service',
    answers: {
      200: { description: 'All is well.', schema: HealthAnswer },
      503: { description: 'Something is not; the parts say what.', schema: HealthAnswer },
    },
    refusals: [],
  }
}

export function healthRoutes(app: FastifyInstance, deps: ApiDeps & { isStopping: () => boolean }): void {
  const { store, wakeup, isStopping, log } = deps
  const checks: { part: Part; ping: () => Promise<void> }[] = [{ part: 'postgres', ping: shared(() => store.ping()) }]
  if (wakeup.name === 'redis') checks.push({ part: 'redis', ping: shared(() => wakeup.ping()) })

  async function check(): Promise<Health> {
    const parts: Health['parts'] = {}
    await Promise.all(
      checks.map(async ({ part, ping }) => {
        try {
          await within(CHECK_MS_MAX, ping())
          parts[part] = { ok: true, detail: 'answers' }
        } catch (error) {
          // What went wrong may name hosts and users, so it goes to the log only.
          log.warn({ part, err: error }, 'health check failed')
          parts[part] = { ok: false, detail: `does not answer; the log says why` }
        }
      }),
    )
    return { ok: checks.every(({ part }) => parts[part]?.ok), parts }
  }

  const open = (doc: RouteDoc) => ({ config: { role: 'public', doc } }) as const
  app.get('/livez', open(LIVE_DOC), async (_request, reply) => send(reply, true, { status: 'ok' }))
  app.get(
    '/healthz',
    open(healthDoc('Ask whether the service and what it depends on answer')),
    async (_request, reply) => {
      const { ok, parts } = await check()
      return send(reply, ok, { status: ok ? 'ok' : 'unavailable', parts })
    },
  )
  app.get('/readyz', open(healthDoc('Ask whether the service wants new requests')), async (_request, reply) => {
    const { ok, parts } = await check()
    const isReady = ok && !isStopping()
    const status = isReady ? 'ok' : ok ? 'stopping' : 'unavailable'
    return send(reply, isReady, { status, parts })
  })
}

function send(reply: FastifyReply, ok: boolean, body: object): FastifyReply {
  if (!ok) reply.code(503).header('Retry-After', 5)
  reply.header('Cache-Control', 'no-store').header('Content-Type', 'application/json; charset=utf-8')
  return reply.send(JSON.stringify(body))
}

/**
 * Probes that come while one is being answered share its ping, so that a database that hangs is not asked without
 * end.
 */
function shared(ping: () => Promise<void>): () => Promise<void> {
  let underWay: Promise<void> | null = null
  return () => {
    underWay ??= ping().finally(() => {
      underWay = null
    })
    return underWay
  }
}
