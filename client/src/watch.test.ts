import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { allOf } from '../../test/support/all-of.ts'
import {
  type Act,
  answers,
  loses,
  refuses,
  type ScriptedServer,
  scriptedServer,
} from '../../test/support/scripted-http.ts'
import { stepClock } from '../../test/support/step-clock.ts'
import { RUN_ID, wireRun } from '../../test/support/wire-run.ts'
import { Holdfast, type RunEvent, type RunStatus, type WatchOptions } from './index.ts'

const event = (seq: number, status: RunStatus = 'RUNNING'): RunEvent => ({
  run_id: RUN_ID,
  seq,
  type: 'happened',
  at: '2030-01-01T00:00:00.000Z',
  attempt: null,
  worker_id: null,
  status,
  message: null,
  data: null,
})

const text = (...events: RunEvent[]) => events.map((one) => `id: ${one.seq}\ndata: ${JSON.stringify(one)}\n\n`).join('')

const begins = (response: ServerResponse) =>
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' })

/** Sends the pieces one by one, then ends well, or breaks. */
const streams =
  (pieces: string[], end: 'end' | 'break' | 'stay' = 'end'): Act =>
  (_seen, response) => {
    begins(response).flushHeaders()
    const send = (index: number): void => {
      const piece = pieces[index]
      if (piece !== undefined) response.write(piece, () => setImmediate(() => send(index + 1)))
      else if (end === 'end') response.end()
      else if (end === 'break') response.socket?.resetAndDestroy()
    }
    send(0)
  }

async function watched(server: ScriptedServer, options: WatchOptions = {}) {
  const clock = stepClock()
  const client = new Holdfast({ url: server.url, clock })
  const seqs: number[] = []
  const done = (async () => {
    for await (const { seq } of client.watch(RUN_ID, options)) seqs.push(seq)
  })()
  return { seqs, done, clock }
}

const lastIds = ({ seen }: ScriptedServer) => seen.map(({ headers }) => headers['last-event-id'])

test('events come in order until the one that ends the run, whatever pieces they arrive in', async () => {
  const whole =
    `: hello\n\n${text(event(1, 'PENDING'), event(2))}`.replaceAll('\n', '\r\n') + text(event(3, 'SUCCEEDED'))
  const server = await scriptedServer(streams([...whole], 'stay'))
  const { seqs, done } = await watched(server)
  await done
  expect(seqs).toEqual([1, 2, 3])
  expect(server.seen).toHaveLength(1)
  expect(server.seen[0]).toMatchObject({ path: `/runs/${RUN_ID}/events`, headers: { accept: 'text/event-stream' } })
})

test('a stream that breaks in the middle of an event is taken up behind the last whole one', async () => {
  const server = await scriptedServer(
    streams([text(event(1), event(2)), text(event(3)).slice(0, 20)], 'break'),
    loses(),
    refuses(503, 'shutting-down'),
    streams([text(event(2), event(3))]),
    streams([text(event(3), event(4, 'FAILED'), event(5, 'FAILED'))], 'stay'),
  )
  const { seqs, done } = await watched(server)
  await done
  expect(seqs).toEqual([1, 2, 3, 4])
  expect(lastIds(server)).toEqual([undefined, '2', '2', '2', '3'])
})

test('the service may be away for minutes, but not for ever', async () => {
  const server = await scriptedServer(streams([text(event(1))]))
  server.otherwise(loses())
  const { seqs, done, clock } = await watched(server)
  await expect(done).rejects.toMatchObject({ name: 'MaxRetriesExceeded' })
  expect(seqs).toEqual([1])
  expect(clock.slept.reduce((sum, ms) => sum + ms)).toBeGreaterThan(5 * 60_000)
})

test('a service that was never reached is given up after the usual retries', async () => {
  const server = await scriptedServer()
  server.otherwise(loses())
  const { done, clock } = await watched(server)
  await expect(done).rejects.toMatchObject({ name: 'MaxRetriesExceeded' })
  expect(clock.slept).toEqual([1000, 2000, 4000])
})

test('a run that does not exist is told at once', async () => {
  const server = await scriptedServer(refuses(404, 'run-not-found'))
  const { done } = await watched(server)
  await expect(done).rejects.toMatchObject({ status: 404, code: 'run-not-found' })
})

test('where nothing streams, pages are polled', async () => {
  const page = (...data: RunEvent[]) => answers(200, { data, next_cursor: null })
  const server = await scriptedServer(
    page(event(1)),
    page(event(1)),
    page(),
    answers(200, wireRun({ status: 'RUNNING' })),
    page(event(2), event(3, 'CANCELLED')),
  )
  const { seqs, done, clock } = await watched(server)
  await done
  expect(seqs).toEqual([1, 2, 3])
  expect(server.seen.map(({ path }) => path.replace(`/runs/${RUN_ID}`, ''))).toEqual([
    '/events',
    '/events?after=0&limit=1000',
    '/events?after=1&limit=1000',
    '',
    '/events?after=1&limit=1000',
  ])
  expect(clock.slept).toEqual([1000, 1000])
})

test('who watches behind the end of a run is done', async () => {
  const server = await scriptedServer(
    (_seen, response) => void response.writeHead(204).end(),
    answers(200, wireRun({ status: 'SUCCEEDED' })),
    answers(200, { data: [], next_cursor: null }),
  )
  const { seqs, done } = await watched(server, { after: 7 })
  await done
  expect(seqs).toEqual([])
  expect(lastIds(server)[0]).toBe('7')
})

test('an abort ends a silent stream on both sides', async () => {
  let closed: Promise<unknown> = Promise.reject(new Error('nobody came'))
  closed.catch(() => {})
  const controller = new AbortController()
  const reason = new Error('enough')
  const server = await scriptedServer((seen, response) => {
    closed = new Promise((resolve) => response.once('close', resolve))
    streams([text(event(1))], 'stay')(seen, response)
  })
  const client = new Holdfast({ url: server.url })
  const iterator = client.watch(RUN_ID, { signal: controller.signal })
  expect((await iterator.next()).value).toMatchObject({ seq: 1 })
  const next = iterator.next()
  controller.abort(reason)
  await expect(next).rejects.toBe(reason)
  await closed
})

test('leaving the loop closes the connection', async () => {
  let closed: Promise<unknown> = Promise.resolve()
  const server = await scriptedServer((seen, response) => {
    closed = new Promise((resolve) => response.once('close', resolve))
    streams([text(event(1))], 'stay')(seen, response)
  })
  for await (const _ of new Holdfast({ url: server.url }).watch(RUN_ID)) break
  await closed
})

test('events reads all pages', async () => {
  const server = await scriptedServer(
    answers(200, { data: [event(1), event(2)], next_cursor: '2' }),
    answers(200, { data: [event(3)], next_cursor: null }),
  )
  const client = new Holdfast({ url: server.url })
  const seqs = (await allOf(client.events(RUN_ID))).map(({ seq }) => seq)
  expect(seqs).toEqual([1, 2, 3])
})
