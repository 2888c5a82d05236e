/** The relay over fakes of its ports: what its loops do with each other, with senders that misbehave and with a database that goes away. */

import { describe, expect, it, onTestFinished } from 'vitest'
import { claimedDelivery } from '../../test/support/claimed-delivery.ts'
import { recordingLog } from '../../test/support/recording-log.ts'
import { until } from '../../test/support/until.ts'
import type { ClaimedDelivery, Sent } from '../store/ports/deliveries.ts'
import { createMetrics } from '../telemetry/metrics.ts'
import { Relay, type RelayDeps, type RelaySettings } from './relay.ts'
import type { Handed, Sender } from './sender.ts'

const DELIVERED: Handed = { outcome: 'delivered', request: null, response: null, error: null }

/** Slow enough that nothing here can be due to a poll. */
const SETTINGS: RelaySettings = {
  sendsMax: 100,
  pollMs: 3_600_000,
  leaseMs: 60_000,
  sendTimeoutMs: 15_000,
  delaysSeconds: [5],
  shutdownGraceMs: 10_000,
  keepDays: null,
}

/** Facts become deliveries when they are spread; each receiver has two slots. */
function fakeStore(facts: ClaimedDelivery[]) {
  const waiting: ClaimedDelivery[] = []
  const leased = new Map<string, ClaimedDelivery>()
  const settled: Sent[] = []
  const told = { watched: 0, forgotten: [] as number[], isDown: false, claims: 0 }
  const check = () => {
    if (told.isDown) throw new Error('no database')
  }
  const store: RelayDeps['store'] = {
    outbox: {
      async spread(limit) {
        check()
        const taken = facts.splice(0, Math.min(limit, 3))
        waiting.push(...taken)
        return { facts: taken.length, deliveries: taken.length, broken: 0, isMore: facts.length > 0 }
      },
      async watchBatches() {
        told.watched += 1
        return 0
      },
      async forget(days) {
        told.forgotten.push(days)
        return told.forgotten.length < 3
      },
    },
    deliveries: {
      async claim({ limit, channels }) {
        check()
        told.claims += 1
        const taken: ClaimedDelivery[] = []
        for (const one of [...waiting]) {
          const busy = [...leased.values()].filter(({ receiverId }) => receiverId === one.receiverId).length
          if (taken.length === limit || busy >= 2 || !channels.includes(one.channel)) continue
          waiting.splice(waiting.indexOf(one), 1)
          leased.set(one.id, one)
          taken.push(one)
        }
        return taken
      },
      async settle(sent) {
        check()
        const known = sent.filter(({ id }) => leased.delete(id))
        settled.push(...known)
        return new Set(known.map(({ id }) => id))
      },
      find: async () => null,
    },
    async ping() {
      check()
    },
  }
  return { store, settled, told, leased, outcomes: () => settled.map(({ outcome }) => outcome).sort() }
}

function senderOf(send: (delivery: ClaimedDelivery, signal: AbortSignal) => Promise<Handed>, channel = 'webhook') {
  const closed = { times: 0 }
  const sender: Sender = {
    channel: channel as Sender['channel'],
    send,
    async close() {
      closed.times += 1
    },
  }
  return Object.assign(sender, { closed })
}

/** Ends only when it is told to. */
const unanswered = (_delivery: ClaimedDelivery, signal: AbortSignal) =>
  new Promise<Handed>((resolve) => {
    signal.addEventListener('abort', () => resolve({ ...DELIVERED, outcome: 'failed', error: 'aborted' }))
  })

function startRelay(facts: ClaimedDelivery[], senders: Sender[], changes: Partial<RelaySettings> = {}) {
  const fake = fakeStore(facts)
  const { log, lines } = recordingLog()
  const metrics = createMetrics({ processMetrics: false })
  const settings = { ...SETTINGS, ...changes }
  const relay = new Relay({ id: 'relay-1', store: fake.store, senders, settings, log, metrics, random: () => 0.5 })
  relay.start()
  onTestFinished(() => relay.stop())
  return { relay, metrics, lines, ...fake }
}

const many = (count: number, changes: Partial<ClaimedDelivery> = {}) =>
  Array.from({ length: count }, () => claimedDelivery(changes))
const all = (settled: Sent[], count: number) => until(() => settled.length === count, { what: `${count} are settled` })

describe('a relay', () => {
  it('spreads, sends and settles all there is without waiting for a poll, within the slots of each receiver', async () => {
    let [now, most] = [0, 0]
    const sender = senderOf(async () => {
      now += 1
      most = Math.max(most, now)
      await new Promise((next) => setImmediate(next))
      now -= 1
      return DELIVERED
    })
    const { settled, outcomes, metrics } = startRelay(many(20, { receiverId: 'one' }), [sender])
    await all(settled, 20)
    expect(outcomes()).toEqual(Array(20).fill('delivered'))
    expect(most).toBe(2)
    const text = await metrics.text()
    expect(text).toContain('delivery_attempts_total{channel="webhook",outcome="delivered"} 20')
    expect(text).toContain('delivery_duration_seconds_count{channel="webhook"} 20')
    expect(text).toMatch(/^outbox_facts_spread_total 20$/m)
  })

  it.each([
    ['it may', { sendsMax: 4 }, {}],
    ['its sender can', {}, { sendsMax: 4 }],
  ])('never sends more at once than %s', async (_name, settings, ofSender) => {
    let [now, most] = [0, 0]
    const sender = senderOf(async () => {
      now += 1
      most = Math.max(most, now)
      await new Promise((next) => setImmediate(next))
      now -= 1
      return DELIVERED
    })
    const { settled } = startRelay(many(30), [Object.assign(sender, ofSender)], settings)
    await all(settled, 30)
    expect(most).toBeLessThanOrEqual(4)
  })

  it('is not held up by a message that cannot be sent, nor by a receiver that never answers', async () => {
    const poison = claimedDelivery({ messageId: 'poison' })
    const stuck = many(3, { receiverId: 'stuck' })
    const sender = senderOf((delivery, signal) => {
      if (delivery === poison) throw new Error('cannot render')
      if (delivery.receiverId === 'stuck') return unanswered(delivery, signal)
      return Promise.resolve(DELIVERED)
    })
    const { settled, leased, relay, lines } = startRelay([poison, ...stuck, ...many(10)], [sender], {
      shutdownGraceMs: 0,
    })
    await all(settled, 11)
    expect(settled.find(({ id }) => id === poison.id)).toMatchObject({ outcome: 'again', error: 'cannot render' })
    expect(leased.size).toBe(2)
    expect(relay.sending).toBe(2)
    expect(lines).toContainEqual(
      expect.objectContaining({ level: 'info', msg: 'a delivery failed; it is tried again' }),
    )
  })

  it('sends by one channel while another is stuck', async () => {
    const mail = senderOf(unanswered, 'mail')
    const webhook = senderOf(async () => DELIVERED)
    const hooks = many(5)
    const facts = [...many(5, { channel: 'mail' }), ...hooks]
    const { settled } = startRelay(facts, [mail, webhook], { sendsMax: 1, shutdownGraceMs: 0 })
    await all(settled, 5)
    expect(settled.map(({ id }) => id).sort()).toEqual(hooks.map(({ id }) => id).sort())
  })

  it('claims nothing more while the database is away, and goes on when it is back', async () => {
    const gate = Promise.withResolvers<void>()
    const sender = senderOf(async () => {
      await gate.promise
      return DELIVERED
    })
    const { settled, told, relay, lines } = startRelay(many(6), [sender], { sendsMax: 2 })
    await until(() => relay.sending === 2, { what: 'two are being sent' })
    told.isDown = true
    gate.resolve()
    await until(() => lines.some(({ msg }) => msg === 'deliveries could not be settled; trying again'), {
      what: 'it fails',
    })
    expect(relay.sending).toBe(2)
    told.isDown = false
    await all(settled, 6)
  })

  it('says which deliveries it gave up and which receivers are gone', async () => {
    const [dead, gone] = [claimedDelivery({ tries: 1 }), claimedDelivery()]
    const sender = senderOf(async (delivery) =>
      delivery === dead
        ? { ...DELIVERED, outcome: 'failed', error: 'answered 500' }
        : { ...DELIVERED, outcome: 'gone', error: 'answered 410' },
    )
    const fake = fakeStore([dead, gone])
    fake.store.deliveries.find = async () => ({
      delivery: dead,
      attempts: [
        { attempt: 0, startedAt: new Date(), durationMs: 1, request: null, response: null, error: 'answered 500' },
      ],
    })
    const { log, lines } = recordingLog()
    const metrics = createMetrics({ processMetrics: false })
    const relay = new Relay({ id: 'relay-1', store: fake.store, senders: [sender], settings: SETTINGS, log, metrics })
    relay.start()
    await all(fake.settled, 2)
    await relay.stop()
    expect(fake.outcomes()).toEqual(['dead', 'dropped'])
    expect(lines).toContainEqual(
      expect.objectContaining({
        level: 'error',
        delivery_id: dead.id,
        message_id: dead.messageId,
        error: 'answered 500',
      }),
    )
    expect(lines).toContainEqual(expect.objectContaining({ level: 'warn', receiver_id: gone.receiverId }))
  })

  it('looks at batches and forgets what is old, batch after batch', async () => {
    const { told } = startRelay([], [], { keepDays: 30 })
    await until(() => told.forgotten.length === 3, { what: 'all is forgotten' })
    expect(told.forgotten).toEqual([30, 30, 30])
    expect(told.watched).toBe(1)
  })

  it('sends nothing of a claim that was answered too late for its lease', async () => {
    let sends = 0
    const sender = senderOf(async () => {
      sends += 1
      return DELIVERED
    })
    const { lines } = startRelay(many(1), [sender], { leaseMs: 10, sendTimeoutMs: 20 })
    await until(() => lines.some(({ msg }) => msg.startsWith('a claim was answered too late')), { what: 'it says so' })
    expect(sends).toBe(0)
  })
})

describe('a relay that is stopped', () => {
  it('finishes what it is sending, settles it, claims nothing more and closes its senders', async () => {
    const gate = Promise.withResolvers<void>()
    const sender = senderOf(async () => {
      await gate.promise
      return DELIVERED
    })
    const { relay, settled, told } = startRelay(many(5), [sender], { sendsMax: 2 })
    await until(() => relay.sending === 2, { what: 'two are being sent' })
    const stopping = relay.stop()
    const { claims } = told
    gate.resolve()
    await stopping
    expect(settled.map(({ outcome }) => outcome)).toEqual(['delivered', 'delivered'])
    expect(told.claims).toBe(claims)
    expect(sender.closed.times).toBe(1)
  })

  it('breaks off what takes longer than the grace, and gives it back', async () => {
    const { relay, settled } = startRelay(many(1), [senderOf(unanswered)], { shutdownGraceMs: 0 })
    await until(() => relay.sending === 1, { what: 'it is being sent' })
    await relay.stop()
    expect(settled).toMatchObject([{ outcome: 'again', delayMs: 0, error: null }])
  })

  it('does not wait for a database that is away', async () => {
    const { relay, told, lines } = startRelay(many(1), [senderOf(async () => DELIVERED)], { shutdownGraceMs: 0 })
    told.isDown = true
    await relay.stop()
    await relay.stop()
    expect(lines.at(-1)?.msg).toBe('relay stopped')
  })
})
