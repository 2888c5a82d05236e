import { expect, test } from 'vitest'
import { allOf } from '../../test/support/all-of.ts'
import { answers, loses, scriptedServer } from '../../test/support/scripted-http.ts'
import { stepClock } from '../../test/support/step-clock.ts'
import { Holdfast } from './index.ts'

const ID = '0190a000-0000-7000-8000-000000000001'
const progress = (done: number, finished = false) => ({ batch_id: ID, total: 3, done, finished })
const message = (done: number, finished = false) =>
  `id: ${done}\nevent: progress\ndata: ${JSON.stringify(progress(done, finished))}\n\n`
const streams = (text: string) => answers(200, text, { 'content-type': 'text/event-stream' })

const watched = async (url: string) =>
  (await allOf(new Holdfast({ url, clock: stepClock() }).batches.watch(ID))).map(({ done }) => done)

test('a batch is followed over breaks until it is finished; what comes again unchanged is not told again', async () => {
  const server = await scriptedServer(
    streams(message(0) + message(1)),
    loses(),
    streams(message(1) + message(2)),
    streams(`${message(3, true)}id: 3\nevent: completed\ndata: ${JSON.stringify(progress(3, true))}\n\n`),
  )
  expect(await watched(server.url)).toEqual([0, 1, 2, 3])
  expect(server.seen.map(({ path }) => path)).toEqual(Array(4).fill(`/batches/${ID}/events`))
})

test('where nothing streams, it is polled', async () => {
  const server = await scriptedServer(
    answers(200, progress(0)),
    answers(200, progress(0)),
    answers(200, progress(0)),
    answers(200, progress(3, true)),
  )
  expect(await watched(server.url)).toEqual([0, 3])
})

test('a batch is begun once, however often that is sent', async () => {
  const server = await scriptedServer(loses(), answers(201, { batch_id: ID }))
  await new Holdfast({ url: server.url, clock: stepClock() }).batches.create({ title: 'May' })
  const bodies = server.seen.map((seen) => seen.json())
  expect(bodies[0]).toEqual({ title: 'May', batch_id: expect.stringMatching(/^[0-9a-f-]{36}$/) })
  expect(bodies[1]).toEqual(bodies[0])
})
