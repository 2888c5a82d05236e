import { once } from 'node:events'
import { connect } from 'node:net'
import { type FastifyInstance, type FastifyReply, fastify } from 'fastify'
import { expect, onTestFinished, test } from 'vitest'
import { recordingLog } from '../../test/support/recording-log.ts'
import { readSse } from '../../test/support/sse.ts'
import { until } from '../../test/support/until.ts'
import { createEventStreams, type EventStream, frameOf, type StreamOptions } from './event-stream.ts'

async function streaming(options: Partial<StreamOptions> = {}) {
  const { log, lines } = recordingLog()
  const streams = createEventStreams({
    heartbeatMs: 60_000,
    bufferBytesMax: 1_000_000,
    isStillAllowed: () => true,
    log,
    ...options,
  })
  const app: FastifyInstance = fastify()
  const opened: EventStream[] = []
  app.get('/', async (request, reply: FastifyReply) => {
    reply.header('X-Kept', 'yes')
    opened.push(streams.open(request, reply))
    return reply
  })
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  onTestFinished(() => app.close())
  return { url, streams, opened, lines }
}

test('a stream keeps the headers set before, and may not be gathered or kept on its way', async () => {
  const { url, opened } = await streaming()
  const reader = await readSse(url)
  expect(Object.fromEntries(reader.headers)).toMatchObject({
    'x-kept': 'yes',
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'private, no-cache, no-transform',
    'x-accel-buffering': 'no',
  })
  opened[0]!.send(frameOf({ id: '7', event: 'reset', text: '{"a":1}' }))
  expect((await reader.has(1))[0]).toEqual({ id: '7', event: 'reset', data: { a: 1 } })
  reader.close()
})

test('a reader that takes nothing is cut off before much waits for it', async () => {
  const { url, opened, lines } = await streaming({ bufferBytesMax: 100_000 })
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')
  socket.pause()
  await until(() => opened.length === 1, { what: 'the stream is open' })
  const frame = frameOf({ id: '1', text: JSON.stringify('x'.repeat(50_000)) })
  for (let sent = 0; opened[0]!.isOpen(); sent += 1) {
    expect(sent).toBeLessThan(2_000)
    opened[0]!.send(frame)
    await new Promise(setImmediate)
  }
  expect(lines.some(({ msg }) => msg === 'a reader of events was too slow')).toBe(true)
  socket.destroy()
})

test('a stream whose caller may no longer read ends with the next heartbeat', async () => {
  let allowed = true
  const { url } = await streaming({ heartbeatMs: 10, isStillAllowed: async () => allowed })
  const reader = await readSse(url)
  await until(() => reader.comments.length > 2, { what: 'heartbeats have come' })
  expect(reader.isEnded()).toBe(false)
  allowed = false
  await reader.ends()
})

test('a caller that cannot be checked now keeps its stream', async () => {
  const { url, lines } = await streaming({ heartbeatMs: 10, isStillAllowed: () => Promise.reject(new Error('no')) })
  const reader = await readSse(url)
  await until(() => lines.length > 1, { what: 'the check has failed twice' })
  expect(reader.isEnded()).toBe(false)
  reader.close()
})

test('when all are closed each ends, also one that opens afterwards', async () => {
  const { url, streams } = await streaming()
  const reader = await readSse(url)
  streams.close()
  await reader.ends()
  await (await readSse(url)).ends()
})

test('the end is told once, also to who asks after it', async () => {
  const { url, opened } = await streaming()
  const reader = await readSse(url)
  const closed = Promise.withResolvers<void>()
  opened[0]!.onClose(closed.resolve)
  reader.close()
  await closed.promise
  await new Promise<void>((resolve) => opened[0]!.onClose(resolve))
  expect(opened[0]!.isOpen()).toBe(false)
})

test('a wait for a reader to catch up ends when it is gone', async () => {
  const { url, opened } = await streaming({ bufferBytesMax: 100_000_000 })
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')
  socket.pause()
  await until(() => opened.length === 1, { what: 'the stream is open' })
  opened[0]!.send(frameOf({ id: '1', text: JSON.stringify('x'.repeat(20_000_000)) }))
  const drained = opened[0]!.drained()
  const closed = once(socket, 'close')
  socket.destroy()
  await closed
  await drained
})
