import { expect, test } from 'vitest'
import { answers, loses, refuses, scriptedServer } from '../../test/support/scripted-http.ts'
import { stepClock } from '../../test/support/step-clock.ts'
import { RUN_ID } from '../../test/support/wire-run.ts'
import { type FollowLogsOptions, Holdfast } from './index.ts'

const piece = (no: number, attempt = 1) => ({ no, attempt, at: '2030-01-31T08:00:00Z', stream: 'log', text: `${no}\n` })
const message = (no: number, attempt = 1) => `id: ${no}\ndata: ${JSON.stringify(piece(no, attempt))}\n\n`
const streams = (text: string) => answers(200, text, { 'content-type': 'text/event-stream; charset=utf-8' })
const page = (...data: unknown[]) => answers(200, { data, next_cursor: null })
const run = (finished_at: string | null) => answers(200, { run_id: RUN_ID, finished_at })

async function followed(url: string, options: FollowLogsOptions = {}): Promise<number[]> {
  const client = new Holdfast({ url, clock: stepClock() })
  const numbers: number[] = []
  for await (const { no } of client.followLogs(RUN_ID, options)) numbers.push(no)
  return numbers
}

test('a log is followed over lost connections, each piece once, until the service says that it is over', async () => {
  const server = await scriptedServer(
    streams(message(1) + message(2)),
    loses(),
    refuses(503, 'shutting-down'),
    streams(`: heartbeat\n\n${message(2)}${message(3, 2)}`),
    answers(204, ''),
  )
  expect(await followed(server.url)).toEqual([1, 2, 3])
  expect(server.seen[0]!.path).toBe(`/runs/${RUN_ID}/logs`)
  expect(server.seen.map(({ headers }) => headers['last-event-id'])).toEqual([undefined, '2', '2', '2', '3'])
})

test('of one attempt, and behind a piece', async () => {
  const server = await scriptedServer(streams(message(5) + message(6, 2) + message(7)), answers(204, ''))
  expect(await followed(server.url, { attempt: 2, after: 4 })).toEqual([6])
  expect(server.seen.map(({ headers }) => headers['last-event-id'])).toEqual(['4', '7'])
})

test('where nothing streams, pages are polled until the run has ended and its last page is empty', async () => {
  const server = await scriptedServer(
    page(piece(1)),
    page(piece(1), piece(2)),
    page(),
    run(null),
    page(),
    run('2030-01-31T08:00:01Z'),
    page(piece(3)),
    page(),
    run('2030-01-31T08:00:01Z'),
    page(),
  )
  expect(await followed(server.url)).toEqual([1, 2, 3])
})

test('a run that is not there ends it', async () => {
  const server = await scriptedServer(refuses(404, 'run-not-found'))
  await expect(followed(server.url)).rejects.toMatchObject({ status: 404 })
})

test('the size of a result is told without fetching it', async () => {
  const server = await scriptedServer(answers(200, '', { 'content-length': '5077790' }), answers(200, ''))
  const client = new Holdfast({ url: server.url, clock: stepClock() })
  expect(await client.resultBytes(RUN_ID)).toBe(5_077_790)
  expect(server.seen[0]).toMatchObject({ method: 'HEAD', path: `/runs/${RUN_ID}/result` })
  expect(await client.resultBytes(RUN_ID)).toBeNull()
})
