import { createClient } from 'redis'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { claimedDelivery } from '../../test/support/claimed-delivery.ts'
import { NO_REDIS, redisForTests } from '../../test/support/redis.ts'
import { until } from '../../test/support/until.ts'
import type { Sender } from './sender.ts'
import { createStreamSender, type StreamSenderOptions } from './stream-sender.ts'

const RUN = '01980000-0000-7000-8000-000000000001'
const FACT = { type: 'run.failed', timestamp: '2026-03-01T12:00:00.000Z', data: { run_id: RUN, seq: 5 } }
const GOING_ON = new AbortController().signal

const redis = await redisForTests()
if (!redis) process.stderr.write(`Tests of the stream are left out: ${NO_REDIS}\n`)
const opened: { close(): Promise<unknown> }[] = []
afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close()
})
afterAll(() => redis?.stop())

function start(options: Partial<StreamSenderOptions> = {}): Sender {
  const usual = { url: redis?.url ?? '', stream: 'facts', lengthMax: 1_000, publicUrl: 'https://holdfast.example.org' }
  const sender = createStreamSender({ ...usual, silenceMs: 1_000, ...options })
  opened.push(sender)
  return sender
}

async function connect(url = redis?.url) {
  const client = createClient({ url })
  client.on('error', () => {})
  await client.connect()
  opened.push({ close: async () => client.destroy() })
  return client
}

async function entriesOf(client: Awaited<ReturnType<typeof connect>>, stream: string) {
  return (await client.xRange(stream, '-', '+')) ?? []
}

/** The numbers of the connections that senders have. */
async function connectionsOf(client: Awaited<ReturnType<typeof connect>>): Promise<string[]> {
  const lines = (await client.sendCommand<string>(['CLIENT', 'LIST'])).split('\n')
  return lines.filter((line) => line.includes('name=holdfast-stream')).map((line) => line.split(' ')[0]!)
}

function fact(messageId: string, data: unknown = FACT) {
  return claimedDelivery({ channel: 'stream', to: { channel: 'stream' }, messageId, data })
}

describe.skipIf(!redis)(`the stream${redis ? '' : ` (left out: ${NO_REDIS})`}`, () => {
  it('gets a fact as one entry, with a link to what it is about', async () => {
    const client = await connect()
    const handed = await start({ stream: 'one' }).send(fact('a_5'), GOING_ON)
    const [entry] = await entriesOf(client, 'one')
    expect(handed).toMatchObject({ outcome: 'delivered', error: null, response: { entry_id: entry!.id } })
    expect(handed.request).toEqual({ stream: 'one', length_max: 1_000, entry: { ...entry!.message } })
    const { data, ...rest } = entry!.message
    expect(rest).toEqual({ id: 'a_5', type: 'run.failed', at: FACT.timestamp })
    expect(JSON.parse(data!)).toEqual({
      run_id: RUN,
      seq: 5,
      links: { self: `https://holdfast.example.org/runs/${RUN}` },
    })
  })

  it('what is sent again is a second entry with the same id and the same bytes', async () => {
    const client = await connect()
    const sender = start({ stream: 'twice' })
    for (const _ of [1, 2]) await sender.send(fact('a_5'), GOING_ON)
    const [first, second] = await entriesOf(client, 'twice')
    expect(second!.message).toEqual(first!.message)
    expect(second!.id).not.toBe(first!.id)
  })

  it('loses its oldest entries and stays about as long as it may be', async () => {
    const client = await connect()
    const sender = start({ stream: 'long', lengthMax: 200 })
    await Promise.all(Array.from({ length: 1_000 }, (_, no) => sender.send(fact(`a_${no}`), GOING_ON)))
    const length = await client.xLen('long')
    expect(length).toBeGreaterThanOrEqual(200)
    // Redis drops blocks of 100 entries.
    expect(length).toBeLessThanOrEqual(300)
    expect((await entriesOf(client, 'long')).at(-1)!.message.id).toBe('a_999')
  })

  it('a key that is something else fails one sending after the other, on one connection', async () => {
    const client = await connect()
    await client.set('taken', 'text')
    const sender = start({ stream: 'taken' })
    await sender.send(fact('a_0'), GOING_ON)
    const before = await connectionsOf(client)
    expect(before).toHaveLength(1)
    for (const id of ['a_1', 'a_2']) {
      const handed = await sender.send(fact(id), GOING_ON)
      expect(handed).toMatchObject({ outcome: 'failed', response: null, error: expect.stringContaining('WRONGTYPE') })
    }
    await client.del('taken')
    expect(await sender.send(fact('a_1'), GOING_ON)).toMatchObject({ outcome: 'delivered' })
    expect(await connectionsOf(client)).toEqual(before)
  })

  it('a replica is left, so that the next sending may find the server that took its place', async () => {
    const client = await connect()
    const sender = start({ stream: 'moved' })
    await sender.send(fact('a_1'), GOING_ON)
    const before = await connectionsOf(client)
    await client.sendCommand(['REPLICAOF', '127.0.0.1', '1'])
    const handed = await sender.send(fact('a_2'), GOING_ON)
    await client.sendCommand(['REPLICAOF', 'NO', 'ONE'])
    expect(handed).toMatchObject({ outcome: 'failed', error: expect.stringContaining('READONLY') })
    expect(await sender.send(fact('a_2'), GOING_ON)).toMatchObject({ outcome: 'delivered' })
    expect(await connectionsOf(client)).toEqual([expect.not.stringMatching(before[0]!)])
  })
})

describe.skipIf(!redis)('a Redis in trouble', () => {
  it('is away: sendings fail at once, and work again once it is back at the same address', async () => {
    const first = (await redisForTests())!
    opened.push({ close: () => first.stop() })
    const sender = start({ url: first.url, stream: 'back' })
    expect(await sender.send(fact('a_1'), GOING_ON)).toMatchObject({ outcome: 'delivered' })
    await first.stop()
    for (const id of ['a_2', 'a_3'])
      expect(await sender.send(fact(id), GOING_ON)).toMatchObject({ outcome: 'failed', error: expect.any(String) })
    const second = (await redisForTests(Number(new URL(first.url).port)))!
    opened.push({ close: () => second.stop() })
    await until(async () => (await sender.send(fact('a_2'), GOING_ON)).outcome === 'delivered', {
      what: 'the stream is reached again',
    })
    expect(await (await connect(second.url)).xLen('back')).toBe(1)
  })

  it('stands still: a sending ends when its time is over and takes those that wait with it', async () => {
    const mine = (await redisForTests())!
    opened.push({ close: () => mine.stop() })
    const sender = start({ url: mine.url, stream: 'still', silenceMs: 60_000 })
    await sender.send(fact('a_1'), GOING_ON)
    mine.pause()
    const ending = new AbortController()
    const waiting = [sender.send(fact('a_2'), ending.signal), sender.send(fact('a_3'), GOING_ON)]
    ending.abort(new Error('no answer within 15 s'))
    for (const handed of await Promise.all(waiting))
      expect(handed).toMatchObject({ outcome: 'failed', error: 'no answer within 15 s' })
    mine.resume()
    expect(await sender.send(fact('a_4'), GOING_ON)).toMatchObject({ outcome: 'delivered' })
  })

  it('stands still from the beginning: it is found out by silence, and closing does not wait for it', async () => {
    const mine = (await redisForTests())!
    opened.push({ close: () => mine.stop() })
    mine.pause()
    const quick = start({ url: mine.url, silenceMs: 200 })
    expect(await quick.send(fact('a_1'), GOING_ON)).toMatchObject({ outcome: 'failed' })
    const patient = start({ url: mine.url, silenceMs: 60_000 })
    const waiting = patient.send(fact('a_1'), GOING_ON)
    await patient.close()
    expect(await waiting).toMatchObject({ outcome: 'failed', error: 'the sender is closed' })
    expect(await patient.send(fact('a_2'), GOING_ON)).toMatchObject({ error: 'the sender is closed' })
  })
})

it('tells no password when Redis cannot be reached', async () => {
  const handed = await start({ url: 'redis://:CANARY@127.0.0.1:1' }).send(fact('a_1'), GOING_ON)
  expect(handed.outcome).toBe('failed')
  expect(JSON.stringify(handed)).not.toContain('CANARY')
})

it('what is no fact is refused, and what was aborted before is not begun', async () => {
  const sender = start({ url: 'redis://127.0.0.1:1' })
  for (const data of [null, 'text', { type: 'run.failed' }])
    expect(await sender.send(fact('a_1', data), GOING_ON)).toMatchObject({ outcome: 'refused' })
  const handed = await sender.send(fact('a_1'), AbortSignal.abort(new Error('the relay was stopped')))
  expect(handed).toMatchObject({ outcome: 'failed', error: 'the relay was stopped' })
})
