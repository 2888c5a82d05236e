/** Deliveries are claimed within the slots of their receiver, and settled once, under the token of their claim. */

import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { addDeliveries, addWebhook, failedOf, overlooked, sentOf } from '../../test/support/new-delivery.ts'
import { postgresVersions } from '../../test/support/postgres-versions.ts'
import { openTestStore, type TestStore } from '../../test/support/store.ts'
import type { ClaimedDelivery, Deliveries, Sent } from './ports/deliveries.ts'

const ACTOR = { tokenId: null, owner: 'default', requestId: null }

describe.each(postgresVersions)('deliveries on Postgres %s', (server) => {
  let t: TestStore
  let deliveries: Deliveries
  beforeAll(async () => {
    t = await openTestStore(server)
    deliveries = t.store.deliveries
  })
  beforeEach(() => t.database.query('DELETE FROM receivers'))
  afterEach(async () => {
    expect(await overlooked(t.database)).toEqual([])
    await t.database.shiftClock('0')
  })
  afterAll(() => t.close())

  const claim = (limit = 100) => deliveries.claim({ limit, leaseMs: 60_000, channels: ['webhook', 'mail', 'stream'] })
  const settle = async (sent: Sent[]) => [...(await deliveries.settle(sent))].sort()
  const idsOf = (claimed: readonly ClaimedDelivery[]) => claimed.map(({ id }) => id)
  const rowOf = async (id: string) =>
    (
      await t.database.query('SELECT state, attempts, tries, lease_token, last_error FROM deliveries WHERE id = $1', [
        id,
      ])
    )[0]
  const receiverOf = async (id: string) =>
    (
      await t.database.query('SELECT failures, is_enabled, disabled_reason, due_at FROM receivers WHERE id = $1', [id])
    )[0]

  it('a claim takes what is due with where it goes to, and counts the try', async () => {
    const hook = await addWebhook(t.store, { url: 'https://a.example/' })
    const [id] = await addDeliveries(t.database, hook)
    await addDeliveries(t.database, hook, { availableIn: '1 hour' })
    const claimed = await claim()
    expect(claimed).toMatchObject([
      {
        id,
        attempts: 1,
        tries: 0,
        state: 'PENDING',
        to: {
          channel: 'webhook',
          url: 'https://a.example/',
          secret: expect.stringContaining('whsec_'),
          oldSecret: null,
        },
      },
    ])
    expect(await claim()).toEqual([])
  })

  it('mail goes to its address and the stream needs none', async () => {
    const mail = await t.store.receivers.putAddress({
      id: randomUUID(),
      owner: 'ana',
      address: 'ana@example.org',
      kinds: ['failure'],
      createdBy: 'test',
    })
    await t.store.receivers.setStream(['run.failed'])
    const [stream] = await t.database.query<{ id: string }>(`SELECT id FROM receivers WHERE channel = 'stream'`)
    await addDeliveries(t.database, mail.id, { createdAgo: '1 minute' })
    await addDeliveries(t.database, stream!.id)
    expect((await claim()).map(({ to }) => to)).toEqual([
      { channel: 'mail', address: 'ana@example.org' },
      { channel: 'stream' },
    ])
  })

  it('only the wanted channels are claimed', async () => {
    await addDeliveries(t.database, await addWebhook(t.store))
    expect(await deliveries.claim({ limit: 9, leaseMs: 1_000, channels: ['mail'] })).toEqual([])
    expect(await claim()).toHaveLength(1)
  })

  it('the oldest of what is due comes first, whenever it became due', async () => {
    const hook = await addWebhook(t.store, { slots: 1 })
    const [young] = await addDeliveries(t.database, hook, { createdAgo: '1 minute', availableIn: '-50 seconds' })
    const [old] = await addDeliveries(t.database, hook, { createdAgo: '1 hour', availableIn: '-10 seconds' })
    const [first] = await claim()
    await settle([sentOf(first!)])
    expect([first!.id, ...idsOf(await claim())]).toEqual([old, young])
  })

  it('never more than the slots are under way; each that is settled makes room for the next', async () => {
    const hook = await addWebhook(t.store, { slots: 3 })
    await addDeliveries(t.database, hook, { count: 5 })
    const first = await claim()
    expect(first).toHaveLength(3)
    expect(await claim()).toEqual([])
    expect(await settle([sentOf(first[0]!), sentOf(first[1]!)])).toHaveLength(2)
    expect(await claim()).toHaveLength(2)
  })

  it('the log has each attempt, and the delivery its end', async () => {
    const [id] = await addDeliveries(t.database, await addWebhook(t.store))
    const [first] = await claim()
    await settle([failedOf(first!)])
    expect(await rowOf(id!)).toMatchObject({ state: 'PENDING', lease_token: null, last_error: 'it answered 500' })
    await t.database.shiftClock('6 seconds')
    const [second] = await claim()
    expect(second).toMatchObject({ id, attempts: 2, tries: 1 })
    await settle([sentOf(second!)])
    const found = await deliveries.find(id!, null)
    expect(found?.delivery).toMatchObject({
      state: 'DELIVERED',
      attempts: 2,
      finishedAt: expect.any(Date),
      lastError: null,
    })
    expect(found?.attempts).toMatchObject([
      { attempt: 1, error: 'it answered 500', response: { status: 500 } },
      { attempt: 2, error: null, durationMs: 12, request: { method: 'POST' } },
    ])
  })

  it('a settlement that is sent twice counts once', async () => {
    const hook = await addWebhook(t.store)
    await addDeliveries(t.database, hook)
    const [one] = await claim()
    expect(await settle([failedOf(one!)])).toEqual([one!.id])
    expect(await settle([failedOf(one!)])).toEqual([])
    expect(await receiverOf(hook)).toMatchObject({ failures: 1 })
    expect((await deliveries.find(one!.id, null))?.attempts).toHaveLength(1)
  })

  it('whoever was too late changes nothing but the log', async () => {
    const hook = await addWebhook(t.store)
    const [id] = await addDeliveries(t.database, hook)
    const [late] = await claim()
    await t.database.shiftClock('61 seconds')
    const [next] = await claim()
    expect(next).toMatchObject({ id, attempts: 2, tries: 1 })
    expect((await deliveries.find(id!, null))?.attempts).toMatchObject([
      { attempt: 1, durationMs: null, response: null },
    ])
    expect(await settle([failedOf(late!, { outcome: 'dead', disable: 'gone' })])).toEqual([])
    expect(await rowOf(id!)).toMatchObject({ state: 'PENDING', lease_token: next!.token, last_error: null })
    expect(await receiverOf(hook)).toMatchObject({ failures: 0, is_enabled: true })
    expect(await settle([sentOf(next!)])).toEqual([id])
    expect((await deliveries.find(id!, null))?.attempts).toMatchObject([
      { attempt: 1, error: 'it answered 500', durationMs: 12 },
      { attempt: 2, error: null },
    ])
  })

  it('after three failures one is sent at a time, until one works', async () => {
    const hook = await addWebhook(t.store, { slots: 4 })
    await addDeliveries(t.database, hook, { count: 12 })
    await settle((await claim()).slice(0, 3).map((one) => failedOf(one)))
    await t.database.shiftClock('70 seconds')
    const [probe, ...more] = await claim()
    expect(more).toEqual([])
    expect(await claim()).toEqual([])
    await settle([failedOf(probe!)])
    const [second, ...others] = await claim()
    expect(others).toEqual([])
    await settle([sentOf(second!)])
    expect(await receiverOf(hook)).toMatchObject({ failures: 0 })
    expect(await claim()).toHaveLength(4)
  })

  it('what is given back unsent is no failure', async () => {
    const hook = await addWebhook(t.store)
    await addDeliveries(t.database, hook)
    const [one] = await claim()
    await settle([sentOf(one!, { outcome: 'again', delayMs: 0, response: null })])
    expect(await receiverOf(hook)).toMatchObject({ failures: 0 })
    expect(await claim()).toHaveLength(1)
  })

  it('a receiver that is gone is disabled with its delivery, and what waits is kept', async () => {
    const hook = await addWebhook(t.store, { slots: 1 })
    await addDeliveries(t.database, hook, { count: 2 })
    const [one] = await claim()
    await settle([sentOf(one!, { outcome: 'dropped', disable: 'It answered 410.', error: 'gone' })])
    expect(await receiverOf(hook)).toMatchObject({ is_enabled: false, disabled_reason: 'It answered 410.' })
    expect(await t.database.query('SELECT FROM wanted_events WHERE receiver_id = $1', [hook])).toEqual([])
    expect(await claim()).toEqual([])
    expect(await t.database.query(`SELECT state FROM deliveries ORDER BY state`)).toEqual([
      { state: 'DROPPED' },
      { state: 'PENDING' },
    ])
    await t.store.receivers.changeWebhook(hook, null, { isEnabled: true })
    expect(await claim()).toHaveLength(1)
  })

  it('what a receiver answered is kept whatever is in it', async () => {
    await addDeliveries(t.database, await addWebhook(t.store))
    const [one] = await claim()
    const response = { body: 'a\u0000b\ud800', status: 500 }
    await settle([failedOf(one!, { response, error: 'said \u0000 and \udfff' })])
    const found = await deliveries.find(one!.id, null)
    expect(found?.attempts[0]).toMatchObject({ response: { body: 'a\ufffdb\ufffd' }, error: 'said \ufffd and \ufffd' })
  })

  it('a settlement of what was removed meanwhile is no error', async () => {
    const [hook, other] = [await addWebhook(t.store), await addWebhook(t.store)]
    await addDeliveries(t.database, hook)
    await addDeliveries(t.database, other)
    const claimed = await claim()
    await t.store.receivers.removeWebhook(hook, null)
    expect(await settle(claimed.map((one) => sentOf(one)))).toHaveLength(1)
  })

  it('what has ended is sent again under its id with a full set of tries, and never twice at once', async () => {
    const hook = await addWebhook(t.store)
    const [id] = await addDeliveries(t.database, hook)
    const [one] = await claim()
    expect(await deliveries.redeliver(id!, null, ACTOR)).toBe('busy')
    await settle([failedOf(one!, { outcome: 'dead' })])
    const again = await deliveries.redeliver(id!, 'default', ACTOR)
    expect(again).toMatchObject({ id, state: 'PENDING', messageId: one!.messageId, finishedAt: null })
    expect(await deliveries.redeliver(id!, null, ACTOR)).toBe('busy')
    expect(await claim()).toMatchObject([{ id, attempts: 2, tries: 0, messageId: one!.messageId }])
  })

  it('a test is a delivery like any other, and the same one when it is asked for again', async () => {
    const hook = await addWebhook(t.store)
    const id = randomUUID()
    const made = await deliveries.sendTest(hook, 'default', id)
    expect(made).toMatchObject({ id, kind: 'test', messageId: `test_${id}`, data: { type: 'test' } })
    expect(await deliveries.sendTest(hook, null, id)).toEqual(made)
    expect(idsOf(await claim())).toEqual([id])
    expect(await deliveries.sendTest(hook, 'another', randomUUID())).toBeNull()
  })

  it('an owner finds and resends what its own receivers were sent, and nothing else', async () => {
    const [own, everyones] = [await addWebhook(t.store, { owner: 'ana' }), await addWebhook(t.store, { owner: '*' })]
    const [mine] = await addDeliveries(t.database, own, { state: 'DEAD' })
    const [told] = await addDeliveries(t.database, everyones, { state: 'DEAD', owner: 'ana' })
    expect(await deliveries.find(mine!, 'bo')).toBeNull()
    expect(await deliveries.find(told!, 'ana')).toBeNull()
    expect(await deliveries.redeliver(told!, 'ana', ACTOR)).toBeNull()
    expect(await deliveries.redeliver(mine!, 'bo', ACTOR)).toBeNull()
    expect((await deliveries.list({ owner: 'ana', limit: 9, cursor: null })).data.map(({ id }) => id)).toEqual([mine])
    expect((await deliveries.find(told!, null))?.delivery.id).toBe(told)
  })
})
