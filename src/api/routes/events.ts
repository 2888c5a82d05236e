/** The feed of the events of all runs the caller may see: a page of it, or a stream that goes on. */

import type { FastifyInstance, FastifyRequest } from 'fastify'
import { EVENT_LIMIT_DEFAULT, FeedPage, FeedQuery } from '../../contract/event.ts'
import { Refusal } from '../../run/errors.ts'
import { decodeCursor, encodeCursor, type FeedCursor } from '../../run/feed-cursor.ts'
import type { Feed, FeedEvent } from '../../store/ports/feed.ts'
import type { ApiDeps } from '../api.ts'
import { EVENT_STREAM_TYPE, wantsEventStream } from '../event-stream.ts'
import type { Events } from '../events.ts'
import { LOST_DETAIL, placeNow, streamFeed } from '../feed-stream.ts'
import { type Principal, principalOf } from '../principal.ts'
import { checkedQuery } from '../query.ts'
import type { RouteDoc } from '../route-doc.ts'
import { sendJson } from '../send-json.ts'
import { maySee } from '../visible-run.ts'

/** So many events are looked at for one page, however few of them fit. */
const LOOKED_AT_MAX = 10_000

const DOC: RouteDoc = {
  summary: 'Read or follow the events of all runs',
  description: [
    'As JSON, a page of what was committed behind `after`; the next page begins at `next_cursor`.',
    `With \`Accept: ${EVENT_STREAM_TYPE}\` a stream; a client that comes back with \`Last-Event-ID\` to any process of the service,`,
    'also after restarts, gets every event once. Order is the order of commits, roughly; within a run go by `seq`.',
    'After a restore of the database an old place may not be known: then a page is refused with `cursor-lost`, and a stream sends',
    'a message `reset` and goes on from before that place.',
  ].join(' '),
  tag: 'events',
  query: FeedQuery,
  headers: {
    accept: `\`${EVENT_STREAM_TYPE}\` for a stream.`,
    'last-event-id': 'Of a stream: the id of the last message seen. It goes before `after`.',
  },
  answers: { 200: { description: 'A page of events, or the stream.', schema: FeedPage, also: [EVENT_STREAM_TYPE] } },
  refusals: ['cursor-lost'],
}

export function feedRoutes(app: FastifyInstance, { store, events }: ApiDeps & { events: Events }): void {
  const { feed } = store

  app.get('/events', { config: { role: 'viewer', doc: DOC } }, async (request, reply) => {
    const query = checkedQuery(request, FeedQuery)
    const fits = filterOf(query, principalOf(request))
    reply.header('Vary', 'Accept')
    if (wantsEventStream(request)) {
      const cursor = lastIdOf(request) ?? cursorOf(query)
      await streamFeed({ feed, ...events }, { request, reply }, { cursor, fits })
      return reply
    }
    const cursor = cursorOf(query)
    const limit = query.limit ?? EVENT_LIMIT_DEFAULT
    const page = cursor ? await readPage(feed, cursor, limit, fits) : { found: [], next: await placeNow(feed) }
    const answer: FeedPage = { data: page.found.map(events.present), next_cursor: encodeCursor(page.next) }
    return sendJson(reply, answer)
  })
}

async function readPage(
  feed: Feed,
  cursor: FeedCursor,
  limit: number,
  fits: (event: FeedEvent) => boolean,
): Promise<{ found: FeedEvent[]; next: FeedCursor }> {
  const found: FeedEvent[] = []
  let next = cursor
  for (let looked = 0; looked < LOOKED_AT_MAX; ) {
    const read = await feed.read(next, limit)
    if (read.outcome === 'lost') {
      throw new Refusal('cursor-lost', LOST_DETAIL, { extra: { resume_after: encodeCursor(read.cursor) } })
    }
    looked += limit
    for (const [index, event] of read.events.entries()) {
      if (!fits(event)) continue
      found.push(event)
      if (found.length === limit) return { found, next: read.cursors[index]! }
    }
    next = read.cursor
    if (!read.more) break
  }
  return { found, next }
}

function filterOf(query: FeedQuery, principal: Principal): (event: FeedEvent) => boolean {
  const { owner, model, queue, type } = query
  const wants = (wanted: string[] | undefined, value: string) => wanted === undefined || wanted.includes(value)
  return (event) =>
    maySee(principal, event.owner) &&
    wants(owner, event.owner) &&
    wants(model, event.model) &&
    wants(queue, event.queue) &&
    wants(type, event.type)
}

function cursorOf({ after }: FeedQuery): FeedCursor | null {
  if (after === undefined) return null
  const cursor = decodeCursor(after)
  if (cursor) return cursor
  throw new Refusal('invalid-query', 'after is not a place in the feed; use next_cursor of a page, or leave it out.')
}

function lastIdOf(request: FastifyRequest): FeedCursor | null {
  const text = request.headers['last-event-id']
  if (text === undefined || text === '') return null
  const cursor = typeof text === 'string' ? decodeCursor(text) : null
  if (cursor) return cursor
  throw new Refusal('invalid-header', 'The Last-Event-ID header must hold the id of a message of this feed.')
}
