/** Receivers and what is written down for them change together, and each owner has its own. */

import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { addDeliveries, addWebhook, newWebhook } from '../../test/support/new-delivery.ts'
import { openTestStore, type TestStore } from '../../test/support/store.ts'
import type { MailKind } from '../run/fact-kinds.ts'
import type { MailAddress, Receivers } from './ports/receivers.ts'

describe('receivers', () => {
  let t: TestStore
  let receivers: Receivers
  beforeAll(async () => {
    t = await openTestStore('18')
    receivers = t.store.receivers
  })
  afterAll(() => t.close())

  const wanted = async (id: string) => {
    const rows = await t.database.query<{ owner: string; type: string; only_batches: boolean }>(
      'SELECT owner, type, only_batches FROM wanted_events WHERE receiver_id = $1 ORDER BY type',
      [id],
    )
    return rows.map(({ owner, type, only_batches: only }) => `${owner} ${type}${only ? ' in batches' : ''}`)
  }
  const secretsOf = async (id: string) =>
    (await t.database.query('SELECT secret, old_secret FROM webhooks WHERE id = $1', [id]))[0]
  const put = (owner: string, address: string, kinds: MailKind[]): Promise<MailAddress> =>
    receivers.putAddress({ id: randomUUID(), owner, address, kinds, createdBy: 'test' })

  it('a webhook is added with what it wants, and adding it again is the same one', async () => {
    const made = newWebhook({ owner: 'ana', kinds: ['run.reclaimed', 'batch.completed', 'run.failed'] })
    const added = await receivers.addWebhook(made)
    expect(added).toMatchObject({ id: made.id, owner: 'ana', isEnabled: true, failures: 0, oldSecretUntil: null })
    expect(JSON.stringify(added)).not.toContain('whsec_')
    expect(await wanted(made.id)).toEqual([
      'ana cancelled in batches',
      'ana document.duplicate in batches',
      'ana failed',
      'ana lost',
      'ana reclaimed',
      'ana succeeded in batches',
    ])
    expect(await receivers.addWebhook(made)).toEqual(added)
    await expect(receivers.addWebhook({ ...made, owner: 'bo' })).rejects.toThrow()
  })

  it('new kinds replace what is written down', async () => {
    const id = await addWebhook(t.store, { owner: 'ana', kinds: ['batch.completed'] })
    expect(await receivers.changeWebhook(id, 'ana', { kinds: ['run.succeeded'] })).toMatchObject({
      kinds: ['run.succeeded'],
      url: 'https://hooks.example/in',
    })
    expect(await wanted(id)).toEqual(['ana succeeded'])
  })

  it('what is not named stays, and a description can be taken away', async () => {
    const id = await addWebhook(t.store, { description: 'for the ledger' })
    expect(await receivers.changeWebhook(id, null, { url: 'https://b.example/' })).toMatchObject({
      url: 'https://b.example/',
      description: 'for the ledger',
    })
    expect(await receivers.changeWebhook(id, null, { description: null })).toMatchObject({ description: null })
  })

  it('a disabled one wants nothing; enabled again it does, without its failures, and what waited is due', async () => {
    const id = await addWebhook(t.store)
    const [delivery] = await addDeliveries(t.database, id, { availableIn: '10 hours' })
    await t.database.query('UPDATE receivers SET failures = 7 WHERE id = $1', [id])
    expect(await receivers.changeWebhook(id, null, { isEnabled: false })).toMatchObject({
      isEnabled: false,
      disabledReason: 'Disabled by request.',
    })
    expect(await wanted(id)).toEqual([])
    expect(await receivers.changeWebhook(id, null, { isEnabled: true })).toMatchObject({
      isEnabled: true,
      disabledReason: null,
      failures: 0,
    })
    expect(await wanted(id)).toEqual(['default succeeded'])
    const claimed = await t.store.deliveries.claim({ limit: 1, leaseMs: 1_000, channels: ['webhook'] })
    expect(claimed.map((one) => one.id)).toEqual([delivery])
  })

  it('kinds that change while it is disabled are wanted when it is enabled', async () => {
    const id = await addWebhook(t.store)
    expect([await receivers.disable(id, 'It is gone.'), await receivers.disable(id, 'Again.')]).toEqual([true, false])
    await receivers.changeWebhook(id, null, { kinds: ['run.failed'] })
    expect(await wanted(id)).toEqual([])
    expect(await receivers.findWebhook(id, null)).toMatchObject({ disabledReason: 'It is gone.' })
    await receivers.changeWebhook(id, null, { isEnabled: true })
    expect(await wanted(id)).toEqual(['default failed'])
  })

  it('the old secret signs for its time, and rotating twice with the same secret is rotating once', async () => {
    const id = await addWebhook(t.store, { secret: 'whsec_1' })
    const rotated = await receivers.rotateSecret(id, 'default', 'whsec_2', 3_600)
    expect(rotated?.oldSecretUntil).toBeInstanceOf(Date)
    await receivers.rotateSecret(id, 'default', 'whsec_2', 3_600)
    expect(await secretsOf(id)).toEqual({ secret: 'whsec_2', old_secret: 'whsec_1' })
    await addDeliveries(t.database, id, { count: 2 })
    const claim = () => t.store.deliveries.claim({ limit: 1, leaseMs: 1_000, channels: ['webhook'] })
    expect((await claim())[0]?.to).toMatchObject({ secret: 'whsec_2', oldSecret: 'whsec_1' })
    await t.database.shiftClock('2 hours')
    expect((await claim())[0]?.to).toMatchObject({ secret: 'whsec_2', oldSecret: null })
    expect(await receivers.findWebhook(id, null)).toMatchObject({ oldSecretUntil: null })
    await t.database.shiftClock('0')
    expect(await receivers.rotateSecret(id, null, 'whsec_3', 0)).toMatchObject({ oldSecretUntil: null })
    expect(await secretsOf(id)).toEqual({ secret: 'whsec_3', old_secret: null })
  })

  it('a removed one takes its deliveries along, also after a removal that ended in the middle', async () => {
    const id = await addWebhook(t.store)
    await addDeliveries(t.database, id, { count: 1_500, state: 'DELIVERED' })
    await receivers.disable(id, 'It is being removed.')
    expect(await receivers.removeWebhook(id, 'another')).toBe(false)
    expect(await receivers.removeWebhook(id, 'default')).toBe(true)
    expect(await receivers.removeWebhook(id, 'default')).toBe(false)
    expect(await t.database.query('SELECT FROM deliveries WHERE receiver_id = $1', [id])).toEqual([])
  })

  it('what belongs to another owner, or is of another kind, is absent', async () => {
    const hook = await addWebhook(t.store, { owner: 'ana' })
    const { id: address } = await put('ana', 'absent@example.org', ['progress'])
    expect(await receivers.findWebhook(hook, 'bo')).toBeNull()
    expect(await receivers.changeWebhook(hook, 'bo', { isEnabled: false })).toBeNull()
    expect(await receivers.rotateSecret(hook, 'bo', 'whsec_x', 10)).toBeNull()
    expect(await receivers.findAddress(address, 'bo')).toBeNull()
    expect(await receivers.removeAddress(address, 'bo')).toBe(false)
    expect(await receivers.findWebhook(address, null)).toBeNull()
    expect(await receivers.removeWebhook(address, null)).toBe(false)
    expect(await receivers.unsubscribe(hook, null)).toBeNull()
    expect(await receivers.findWebhook(hook, 'ana')).toMatchObject({ isEnabled: true })
  })

  it('pages are newest first and miss none, also of the same moment', async () => {
    const owner = randomUUID()
    for (let no = 0; no < 5; no += 1) await addWebhook(t.store, { owner })
    await t.database.query(`UPDATE receivers SET created_at = '2026-01-01 00:00:00.123456Z' WHERE owner = $1`, [owner])
    const seen: string[] = []
    let cursor: string | null = null
    do {
      const page = await receivers.listWebhooks({ owner, limit: 2, cursor })
      seen.push(...page.data.map(({ id }) => id))
      cursor = page.nextCursor
    } while (cursor)
    expect(seen).toEqual([...new Set(seen)].sort().toReversed())
    expect(seen).toHaveLength(5)
    await expect(receivers.listWebhooks({ owner, limit: 2, cursor: 'nonsense' })).rejects.toMatchObject({
      code: 'invalid-query',
    })
  })

  it('an address is there once for an owner, and put again it has the new kinds', async () => {
    const first = await put('ana', 'a@example.org', ['failure', 'progress'])
    const [other, again] = [
      await put('bo', 'a@example.org', ['failure']),
      await put('ana', 'a@example.org', ['duplicate']),
    ]
    expect(again).toEqual({ ...first, kinds: ['duplicate'] })
    expect(other.id).not.toBe(first.id)
    expect(await wanted(first.id)).toEqual(['ana document.duplicate'])
    expect((await receivers.listAddresses({ owner: 'bo', limit: 9, cursor: null })).data).toEqual([other])
  })

  it('put by many at once it is there once', async () => {
    const owner = randomUUID()
    const all = await Promise.all(Array.from({ length: 8 }, () => put(owner, 'many@example.org', ['failure'])))
    expect(new Set(all.map(({ id }) => id)).size).toBe(1)
    expect(await t.database.query('SELECT FROM receivers WHERE owner = $1', [owner])).toHaveLength(1)
  })

  it('unsubscribing takes one kind and drops what waits of it; twice changes nothing', async () => {
    const { id } = await put('ana', 'less@example.org', ['failure', 'progress'])
    const [failure] = await addDeliveries(t.database, id, { kind: 'failure', availableIn: '5 minutes' })
    const [progress] = await addDeliveries(t.database, id, { kind: 'progress' })
    expect(await receivers.unsubscribe(id, 'failure')).toMatchObject({ kinds: ['progress'], isEnabled: true })
    expect(await receivers.unsubscribe(id, 'failure')).toMatchObject({ kinds: ['progress'], isEnabled: true })
    expect(await wanted(id)).toEqual(['ana succeeded'])
    expect((await t.store.deliveries.find(failure!, null))?.delivery).toMatchObject({ state: 'DROPPED' })
    expect((await t.store.deliveries.find(progress!, null))?.delivery).toMatchObject({ state: 'PENDING' })
  })

  it.each([null, 'failure'] as const)(
    'unsubscribed from the last (%s) it is disabled until it is put again',
    async (kind) => {
      const owner = randomUUID()
      const { id } = await put(owner, 'none@example.org', ['failure'])
      await addDeliveries(t.database, id, { kind: 'failure' })
      for (let times = 0; times < 2; times += 1) {
        expect(await receivers.unsubscribe(id, kind)).toMatchObject({ isEnabled: false, kinds: ['failure'] })
      }
      expect(await wanted(id)).toEqual([])
      expect(await put(owner, 'none@example.org', ['progress'])).toMatchObject({
        id,
        isEnabled: true,
        disabledReason: null,
      })
      expect(await wanted(id)).toEqual([`${owner} succeeded`])
      // What waited before is not sent now.
      const claimed = await t.store.deliveries.claim({ limit: 9, leaseMs: 1_000, channels: ['mail'] })
      expect(claimed.filter((one) => one.receiverId === id)).toEqual([])
    },
  )

  it('there is one stream, for everybody, as long as the configuration wants one', async () => {
    await Promise.all([receivers.setStream(['run.failed']), receivers.setStream(['run.failed'])])
    const streams = () =>
      t.database.query<{ id: string }>(`SELECT id, is_enabled FROM receivers WHERE channel = 'stream'`)
    const [{ id }] = (await streams()) as [{ id: string }]
    expect(await wanted(id)).toEqual(['* failed'])
    await receivers.setStream(['run.created', 'quota.warning'])
    expect(await wanted(id)).toEqual(['* created', '* quota.warning'])
    expect([await receivers.setStream([]), await receivers.setStream([])]).toEqual([true, false])
    expect(await wanted(id)).toEqual([])
    // What was written down for it is kept until it is wanted again.
    expect(await streams()).toEqual([{ id, is_enabled: false }])
    await receivers.setStream(['run.failed'])
    expect([await streams(), await wanted(id)]).toEqual([[{ id, is_enabled: true }], ['* failed']])
  })

  it('enabling and disabling at once leave what is wanted in step with what is enabled', async () => {
    const id = await addWebhook(t.store)
    const changes = Array.from({ length: 12 }, (_, no) =>
      no % 3 ? receivers.changeWebhook(id, null, { isEnabled: no % 2 === 0 }) : receivers.disable(id, 'gone'),
    )
    await Promise.all(changes)
    const { isEnabled } = (await receivers.findWebhook(id, null))!
    expect(await wanted(id)).toEqual(isEnabled ? ['default succeeded'] : [])
  })
})
