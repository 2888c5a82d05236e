/** The events of one run: a page of them, or a stream that goes on until the run has ended. */

import type { FastifyInstance, FastifyRequest } from 'fastify'
import { EVENT_LIMIT_DEFAULT, RunEventList, RunEventQuery } from '../../contract/event.ts'
import { Refusal } from '../../run/errors.ts'
import type { EventPage } from '../../store/ports/feed.ts'
import type { ApiDeps } from '../api.ts'
import { EVENT_STREAM_TYPE, wantsEventStream } from '../event-stream.ts'
import type { Events } from '../events.ts'
import { type Principal, principalOf } from '../principal.ts'
import { checkedQuery } from '../query.ts'
import type { RouteDoc } from '../route-doc.ts'
import { RunParams, runIdOf } from '../run-path.ts'
import { streamRun } from '../run-stream.ts'
import { sendJson } from '../send-json.ts'
import { assertVisible } from '../visible-run.ts'

const DOC: RouteDoc = {
  summary: 'Read or follow the events of a run',
  description: [
    'As JSON, a page in the order of `seq`.',
    `With \`Accept: ${EVENT_STREAM_TYPE}\` a stream: what has happened so far, then each event as it happens.`,
    'The id of a message is the `seq` of its event, and the stream ends behind the event that ends the run.',
    'A request whose `Last-Event-ID` is the last there will be is answered 204, so that a browser does not ask again.',
  ].join(' '),
  tag: 'events',
  params: RunParams,
  query: RunEventQuery,
  headers: {
    accept: `\`${EVENT_STREAM_TYPE}\` for a stream.`,
    'last-event-id': 'Of a stream: the `seq` of the last event seen.',
  },
  answers: {
    200: { description: 'A page of events, or the stream.', schema: RunEventList, also: [EVENT_STREAM_TYPE] },
    204: { description: 'The run has ended and there is nothing after `Last-Event-ID`.' },
  },
  refusals: ['run-not-found'],
}

export function runEventRoutes(app: FastifyInstance, { store, events }: ApiDeps & { events: Events }): void {
  const { feed } = store

  app.get('/runs/:id/events', { config: { role: 'viewer', doc: DOC } }, async (request, reply) => {
    const runId = runIdOf(request)
    const query = checkedQuery(request, RunEventQuery)
    const check = checkFor(principalOf(request), runId)
    reply.header('Vary', 'Accept')
    if (wantsEventStream(request)) {
      const after = lastSeqOf(request) ?? query.after ?? 0
      const isStreaming = await streamRun({ feed, ...events }, { request, reply }, { runId, after, check })
      return isStreaming ? reply : reply.code(204).send()
    }
    const { after = 0, limit = EVENT_LIMIT_DEFAULT } = query
    const page = check(await feed.ofRun(runId, { after, limit }))
    const answer: RunEventList = {
      data: page.events.map(events.present),
      next_cursor: page.more ? String(page.events.at(-1)!.seq) : null,
    }
    return sendJson(reply, answer)
  })
}

function checkFor(principal: Principal, runId: string): (page: EventPage | null) => EventPage {
  return (page) => {
    assertVisible(principal, page, runId)
    return page
  }
}

function lastSeqOf(request: FastifyRequest): number | null {
  const text = request.headers['last-event-id']
  if (text === undefined || text === '') return null
  if (typeof text === 'string' && /^\d{1,9}$/.test(text)) return Number(text)
  throw new Refusal('invalid-header', 'The Last-Event-ID header must hold the number of an event of this run.')
}
