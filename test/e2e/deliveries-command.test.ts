/** `holdfast recipient` and `holdfast deliveries` as a person types them. */

import { afterAll, beforeAll, expect, it } from 'vitest'
import { openStore } from '../../src/store/open-store.ts'
import type { Store } from '../../src/store/store.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { addDeliveries, addWebhook, sentOf } from '../support/new-delivery.ts'
import { openPlace, type Place } from '../support/processes.ts'

let place: Place
let database: TestDatabase
let store: Store
beforeAll(async () => {
  place = await openPlace()
  database = await createTestDatabase()
  store = openStore({ url: database.url })
})
afterAll(async () => {
  await store.close()
  await place.close()
  await database.drop()
})

async function holdfast(...args: string[]) {
  const process = place.run(args, { DATABASE_URL: database.url })
  const { code } = await process.exited
  return { code, text: process.text() }
}

it('an address is added, told about other kinds, tested and deleted when told to', async () => {
  const added = await holdfast('recipient', 'add', 'Ada@Example.ORG', '--owner', 'ana', '--json')
  const recipient = JSON.parse(added.text)
  const kinds = ['duplicate', 'failure', 'progress', 'batch_finished']
  expect(recipient).toMatchObject({ owner: 'ana', address: 'Ada@example.org', kinds, enabled: true })
  const again = await holdfast('recipient', 'add', 'Ada@example.org', '--owner', 'ana', '--kinds', 'failure')
  expect(again.text).toContain('about ana’s documents: failure.')
  const id: string = recipient.recipient_id
  const [listed, tested, kept] = await Promise.all([
    holdfast('recipient', 'list', '--owner', 'ana'),
    holdfast('recipient', 'test', id, '--json'),
    holdfast('recipient', 'delete', id),
  ])
  expect(listed.text).toMatch(new RegExp(`^${id} +ana +Ada@example\\.org +failure +enabled$`, 'm'))
  expect([kept.code, kept.text]).toEqual([1, expect.stringContaining('--yes')])
  const shown = await holdfast('deliveries', 'show', JSON.parse(tested.text).delivery_id)
  expect(shown.text).toMatch(/^Subject: /m)
  const deleted = await holdfast('recipient', 'delete', id, '--yes')
  expect(deleted).toEqual({ code: 0, text: 'Deleted the mail address Ada@example.org of ana.' })
  const { events } = await store.audit.list({ limit: 9, cursor: null })
  expect(events.map(({ action }) => action)).toEqual(['recipient.delete', 'recipient.put', 'recipient.put'])
})

it('what died is found, read without tricks on the terminal, and sent again', async () => {
  const receiverId = await addWebhook(store, { owner: 'ben' })
  const [waits, dies] = (await addDeliveries(database, receiverId, { count: 2 })) as [string, string]
  const claimed = await store.deliveries.claim({ limit: 9, leaseMs: 60_000, channels: ['webhook'] })
  const error = 'answered 500 \u001b[2J\u009b31m'
  const response = { status: 500, headers: { 'x-token': 'CANARY' }, body: '\u009b2J' }
  const failed = { outcome: 'dead', error, response } as const
  await store.deliveries.settle([sentOf(claimed.find(({ id }) => id === dies)!, failed)])

  const [listed, shown, again] = await Promise.all([
    holdfast('deliveries', 'list', '--state', 'dead', '--receiver', receiverId),
    holdfast('deliveries', 'show', dies),
    holdfast('deliveries', 'redeliver', waits, 'nonsense'),
  ])
  const lines = listed.text.split('\n')
  expect(lines).toHaveLength(2)
  expect(lines[1]).toMatch(new RegExp(`^${dies} +webhook +ben +run\\.succeeded +DEAD +1 .* answered 500 `))
  expect(shown.text).toContain('attempt 1 at ')
  expect(shown.text).toContain('"status":500')
  for (const { text } of [listed, shown]) expect(text).not.toMatch(/[^\P{Cc}\n]|CANARY/u)
  expect(again.code).toBe(1)
  expect(again.text).toContain(`${waits} has not ended`)
  expect(again.text).toContain('there is no delivery "nonsense"')

  const sent = await holdfast('deliveries', 'redeliver', dies, '--json')
  expect(JSON.parse(sent.text)).toMatchObject([{ delivery_id: dies, state: 'PENDING' }])
  expect((await holdfast('deliveries', 'list', '--state', 'DEAD')).text).toBe('There are no such deliveries.')
})

it('what is mistyped or unknown is refused with a reason', async () => {
  const unknown = '00000000-0000-4000-8000-000000000000'
  const refused = await Promise.all([
    holdfast('recipient', 'add', 'nobody', '--owner', 'ana'),
    holdfast('recipient', 'add', 'ada@example.org', '--owner', 'ana', '--kinds', 'gossip'),
    holdfast('deliveries', 'list', '--state', 'gone'),
    holdfast('deliveries', 'show', unknown),
  ])
  const reasons = ['the address must be a mail address', '--kinds must be some of', '--state: ', 'there is no delivery']
  expect(refused).toEqual(reasons.map((text) => ({ code: 1, text: expect.stringContaining(text) })))
})
