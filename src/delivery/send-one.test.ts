import { describe, expect, it } from 'vitest'
import { claimedDelivery } from '../../test/support/claimed-delivery.ts'
import { createHeardFailures } from './heard-failures.ts'
import { type SendOptions, sendOne } from './send-one.ts'
import type { Handed, Sender } from './sender.ts'

const HANDED: Handed = { outcome: 'delivered', request: { method: 'POST' }, response: { status: 204 }, error: null }

function optionsOf(send: Sender['send'], changes: Partial<SendOptions> = {}): SendOptions {
  return {
    sender: { send },
    timeoutMs: 10_000,
    abortGraceMs: 5,
    stopping: new AbortController().signal,
    delaysSeconds: [5, 300],
    heardFailures: async ({ tries }) => tries,
    random: () => 0.5,
    ...changes,
  }
}

const answering = (changes: Partial<Handed>) => optionsOf(async () => ({ ...HANDED, ...changes }))

describe('what becomes of a delivery', () => {
  it('that was taken: it is delivered, with its request and response on record', async () => {
    const delivery = claimedDelivery()
    const sent = await sendOne(delivery, answering({}))
    expect(sent).toMatchObject({
      id: delivery.id,
      token: delivery.token,
      outcome: 'delivered',
      request: { method: 'POST' },
      response: { status: 204 },
      error: null,
    })
    expect(sent.durationMs).toBeGreaterThanOrEqual(0)
  })

  it.each([
    [
      'failed the first time: again after the first wait',
      { outcome: 'failed' },
      0,
      { outcome: 'again', delayMs: 5_000 },
    ],
    ['failed the second time: again later', { outcome: 'failed' }, 1, { outcome: 'again', delayMs: 300_000 }],
    ['failed the last time: given up', { outcome: 'failed' }, 2, { outcome: 'dead' }],
    [
      'failed and asks for time: again then',
      { outcome: 'failed', retryAfterMs: 60_000 },
      0,
      { outcome: 'again', delayMs: 60_000 },
    ],
    ['is refused: given up at once', { outcome: 'refused', error: 'no' }, 0, { outcome: 'dead', error: 'no' }],
    [
      'is gone: dropped, its receiver disabled',
      { outcome: 'gone', error: '410' },
      0,
      { outcome: 'dropped', disable: '410' },
    ],
  ] as [string, Partial<Handed>, number, object][])('that %s', async (_name, handed, tries, expected) => {
    expect(await sendOne(claimedDelivery({ tries }), answering(handed))).toMatchObject(expected)
  })
})

describe('a sender that misbehaves harms only its delivery:', () => {
  it('one that throws has failed', async () => {
    const throwing = optionsOf(() => {
      throw new Error('cannot render')
    })
    expect(await sendOne(claimedDelivery(), throwing)).toMatchObject({ outcome: 'again', error: 'cannot render' })
  })

  it('one that rejects with no error at all has failed', async () => {
    const rejecting = optionsOf(() => Promise.reject(undefined))
    expect(await sendOne(claimedDelivery(), rejecting)).toMatchObject({ outcome: 'again', error: 'undefined' })
  })

  it.each([undefined, {}, { outcome: 'fine' }])('one that answers %j has failed', async (nonsense) => {
    const sent = await sendOne(
      claimedDelivery(),
      optionsOf(async () => nonsense as Handed),
    )
    expect(sent).toMatchObject({ outcome: 'again', error: 'the sender did not say how it went' })
  })

  it('one that takes too long is told to end, and what it then says is on record', async () => {
    const slow: Sender['send'] = (_delivery, signal) =>
      new Promise((resolve) => {
        signal.addEventListener('abort', () => resolve({ ...HANDED, outcome: 'failed', error: signal.reason.message }))
      })
    const sent = await sendOne(claimedDelivery(), optionsOf(slow, { timeoutMs: 5, abortGraceMs: 10_000 }))
    expect(sent).toMatchObject({ outcome: 'again', error: 'no answer within 0.005 s', request: { method: 'POST' } })
  })

  it('one that never ends is not waited for', async () => {
    const stuck = optionsOf(() => new Promise(() => {}), { timeoutMs: 5 })
    expect(await sendOne(claimedDelivery(), stuck)).toMatchObject({ outcome: 'again', request: null })
  })

  it('one that tells what Postgres cannot keep is made to tell less', async () => {
    const circle: Record<string, unknown> = {}
    circle.itself = circle
    const sent = await sendOne(claimedDelivery(), answering({ request: circle, response: 'a\0b', error: '\0' }))
    expect(sent).toMatchObject({ outcome: 'delivered', request: null, response: 'a\uFFFDb', error: '\uFFFD' })
  })
})

describe('tries that nobody heard of', () => {
  const failing = (heard: () => Promise<number>) => ({ ...answering({ outcome: 'failed' }), heardFailures: heard })

  it('are none of those after which a delivery is given up', async () => {
    const sent = await sendOne(
      claimedDelivery({ tries: 5 }),
      failing(async () => 1),
    )
    expect(sent).toMatchObject({ outcome: 'again', delayMs: 300_000 })
  })

  it('keep a delivery from being given up while nobody can say how many they are', async () => {
    const sent = await sendOne(
      claimedDelivery({ tries: 2 }),
      failing(() => Promise.reject(new Error('no database'))),
    )
    expect(sent).toMatchObject({ outcome: 'again', delayMs: 300_000 })
  })

  it('end a delivery that has ended many relays, without sending it once more', async () => {
    let sends = 0
    const options = optionsOf(
      async () => {
        sends += 1
        return HANDED
      },
      { heardFailures: async () => 1 },
    )
    expect(await sendOne(claimedDelivery({ tries: 22 }), options)).toMatchObject({ outcome: 'dead' })
    expect(sends).toBe(0)
    expect(await sendOne(claimedDelivery({ tries: 20 }), options)).toMatchObject({ outcome: 'delivered' })
  })

  it('are told by the log of attempts, since the delivery was made or redelivered', async () => {
    const logged = (attempt: number, durationMs: number | null, error: string | null) => ({
      attempt,
      startedAt: new Date(),
      durationMs,
      request: null,
      response: null,
      error,
    })
    const attempts = [
      logged(1, 10, 'before it was redelivered'),
      logged(2, 10, 'refused'),
      logged(3, null, 'unheard'),
      logged(4, 10, null),
      logged(5, 10, 'refused'),
    ]
    const delivery = claimedDelivery({ attempts: 6, tries: 4 })
    expect(await createHeardFailures({ find: async () => ({ delivery, attempts }) })(delivery)).toBe(2)
    expect(await createHeardFailures({ find: async () => null })(delivery)).toBe(0)
  })
})

describe('when the relay must end', () => {
  const stopped = () => AbortSignal.abort()

  it('what is broken off is given back at once, and never as the last try', async () => {
    const stuck = optionsOf(() => new Promise(() => {}), { stopping: stopped() })
    expect(await sendOne(claimedDelivery({ tries: 2 }), stuck)).toMatchObject({
      outcome: 'again',
      delayMs: 0,
      error: null,
      response: { note: 'the relay was stopped while this was being sent' },
    })
  })

  it('what was answered all the same has failed as it would have', async () => {
    const options = { ...answering({ outcome: 'failed', error: 'answered 500' }), stopping: stopped() }
    expect(await sendOne(claimedDelivery(), options)).toMatchObject({ delayMs: 5_000, error: 'answered 500' })
  })

  it('what was taken all the same is delivered', async () => {
    const options = { ...answering({}), stopping: stopped() }
    expect(await sendOne(claimedDelivery(), options)).toMatchObject({ outcome: 'delivered' })
  })
})
