import type { FastifyReply } from 'fastify'
import { expect, test } from 'vitest'
import { createTestApi } from '../../test/support/api.ts'
import { TOKENS_ONLY, testToken } from '../../test/support/tokens.ts'
import { createRateLimit } from './rate-limit.ts'

function limited(perMinute: number, burst: number | null = null) {
  let now = 0
  const limit = createRateLimit({ perMinute, burst }, () => now)!
  return {
    pass: (ms: number) => {
      now += ms
    },
    take(caller = 'a') {
      const headers: Record<string, unknown> = {}
      const reply = { header: (name: string, value: unknown) => Object.assign(headers, { [name]: value }) }
      const refused = limit.take(caller, reply as unknown as FastifyReply)
      return { code: refused?.code ?? null, ...headers }
    },
  }
}

test('as many requests as a minute allows may come at once, and the headers count them down', () => {
  const { take } = limited(60)
  expect(take()).toEqual({
    code: null,
    'RateLimit-Policy': '"default";q=60;w=60',
    RateLimit: '"default";r=59;t=1',
  })
  for (let index = 1; index < 60; index += 1) expect(take().code).toBeNull()
  expect(take()).toMatchObject({ code: 'rate-limited', RateLimit: '"default";r=0;t=60', 'Retry-After': 1 })
})

test('after the stated wait the next request goes through', () => {
  const { take, pass } = limited(6, 1)
  take()
  const { 'Retry-After': seconds } = take() as { 'Retry-After'?: number }
  expect(seconds).toBe(10)
  pass(9_999)
  expect(take().code).toBe('rate-limited')
  pass(1)
  expect(take().code).toBeNull()
})

test('a pause never saves up more than the burst', () => {
  const { take, pass } = limited(600, 2)
  take()
  pass(3_600_000)
  expect([take(), take(), take()].map(({ code }) => code)).toEqual([null, null, 'rate-limited'])
})

test('callers do not share', () => {
  const { take } = limited(60, 1)
  take('a')
  expect(take('b').code).toBeNull()
})

test('0 is no limit', () => {
  expect(createRateLimit({ perMinute: 0, burst: 5 })).toBeNull()
})

test('over HTTP the limit is per token, a problem that may be retried, and spares public routes', async () => {
  const api = await createTestApi({ config: { access: { ...TOKENS_ONLY, ratePerMinute: 2 } } })
  const [one, other] = [await testToken(api.store, 'viewer'), await testToken(api.store, 'viewer')]
  const answers = []
  for (let index = 0; index < 3; index += 1) answers.push(await api.get('/runs', one.headers))
  expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200, 429])
  expect(answers[0]!.headers).toMatchObject({
    'ratelimit-policy': '"default";q=2;w=60',
    ratelimit: '"default";r=1;t=30',
  })
  expect(answers[2]!.headers).toMatchObject({ ratelimit: '"default";r=0;t=60', 'retry-after': '30' })
  expect(answers[2]!.json()).toMatchObject({ code: 'rate-limited', retryable: true })
  expect((await api.get('/runs', other.headers)).statusCode).toBe(200)
  expect((await api.get('/livez', one.headers)).headers.ratelimit).toBeUndefined()
})

test('open mode has no limit unless it is given one', async () => {
  const free = await createTestApi()
  expect((await free.get('/runs')).headers.ratelimit).toBeUndefined()
  const bound = await createTestApi({ config: { access: { ...TOKENS_ONLY, mode: 'open', openRatePerMinute: 1 } } })
  expect([(await bound.get('/runs')).statusCode, (await bound.get('/runs')).statusCode]).toEqual([200, 429])
})
