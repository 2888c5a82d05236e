import { createServer } from 'node:net'
import { createClient } from 'redis'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { counter, recordLog, wakeupConformance } from '../../test/conformance/wakeup.ts'
import { NO_REDIS, redisForTests } from '../../test/support/redis.ts'
import { until } from '../../test/support/until.ts'
import { createRedisWakeup, type RedisWakeupOptions } from './redis.ts'
import type { Wakeup } from './wakeup.ts'

const redis = await redisForTests()
if (!redis) process.stderr.write(`Tests of the Redis wake-ups are left out: ${NO_REDIS}\n`)
const opened: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close()
})
afterAll(() => redis?.stop())

function start(options: Partial<RedisWakeupOptions> = {}): Wakeup {
  const quick = { blockMs: 200, silenceMs: 300, random: () => 0.5 }
  const wakeup = createRedisWakeup({ url: redis?.url ?? '', log: recordLog(), ...quick, ...options })
  opened.push(wakeup)
  return wakeup
}

async function connect(url = redis?.url) {
  const client = createClient({ url })
  client.on('error', () => {})
  await client.connect()
  opened.push({ close: async () => client.destroy() })
  return client
}

describe.skipIf(!redis)(`wake-ups over Redis${redis ? '' : ` (left out: ${NO_REDIS})`}`, () => {
  wakeupConformance((log) => createRedisWakeup({ url: redis?.url ?? '', log }))

  it('puts the id of the run as a token on the list of its queue', async () => {
    const client = await connect()
    const wakeup = start()
    wakeup.hint('queue:tokens', 'run-1')
    wakeup.hint('queue:tokens', 'run-2')
    await until(async () => (await client.lLen('holdfast:queue:tokens')) === 2, { what: 'both tokens are there' })
    expect(await client.lRange('holdfast:queue:tokens', 0, -1)).toEqual(['run-1', 'run-2'])
  })

  it('gives every list an end: a length and a time', async () => {
    const client = await connect()
    const wakeup = start()
    await client.rPush(
      'holdfast:queue:long',
      Array.from({ length: 10_000 }, () => 'old'),
    )
    wakeup.hint('queue:long', 'newest')
    wakeup.hint('worker:gone', 'run-1')
    await until(() => client.exists('holdfast:worker:gone'), { what: 'the tokens are there' })
    expect(await client.lLen('holdfast:queue:long')).toBe(10_000)
    expect(await client.lIndex('holdfast:queue:long', -1)).toBe('newest')
    expect(await client.ttl('holdfast:queue:long')).toBeGreaterThan(0)
    expect(await client.ttl('holdfast:worker:gone')).toBeGreaterThan(0)
  })

  it('wakes as many idle workers as there are tokens', async () => {
    const workers = [start(), start(), start()]
    const heard = await Promise.all(
      workers.map(async (worker) => {
        const each = counter()
        await worker.subscribe(['queue:shared'], each.onHint)
        await each.more('queue:shared', 0)
        return each
      }),
    )
    await allBlocked(3)
    const before = heard.map((each) => each.count('queue:shared'))
    const sender = start()
    for (const run of ['run-1', 'run-2', 'run-3']) sender.hint('queue:shared', run)
    await Promise.all(heard.map((each, index) => each.more('queue:shared', before[index] ?? 0)))
  })

  it('takes many tokens in few steps, so that a worker does not spin', async () => {
    const client = await connect()
    await client.rPush(
      'holdfast:queue:pile',
      Array.from({ length: 900 }, (_, i) => `run-${i}`),
    )
    const heard = counter()
    await start().subscribe(['queue:pile'], heard.onHint)
    await until(async () => (await client.exists('holdfast:queue:pile')) === 0, { what: 'the pile is gone' })
    expect(heard.count('queue:pile')).toBeLessThan(10)
  })

  it('finds tokens that were left while no worker was there', async () => {
    const client = await connect()
    await client.rPush('holdfast:queue:left', 'run-1')
    const heard = counter()
    await start().subscribe(['queue:left'], heard.onHint)
    await until(async () => (await client.exists('holdfast:queue:left')) === 0, { what: 'the token is taken' })
    expect(heard.count('queue:left')).toBeGreaterThan(0)
  })

  it('does not mind FLUSHALL', async () => {
    const client = await connect()
    const [sender, receiver, heard] = [start(), start(), counter()]
    await receiver.subscribe(['queue:flushed'], heard.onHint)
    await heard.more('queue:flushed', 0)
    await client.flushAll()
    const before = heard.count('queue:flushed')
    sender.hint('queue:flushed', 'run-1')
    await heard.more('queue:flushed', before)
  })

  it('keeps installations with different prefixes apart', async () => {
    const [mine, theirs] = [counter(), counter()]
    await start({ prefix: 'mine:' }).subscribe(['queue:default'], mine.onHint)
    await start({ prefix: 'theirs:' }).subscribe(['queue:default'], theirs.onHint)
    await mine.more('queue:default', 0)
    await theirs.more('queue:default', 0)
    const before = mine.count('queue:default')
    start({ prefix: 'mine:' }).hint('queue:default', 'run-1')
    await mine.more('queue:default', before)
    expect(theirs.count('queue:default')).toBe(1)
  })

  async function allBlocked(count: number): Promise<void> {
    const client = await connect()
    const blocked = async () => Number(/blocked_clients:(\d+)/.exec(await client.info('clients'))?.[1])
    await until(async () => (await blocked()) >= count, { what: `${count} workers wait` })
  }
})

describe.skipIf(!redis)(`wake-ups over a Redis with troubles${redis ? '' : ` (left out: ${NO_REDIS})`}`, () => {
  async function own() {
    const server = await redisForTests()
    if (!server) throw new Error(NO_REDIS)
    opened.push({ close: server.stop })
    return server
  }

  it('outlives a Redis that dies and comes back empty', async () => {
    const first = await own()
    const [log, heard] = [recordLog(), counter()]
    const [sender, receiver] = [start({ url: first.url }), start({ url: first.url, log })]
    await receiver.subscribe(['queue:reborn'], heard.onHint)
    await heard.more('queue:reborn', 0)
    await first.stop()
    await until(() => log.warnings.length > 0, { what: 'the outage is noticed' })
    for (let i = 0; i < 100; i++) sender.hint('queue:reborn', `run-${i}`)
    await expect(sender.ping()).rejects.toThrow()
    const before = heard.count('queue:reborn')
    const second = await redisForTests(Number(new URL(first.url).port))
    opened.push({ close: async () => second?.stop() })
    await heard.more('queue:reborn', before)
    const after = heard.count('queue:reborn')
    await sender.ping().catch(() => {})
    await until(
      () => {
        sender.hint('queue:reborn', 'run-101')
        return heard.count('queue:reborn') > after
      },
      { what: 'a hint comes through again' },
    )
    // The receiver has two connections, and each outage is worth one line.
    expect(log.warnings.length).toBeLessThanOrEqual(2)
  })

  it('gives up a Redis that is frozen, and is back when it thaws', async () => {
    const server = await own()
    const [log, heard] = [recordLog(), counter()]
    const wakeup = start({ url: server.url, log, pingTimeoutMs: 100 })
    await wakeup.subscribe(['queue:frozen'], heard.onHint)
    await heard.more('queue:frozen', 0)
    server.pause()
    await expect(wakeup.ping()).rejects.toThrow()
    await until(() => log.warnings.length > 0, { what: 'the frozen connection is given up' })
    const before = heard.count('queue:frozen')
    server.resume()
    await heard.more('queue:frozen', before)
  })
})

describe('wake-ups over a Redis that is not there', () => {
  it('start at once, say so once, and take hints in silence', async () => {
    const url = `redis://127.0.0.1:${await closedPort()}`
    const log = recordLog()
    const wakeup = start({ url, log, subscribeWaitMs: 200 })
    const heard = counter()
    const subscription = await wakeup.subscribe(['queue:nowhere'], heard.onHint)
    for (let i = 0; i < 50_000; i++) wakeup.hint('queue:nowhere', `run-${i}`)
    await heard.more('queue:nowhere', 0)
    await expect(wakeup.ping()).rejects.toThrow('Redis cannot be reached')
    await subscription.close()
    expect(log.warnings.length).toBeLessThanOrEqual(2)
  })

  it('do not wait for a server that accepts and says nothing', async () => {
    const server = createServer(() => {}).listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    opened.push({ close: async () => void server.close() })
    const address = server.address()
    const port = typeof address === 'object' ? address?.port : 0
    const wakeup = start({ url: `redis://127.0.0.1:${port}`, subscribeWaitMs: 50, pingTimeoutMs: 50 })
    await wakeup.subscribe(['queue:mute'], () => {})
    await expect(wakeup.ping()).rejects.toThrow()
  })

  async function closedPort(): Promise<number> {
    const server = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const address = server.address()
    await new Promise((resolve) => server.close(resolve))
    return typeof address === 'object' && address ? address.port : 0
  }
})
