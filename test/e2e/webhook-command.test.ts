/** `holdfast webhook` as a person types it. */

import { afterAll, beforeAll, expect, it } from 'vitest'
import { openStore } from '../../src/store/open-store.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { openPlace, type Place } from '../support/processes.ts'

let place: Place
let database: TestDatabase
beforeAll(async () => {
  place = await openPlace()
  database = await createTestDatabase()
})
afterAll(async () => {
  await place.close()
  await database.drop()
})

async function holdfast(...args: string[]) {
  const env = { DATABASE_URL: database.url, HOLDFAST_WEBHOOK_ALLOW: '10.1.0.0/16' }
  const process = place.run(['webhook', ...args], env)
  const { code } = await process.exited
  return { code, text: process.text() }
}

it('registers a webhook, changes its secret, sends a test and deletes it when told to', async () => {
  const url = 'http://10.1.2.3:8080/hook'
  const made = JSON.parse(
    (await holdfast('create', url, '--events', 'run.failed, run.succeeded', '--owner', 'ana', '--json')).text,
  )
  expect(made).toMatchObject({ url, owner: 'ana', events: ['run.failed', 'run.succeeded'], secret: /^whsec_/ })
  const id: string = made.webhook_id
  const [listed, rotated, tested, kept] = await Promise.all([
    holdfast('list'),
    holdfast('rotate', id, '--keep', '2h', '--json'),
    holdfast('test', id, '--json'),
    holdfast('delete', id),
  ])
  expect(listed.text).toMatch(new RegExp(`^${id} +ana +${url} +run\\.failed run\\.succeeded +enabled$`, 'm'))
  expect(listed.text).not.toContain('whsec_')
  const changed = JSON.parse(rotated.text)
  expect(changed).toMatchObject({ webhook_id: id, secret: /^whsec_/, old_secret_until: expect.any(String) })
  expect(changed.secret).not.toBe(made.secret)
  expect([kept.code, kept.text]).toEqual([1, expect.stringContaining('--yes')])
  const store = openStore({ url: database.url })
  const [delivery] = await store.deliveries.claim({ limit: 9, leaseMs: 60_000, channels: ['webhook'] })
  const { secret, oldSecret } = delivery!.to as { secret: string; oldSecret: string | null }
  expect([delivery!.id, secret, oldSecret]).toEqual([JSON.parse(tested.text).delivery_id, changed.secret, made.secret])
  const deleted = await holdfast('delete', id, '--yes')
  expect(deleted).toEqual({ code: 0, text: `Deleted the webhook ${id} of ana.` })
  const { events } = await store.audit.list({ limit: 9, cursor: null })
  expect(events.map(({ action }) => action)).toEqual(['webhook.delete', 'webhook.rotate', 'webhook.create'])
  await store.close()
})

it('what is mistyped, unknown or not allowed is refused with a reason', async () => {
  const create = (url: string, events = 'run.failed') => holdfast('create', url, '--events', events, '--owner', 'ana')
  const refused = await Promise.all([
    create('hooks.example.org'),
    create('https://127.0.0.1/'),
    create('https://93.184.216.34/', 'run.exploded'),
    holdfast('test', '01234567-89ab-cdef-0123-456789abcdef'),
  ])
  expect(refused.map(({ code }) => code)).toEqual([1, 1, 1, 1])
  expect(refused.map(({ text }) => text)).toEqual([
    expect.stringContaining('the URL must be a URL such as https://'),
    expect.stringContaining('127.0.0.1 is a loopback address'),
    expect.stringContaining('"run.exploded" is no event; there are run.created'),
    expect.stringContaining('there is no webhook'),
  ])
})
