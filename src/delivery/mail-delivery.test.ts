/** Mails from the end of a document to an SMTP server that is a process of its own, through relays that die and a server that is down. */

import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { addDocuments, deliveriesTo } from '../../test/support/hear.ts'
import { headerOf, type MailServer, startMailServer } from '../../test/support/mail-server.ts'
import { openPlace, type Place } from '../../test/support/processes.ts'
import { recordingLog } from '../../test/support/recording-log.ts'
import { openTestStore, ownModel, settle, type TestStore } from '../../test/support/store.ts'
import { until } from '../../test/support/until.ts'
import type { MailKind } from '../run/fact-kinds.ts'
import { openStore } from '../store/open-store.ts'
import type { Store } from '../store/store.ts'
import { createMetrics } from '../telemetry/metrics.ts'
import { createMailSender } from './mail-sender.ts'
import { Relay } from './relay.ts'
import { createSmtpTransport } from './smtp.ts'

const FROM = 'Holdfast <holdfast@example.org>'

async function addressOf({ store }: TestStore, name: string, owner: string, ...kinds: MailKind[]) {
  const address = `${name}-${randomUUID()}@example.org`
  const { id } = await store.receivers.putAddress({ id: randomUUID(), owner, address, kinds, createdBy: 'test' })
  return { id, address }
}

/** Ends what waits of a model, as fast as it can. */
async function work(store: Store, model: string, workerId: string): Promise<void> {
  const request = { workerId, leaseMs: 60_000, slots: 250, queues: [{ queue: 'default', room: 250 }] }
  for (;;) {
    const leases = await store.claim({ ...request, models: [{ model, version: '1', room: 250 }] })
    if (leases.length === 0) return
    await Promise.all(leases.map((lease) => settle({ store }, lease, 'succeed', { workerId })))
  }
}

describe('3,500 documents that end on many workers', () => {
  let t: TestStore
  let server: MailServer
  let place: Place
  beforeAll(async () => {
    ;[t, server, place] = await Promise.all([openTestStore('18'), startMailServer(), openPlace()])
  })
  afterAll(async () => {
    await place.close()
    await server.stop()
    await t.close()
  })

  test('are told at 1,000, 2,000 and 3,000, though the relay is killed when the first mail is out and not marked', async () => {
    const [owner, model] = [randomUUID(), ownModel()]
    const { id, address } = await addressOf(t, 'once', owner, 'progress')
    const relay = () =>
      place.run(['relay'], {
        DATABASE_URL: t.database.url,
        SMTP_URL: `smtp://127.0.0.1:${server.port}`,
        HOLDFAST_MAIL_FROM: FROM,
        HOLDFAST_PUBLIC_URL: 'https://holdfast.example.org',
        HOLDFAST_RELAY_POLL_SECONDS: '0.05',
        HOLDFAST_RELAY_LEASE_SECONDS: '2',
      })
    const first = relay()
    await addDocuments(t.store, t.database, 3_500, { owner, model, batchId: null })
    const others = [openStore({ url: t.database.url }), openStore({ url: t.database.url })]
    const working = [t.store, ...others].map((store, no) => work(store, model, `worker-${no}`))
    // The server has taken the mail and has not said so: the relay is between sending and marking.
    await until(() => server.mails.length === 1, { what: 'the first mail has come', timeoutMs: 30_000 })
    first.kill('SIGKILL')
    await first.exited
    await Promise.all(working)
    await Promise.all(others.map((store) => store.close()))

    relay()
    const told = async () =>
      (await deliveriesTo(t.database, id)).filter(({ state }) => state === 'DELIVERED').length === 3
    await until(told, { what: 'all three mails are delivered', timeoutMs: 30_000 })
    const mails = server.mails.map((mail) => ({
      to: mail.to,
      subject: headerOf(mail, 'Subject'),
      id: headerOf(mail, 'Message-ID'),
    }))
    const subjects = ['1,000', '1,000', '2,000', '3,000'].map((done) => `${done} documents are done`)
    expect(mails.map(({ subject }) => subject)).toEqual(subjects)
    expect(mails.every(({ to }) => to === address)).toBe(true)
    expect(mails[1]).toEqual(mails[0])
    expect(new Set(mails.map(({ id }) => id)).size).toBe(3)
  }, 60_000)
})

describe('a mail server that is down for an hour', () => {
  let t: TestStore
  beforeAll(async () => {
    t = await openTestStore('18', { spread: { progressEvery: 1 } })
  })
  afterAll(() => t.close())

  function startRelay(port: number): void {
    const transport = createSmtpTransport({ url: `smtp://127.0.0.1:${port}` })
    const publicUrl = 'https://holdfast.example.org'
    const relay = new Relay({
      id: 'relay',
      store: t.store,
      senders: [createMailSender({ transport, from: FROM, publicUrl, unsubscribeKey: 'key' })],
      settings: {
        sendsMax: 10,
        pollMs: 20,
        leaseMs: 60_000,
        sendTimeoutMs: 15_000,
        delaysSeconds: [60, 300, 1_800, 7_200],
        shutdownGraceMs: 5_000,
        keepDays: null,
      },
      log: recordingLog().log,
      metrics: createMetrics({ processMetrics: false }),
    })
    relay.start()
    onTestFinished(() => relay.stop())
  }

  test('loses nothing, shows what waits, and gets the mails by age when it is back', async () => {
    const gone = await startMailServer()
    await gone.stop()
    const [owner, model] = [randomUUID(), ownModel()]
    const { id } = await addressOf(t, 'patient', owner, 'progress')
    startRelay(gone.port)

    const attempts = async () => {
      const rows = await t.database.query<{ attempts: number }>(
        // One that is being tried right now is counted when it is settled: that is when its next time is decided.
        `SELECT attempts - (lease_token IS NOT NULL)::integer AS attempts FROM deliveries
         WHERE receiver_id = $1 ORDER BY created_at`,
        [id],
      )
      return rows.map((row) => row.attempts)
    }
    /** What is due by then is tried, and nothing else is due for minutes. */
    const tried = (wanted: number[]) =>
      until(async () => isDeepStrictEqual(await attempts(), wanted), { what: `the mails were tried ${wanted} times` })
    for (const [minutes, wanted] of [
      [0, [1]],
      [20, [2, 1]],
      [40, [3, 2, 1]],
    ] as const) {
      await t.database.shiftClock(`${minutes} minutes`)
      await addDocuments(t.store, t.database, 1, { owner, model })
      await work(t.store, model, 'worker')
      await tried([...wanted])
    }
    await t.database.shiftClock('60 minutes')
    await tried([3, 3, 2])
    expect(await t.store.outbox.backlog()).toMatchObject({
      byChannel: expect.arrayContaining([expect.objectContaining({ channel: 'mail', waiting: 3 })]),
    })

    const server = await startMailServer({ port: gone.port })
    onTestFinished(() => server.stop())
    // One or two of them are due by now; the others would be hours later, were it not for the first that gets through.
    await t.database.shiftClock('67 minutes')
    const told = (await server.received(3)).map((mail) => headerOf(mail, 'Subject'))
    expect(told.toSorted()).toEqual(['1 document is done', '2 documents are done', '3 documents are done'])
    expect(told.slice(1)).toEqual(told.slice(1).toSorted())
    const states = async () => (await deliveriesTo(t.database, id)).every(({ state }) => state === 'DELIVERED')
    await until(states, { what: 'all are marked as delivered' })
  }, 30_000)
})
