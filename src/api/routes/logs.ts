/** What the attempts of a run printed: a page of it, or a stream that goes on until the run has ended. */

import type { FastifyInstance, FastifyRequest } from 'fastify'
import { LOG_LIMIT_DEFAULT, LogList, LogQuery } from '../../contract/log.ts'
import { Refusal } from '../../run/errors.ts'
import type { EventPage } from '../../store/ports/feed.ts'
import type { ApiDeps } from '../api.ts'
import { EVENT_STREAM_TYPE, wantsEventStream } from '../event-stream.ts'
import type { Events } from '../events.ts'
import { createLogReader } from '../log-reader.ts'
import { logObject, streamLog } from '../log-stream.ts'
import { principalOf } from '../principal.ts'
import { checkedQuery } from '../query.ts'
import type { RouteDoc } from '../route-doc.ts'
import { RunParams, runIdOf } from '../run-path.ts'
import { sendJson } from '../send-json.ts'
import { assertVisible, NO_EVENTS } from '../visible-run.ts'

const DOC: RouteDoc = {
  summary: 'Read or follow the log of a run',
  description: [
    'What its attempts printed, in pieces, each with a number over all attempts of the run.',
    'As JSON, a page in the order of the numbers.',
    `With \`Accept: ${EVENT_STREAM_TYPE}\` a stream: what was printed so far, then each piece within about a second.`,
    'The id of a message is the `no` of its piece, and the stream ends when the run has ended and everything is sent.',
    'A request whose `Last-Event-ID` is the last there will be is answered 204, so that a browser does not ask again.',
    'Of each attempt so much is kept as HOLDFAST_LOG_MAX_BYTES allows, for HOLDFAST_LOG_DAYS; a piece of the stream `log` says where more was left out.',
  ].join(' '),
  tag: 'runs',
  params: RunParams,
  query: LogQuery,
  headers: {
    accept: `\`${EVENT_STREAM_TYPE}\` for a stream.`,
    'last-event-id': 'Of a stream: the `no` of the last piece seen.',
  },
  answers: {
    200: { description: 'A page of the log, or the stream.', schema: LogList, also: [EVENT_STREAM_TYPE] },
    204: { description: 'The run has ended and there is nothing after `Last-Event-ID`.' },
  },
  refusals: ['run-not-found', 'storage-unavailable'],
}

export function logRoutes(app: FastifyInstance, { store, blob, log, events }: ApiDeps & { events: Events }): void {
  const { feed } = store
  const logs = createLogReader({ logs: store.attemptLogs, blob, log })

  app.get('/runs/:id/logs', { config: { role: 'viewer', doc: DOC } }, async (request, reply) => {
    const runId = runIdOf(request)
    const query = checkedQuery(request, LogQuery)
    const { attempt = null, limit = LOG_LIMIT_DEFAULT } = query
    const principal = principalOf(request)
    const check = (page: EventPage | null): EventPage => {
      assertVisible(principal, page, runId)
      return page
    }
    reply.header('Vary', 'Accept')
    if (wantsEventStream(request)) {
      const after = lastNoOf(request) ?? query.after ?? 0
      const deps = { feed, logs, ...events }
      const isStreaming = await streamLog(deps, { request, reply }, { runId, attempt, after, check })
      return isStreaming ? reply : reply.code(204).send()
    }
    check(await feed.ofRun(runId, NO_EVENTS))
    const { pieces, next } = await logs.read(runId, { attempt, after: query.after ?? 0, limit })
    const answer: LogList = { data: pieces.map(logObject), next_cursor: next === null ? null : String(next) }
    return sendJson(reply, answer)
  })
}

function lastNoOf(request: FastifyRequest): number | null {
  const text = request.headers['last-event-id']
  if (text === undefined || text === '') return null
  if (typeof text === 'string' && /^\d{1,9}$/.test(text)) return Number(text)
  throw new Refusal('invalid-header', 'The Last-Event-ID header must hold the number of a piece of this log.')
}
