/**
 * Where a client that reads from the database meets the follower: with a database, a follower and a stream that do as
 * the test says.
 */

import { expect, test } from 'vitest'
import { decodeCursor, encodeCursor, type FeedCursor } from '../run/feed-cursor.ts'
import { hadEnded, type Moment, parseMoment } from '../run/moment.ts'
import type { Feed, FeedEvent } from '../store/ports/feed.ts'
import type { EventStream } from './event-stream.ts'
import type { FeedFollower, FeedListener } from './feed-follower.ts'
import { type FeedStreamDeps, streamFeed } from './feed-stream.ts'

const CLUSTER = '0123456789abcdef'
const RUN = '01890a0b-0c0d-7000-8000-000000000000'

const place = (after: Moment): FeedCursor => ({ cluster: CLUSTER, atMs: 0, after, batch: null })

function event(xid: number): FeedEvent {
  const rest = { attempt: null, workerId: null, message: null, data: null, status: null }
  return { xid, runId: RUN, seq: xid, type: 'x', at: new Date(0), owner: 'o', model: 'm', queue: 'q', ...rest }
}

/** `moments`: where the database stands at each read. `latest`: how far the follower is each time it is asked. */
async function meet(from: string, moments: string[], latest: string[]) {
  const frames: string[] = []
  let listener: FeedListener | null = null
  let isClosed = false
  const feed = {
    async read(cursor: FeedCursor) {
      const until = parseMoment(moments.shift() ?? '')
      const xids = Array.from({ length: 100 }, (_, xid) => xid)
      const found = xids.filter((xid) => hadEnded(until, xid) && !hadEnded(cursor.after, xid)).map(event)
      const cursors = found.map(({ xid, runId, seq }) => ({ ...cursor, batch: { until, last: { xid, runId, seq } } }))
      return { outcome: 'read', events: found, cursors, cursor: place(until), more: false }
    },
  } as unknown as Feed
  const follower = {
    async listen(one: FeedListener) {
      listener = one
      return { close: () => (isClosed = true) }
    },
    latest: () => parseMoment(latest.length > 1 ? latest.shift()! : latest[0]!),
    position: () => null,
  } as unknown as FeedFollower
  const stream: EventStream = {
    isOpen: () => true,
    send: (frame) => void frames.push(frame),
    drained: async () => {},
    end: () => {},
    onClose: () => {},
    setPlace: () => {},
  }
  const deps = {
    feed,
    follower,
    streams: { open: () => stream, close: () => {} },
    present: ({ seq }: FeedEvent) => seq,
  }
  const http = {} as Parameters<typeof streamFeed>[1]
  await streamFeed(deps as unknown as FeedStreamDeps, http, { cursor: place(parseMoment(from)), fits: () => true })

  const sent = () =>
    frames.flatMap((frame) => {
      const [, id, seq] = /^id: (.*)\ndata: (\d+)\n\n$/.exec(frame) ?? []
      return seq === undefined ? [] : [{ seq: Number(seq), cursor: decodeCursor(id!)! }]
    })
  /** What the follower hands out of a batch. */
  function hand(after: string, until: string, xid: number): void {
    const { runId, seq } = event(xid)
    const batch = { until: parseMoment(until), last: { xid, runId, seq } }
    const cursor = { ...place(parseMoment(after)), batch }
    listener!.onEvent({ event: event(xid), cursor, id: () => encodeCursor(cursor), text: () => String(xid) })
  }
  return { sent, hand, unread: moments, isClosed: () => isClosed }
}

test('live events that were read before are left out, and ids count from what was read', async () => {
  // Read up to a moment at which 12 and 13 had ended and 11 had not; the follower is still before all of them.
  const { sent, hand } = await meet('11:11:', ['11:14:11'], ['11:11:'])
  expect(sent().map(({ seq }) => seq)).toEqual([12, 13])
  for (const xid of [11, 12, 13, 14]) hand('11:11:', '15:15:', xid)
  expect(sent().map(({ seq }) => seq)).toEqual([12, 13, 11, 14])
  const [, , eleven] = sent()
  // Who comes back with the id of 11 has seen 12 and 13 and not yet 14.
  expect([12, 13, 14].map((xid) => hadEnded(eleven!.cursor.after, xid))).toEqual([true, true, false])
})

test('once the follower has passed what was read, its own ids are good', async () => {
  const { sent, hand } = await meet('11:11:', ['14:14:'], ['11:11:'])
  hand('14:14:', '16:16:', 15)
  expect(sent().at(-1)!.cursor.after).toEqual(parseMoment('14:14:'))
})

test('a client that is behind the follower reads until it is not', async () => {
  const { sent, unread, hand } = await meet('11:11:', ['12:12:', '13:13:', '14:14:'], ['13:13:', '13:13:'])
  expect(unread).toEqual(['14:14:'])
  expect(sent().map(({ seq }) => seq)).toEqual([11, 12])
  hand('13:13:', '14:14:', 13)
  expect(sent().map(({ seq }) => seq)).toEqual([11, 12, 13])
})

test('what is handed out while the client still reads is read by the client', async () => {
  const { sent } = await meet('11:11:', ['12:12:', '12:15:12', '15:15:'], ['15:15:'])
  expect(sent().map(({ seq }) => seq)).toEqual([11, 13, 14, 12])
})
