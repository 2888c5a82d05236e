import { createClient } from 'redis'
import { expect, it } from 'vitest'
import { NO_REDIS, redisForTests } from './redis.ts'

it('a test Redis answers, and is gone after stop', async ({ skip }) => {
  const redis = await redisForTests()
  if (!redis) return skip(NO_REDIS)
  const client = createClient({ url: redis.url, socket: { reconnectStrategy: false } })
  client.on('error', () => {})
  await client.connect()
  expect(await client.ping()).toBe('PONG')
  client.destroy()
  await redis.stop()
  await expect(createClient({ url: redis.url, socket: { reconnectStrategy: false } }).connect()).rejects.toThrow()
})
