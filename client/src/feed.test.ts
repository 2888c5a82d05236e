import { expect, test } from 'vitest'
import { answers, loses, refuses, scriptedServer } from '../../test/support/scripted-http.ts'
import { stepClock } from '../../test/support/step-clock.ts'
import { RUN_ID } from '../../test/support/wire-run.ts'
import type { FeedOptions, RunEvent } from './index.ts'
import { Holdfast } from './index.ts'

const event = (seq: number) => ({ run_id: RUN_ID, seq, type: 'started' })
const message = (id: string, seq: number) => `id: ${id}\ndata: ${JSON.stringify(event(seq))}\n\n`
const streams = (text: string) => answers(200, text, { 'content-type': 'text/event-stream; charset=utf-8' })

async function first(url: string, count: number, options: FeedOptions = {}) {
  const client = new Holdfast({ url, clock: stepClock() })
  const events: RunEvent[] = []
  for await (const one of client.events({ model: 'forecast', type: ['started', 'failed'] }, options)) {
    events.push(one)
    if (events.length === count) break
  }
  return events.map(({ seq }) => seq)
}

test('the feed of all runs goes on behind the last place, also one that came without an event', async () => {
  const server = await scriptedServer(
    streams(`id: p0\n\n${message('p1', 1)}${message('p2', 2)}`),
    loses(),
    refuses(503, 'shutting-down'),
    streams(`: heartbeat\nid: p3\n\n`),
    streams(`id: p3\nevent: reset\ndata: {"code":"cursor-lost"}\n\n${message('p4', 3)}`),
  )
  expect(await first(server.url, 3)).toEqual([1, 2, 3])
  expect(server.seen[0]).toMatchObject({ path: '/events?model=forecast&type=started&type=failed' })
  expect(server.seen.map(({ headers }) => headers['last-event-id'])).toEqual([undefined, 'p2', 'p2', 'p2', 'p3'])
})

test('it begins behind a given place and tells each it has passed', async () => {
  const places: string[] = []
  const server = await scriptedServer(streams(message('p8', 1) + message('p9', 2)))
  expect(await first(server.url, 2, { after: 'p7', onPlace: (place) => places.push(place) })).toEqual([1, 2])
  expect(server.seen[0]!.headers['last-event-id']).toBe('p7')
  // Who leaves at an event may not have done with it.
  expect(places).toEqual(['p8'])
})

test('where nothing streams, pages are polled, and a lost place is replaced by the one the service names', async () => {
  const server = await scriptedServer(
    answers(200, { data: [], next_cursor: 'n1' }),
    answers(200, { data: [], next_cursor: 'n1' }),
    refuses(410, 'cursor-lost', {}, { resume_after: 'n0' }),
    answers(200, { data: [event(1), event(2)], next_cursor: 'n2' }),
  )
  expect(await first(server.url, 2)).toEqual([1, 2])
  const after = server.seen.slice(1).map(({ path }) => new URL(path, 'http://x').searchParams.get('after'))
  expect(after).toEqual([null, 'n1', 'n0'])
})

test('a refusal ends it, and so does a service that was never reached', async () => {
  const forbidden = await scriptedServer(refuses(403, 'forbidden'))
  await expect(first(forbidden.url, 1)).rejects.toMatchObject({ status: 403 })
  const silent = await scriptedServer()
  silent.otherwise(loses())
  await expect(first(silent.url, 1)).rejects.toMatchObject({ name: 'MaxRetriesExceeded' })
})

test('it tells when the connection is lost and when the service is heard again', async () => {
  const told: boolean[] = []
  const server = await scriptedServer(streams(message('p1', 1)))
  server.plan(...Array.from({ length: 4 }, () => loses()), streams(message('p2', 2)))
  expect(await first(server.url, 2, { onConnection: (isConnected) => told.push(isConnected) })).toEqual([1, 2])
  expect(told).toEqual([true, false, true])
})
