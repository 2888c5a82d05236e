/** Relays that die: real processes killed at any moment, and one in this process that dies at every call it makes of the database. */

import { randomUUID } from 'node:crypto'
import { expect, it, onTestFinished } from 'vitest'
import { Relay } from '../../src/delivery/relay.ts'
import type { Sender } from '../../src/delivery/sender.ts'
import type { Store } from '../../src/store/store.ts'
import { createMetrics } from '../../src/telemetry/metrics.ts'
import { createTestDatabase } from '../support/database.ts'
import { dyingStore } from '../support/dying-store.ts'
import { newRun } from '../support/new-run.ts'
import { openPlace, stopped } from '../support/processes.ts'
import { recordingLog } from '../support/recording-log.ts'
import { openTestStore } from '../support/store.ts'
import { until } from '../support/until.ts'
import { CHAOS_SETTINGS, relayChaos } from './chaos.ts'

it('every event arrives, and none is given up, while relays are killed and a fifth of the requests fails', async () => {
  const db = await createTestDatabase()
  const place = await openPlace({ DATABASE_URL: db.url, ...CHAOS_SETTINGS, HOLDFAST_RELAY_LEASE_SECONDS: '2' })
  onTestFinished(async () => {
    await place.close()
    await db.drop()
  })
  const options = {
    events: 200,
    fail: 0.2,
    killEveryMs: 0,
    killEveryTaken: 20,
    livesMs: 0,
    relays: 2,
    seed: 1,
    timeoutMs: 30_000,
  }
  const { violations, ...figures } = await relayChaos({ pool: db.pool, place, url: db.url }, options, () => {})
  expect(violations).toEqual([])
  // Those that were refused come later than the rest, so there is always a moment for the first kill; for more it depends on the machine.
  expect(figures.kills).toBeGreaterThan(0)
  expect(figures.refused).toBeGreaterThan(20)
}, 60_000)

it('a relay answers those who watch it, and stops when it is told to', async () => {
  const db = await createTestDatabase()
  const place = await openPlace({ DATABASE_URL: db.url })
  onTestFinished(async () => {
    await place.close()
    await db.drop()
  })
  const relay = place.run(['relay', '--port', '0'])
  const { url } = await relay.says('answering probes', 30_000)
  expect((await fetch(`${url}/livez`)).status).toBe(200)
  expect((await fetch(`${url}/readyz`)).status).toBe(200)
  const metrics = await (await fetch(`${url}/metrics`)).text()
  expect(metrics).toMatch(/^outbox_unspread 0$/m)
  expect(metrics).toContain('delivery_backlog_age_seconds{channel="webhook"} 0')
  await relay.says('relay started')
  expect(await stopped(relay)).toEqual([0])
  expect(relay.lines.at(-1)?.msg).toBe('relay stopped')
}, 60_000)

const SETTINGS = {
  sendsMax: 4,
  pollMs: 5,
  leaseMs: 200,
  sendTimeoutMs: 100,
  delaysSeconds: [0.01, 0.01, 0.01],
  shutdownGraceMs: 5_000,
  keepDays: 30,
}

function relayOn(store: Store, sender: Sender): Relay {
  const { log } = recordingLog()
  const metrics = createMetrics({ processMetrics: false })
  return new Relay({ id: 'relay', store, senders: [sender], settings: SETTINGS, log, metrics })
}

it('a relay may die before or after any call it makes of the database: every event arrives under its own id', async () => {
  const { store, database, close } = await openTestStore('18')
  onTestFinished(close)
  const taken = new Map<string, number>()
  const sender: Sender = {
    channel: 'webhook',
    async send({ messageId }) {
      taken.set(messageId, (taken.get(messageId) ?? 0) + 1)
      return { outcome: 'delivered', request: null, response: null, error: null }
    },
    close: async () => {},
  }
  const hook = { id: randomUUID(), owner: '*', url: 'https://example.org', kinds: ['run.created' as const] }
  await store.receivers.addWebhook({ ...hook, description: null, secret: 'whsec_', slots: 1_000, createdBy: 'test' })
  const ids: string[] = []
  for (const of of ['outbox.spread', 'deliveries.claim', 'deliveries.settle']) {
    for (const call of [1, 2]) {
      for (const when of ['before', 'after'] as const) {
        const runs = Array.from({ length: 6 }, () => newRun())
        await store.submitMany(runs)
        ids.push(...runs.map(({ id }) => `${id.replaceAll('-', '')}_1`))
        const dying = dyingStore(store, { of, call, when })
        relayOn(dying.store, sender).start()
        await dying.died
      }
    }
  }
  const last = relayOn(store, sender)
  last.start()
  const left = async () =>
    (await database.query(`SELECT FROM deliveries WHERE state = 'PENDING'`)).length === 0 &&
    ids.every((id) => taken.has(id))
  await until(left, { what: 'all have arrived' })
  await last.stop()
  expect([...taken.keys()].sort()).toEqual(ids.sort())
  expect(await database.query('SELECT DISTINCT state FROM deliveries')).toEqual([{ state: 'DELIVERED' }])
  // Those that died between sending and settling sent some twice; ids tell.
  expect(Math.max(...taken.values())).toBeGreaterThan(1)
}, 30_000)
