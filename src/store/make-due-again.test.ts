/** A receiver that answers again gets what waited for an answer, oldest first, and nothing else sooner. */

import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { addDeliveries, addWebhook, failedOf, overlooked, sentOf } from '../../test/support/new-delivery.ts'
import { postgresVersions } from '../../test/support/postgres-versions.ts'
import { openTestStore, type TestStore } from '../../test/support/store.ts'
import type { ClaimedDelivery, Sent } from './ports/deliveries.ts'

describe.each(postgresVersions)('an outage that is over on Postgres %s', (server) => {
  let t: TestStore
  beforeAll(async () => {
    t = await openTestStore(server)
  })
  beforeEach(() => t.database.query('DELETE FROM receivers'))
  afterEach(async () => expect(await overlooked(t.database)).toEqual([]))
  afterAll(() => t.close())

  const claim = () => t.store.deliveries.claim({ limit: 100, leaseMs: 60_000, channels: ['webhook', 'mail'] })
  const settle = (...sent: Sent[]) => t.store.deliveries.settle(sent)
  const unanswered = (delivery: ClaimedDelivery) => failedOf(delivery, { response: null, delayMs: 3_600_000 })
  const idsOf = (claimed: readonly ClaimedDelivery[]) => claimed.map(({ id }) => id)
  const addAddress = async (name: string) => {
    const address = { id: randomUUID(), owner: 'default', address: `${name}@example.org`, createdBy: 'test' }
    return (await t.store.receivers.putAddress({ ...address, kinds: ['progress'] })).id
  }

  it('what nobody answered is due at once, in order of age; what was answered and refused is not', async () => {
    const hook = await addWebhook(t.store)
    const [old] = await addDeliveries(t.database, hook, { createdAgo: '2 hours' })
    const [older] = await addDeliveries(t.database, hook, { createdAgo: '3 hours' })
    const [refused] = await addDeliveries(t.database, hook, { createdAgo: '4 hours' })
    const first = await claim()
    expect(idsOf(first)).toEqual([refused, older, old])
    await settle(failedOf(first[0]!, { delayMs: 3_600_000 }), unanswered(first[1]!), unanswered(first[2]!))
    expect(await claim()).toEqual([])
    await addDeliveries(t.database, hook)
    await settle(sentOf((await claim())[0]!))
    expect(idsOf(await claim())).toEqual([older, old])
  })

  it('one address that is reached speaks for all: they share a server', async () => {
    const [one, other] = [await addAddress('one'), await addAddress('other')]
    const hook = await addWebhook(t.store)
    const waiting = await Promise.all([other, hook].map((id) => addDeliveries(t.database, id)))
    await settle(...(await claim()).map(unanswered))
    await addDeliveries(t.database, one, { count: 1 })
    await settle(unanswered((await claim())[0]!))
    await addDeliveries(t.database, one)
    await settle(sentOf((await claim())[0]!))
    const due = idsOf(await claim())
    expect(due).toContain(waiting[0]![0])
    expect(due).not.toContain(waiting[1]![0])
  })

  it('a success without a failure before makes nothing due', async () => {
    const hook = await addWebhook(t.store)
    await addDeliveries(t.database, hook)
    await addDeliveries(t.database, hook, { availableIn: '1 hour' })
    await settle(sentOf((await claim())[0]!))
    expect(await claim()).toEqual([])
  })
})
