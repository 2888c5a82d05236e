/** Facts become deliveries: each once, with the counts, marks and watches that go with them. */

import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { addDocuments, deliveriesTo, hearOf, mailTo, spreadAll } from '../../test/support/hear.ts'
import { newRun } from '../../test/support/new-run.ts'
import { acceptedUpload, newUpload } from '../../test/support/new-upload.ts'
import { postgresVersions } from '../../test/support/postgres-versions.ts'
import { putRule } from '../../test/support/quotas.ts'
import { openTestStore, ownModel, settle, type TestStore } from '../../test/support/store.ts'
import { until } from '../../test/support/until.ts'
import { createDeliveryIds } from './delivery-ids.ts'

describe.each(postgresVersions)('spreading on Postgres %s', (server) => {
  let t: TestStore
  let owner: string
  beforeAll(async () => {
    t = await openTestStore(server, { spread: { progressEvery: 3 } })
  })
  afterAll(() => t.close())
  beforeEach(async () => {
    owner = randomUUID()
    await t.database.shiftClock('0')
  })

  const to = (receiverId: string) => deliveriesTo(t.database, receiverId)
  const watches = () => t.database.query('SELECT FROM batch_watches WHERE owner = $1', [owner])
  const end = async (model: string, kind: 'succeed' | 'fail', more = {}) => {
    const leases = await t.claim({ slots: 100, models: [{ model, version: '1', room: 100 }] })
    await Promise.all(leases.map((lease) => settle(t, lease, kind, more)))
    await spreadAll(t.store)
  }
  const upload = async (model: string, changes: { name?: string; text?: string; batchId?: string } = {}) =>
    acceptedUpload(await t.store.files.accept(newUpload({ owner, model, text: randomUUID(), ...changes }))).run!.run

  it('a fact is one delivery to each who wants it, due since it was true', async () => {
    const ids = [await hearOf(t.store, owner, 'run.created'), await hearOf(t.store, '*', 'run.created')]
    const bystander = await hearOf(t.store, owner, 'run.failed')
    const run = await t.add({ owner, title: 'T', tags: ['x'] })
    await spreadAll(t.store)
    for (const id of ids) {
      const data = { type: 'run.created', data: { run_id: run.id, seq: 1, status: 'PENDING', title: 'T', tags: ['x'] } }
      const messageId = `${run.id.replaceAll('-', '')}_1`
      expect(await to(id)).toMatchObject([{ kind: 'run.created', message_id: messageId, state: 'PENDING', data }])
    }
    expect(await to(bystander)).toEqual([])
    const [row] = await t.database.query(
      `SELECT r.due_at = d.available_at AS is_due, d.available_at <= d.created_at AS is_past
       FROM receivers r JOIN deliveries d ON d.receiver_id = r.id WHERE r.id = $1`,
      [ids[0]],
    )
    expect(row).toEqual({ is_due: true, is_past: true })
    await t.store.receivers.removeWebhook(ids[1]!, null)
    await spreadAll(t.store)
    expect(await to(ids[0]!)).toHaveLength(1)
  })

  it('deliveries are sent in the order of their facts', async () => {
    const id = await hearOf(t.store, owner, 'run.created')
    await t.store.submitMany(Array.from({ length: 30 }, () => newRun({ owner })))
    await spreadAll(t.store, 7)
    const facts = await t.database.query<{ id: string }>('SELECT id FROM outbox WHERE owner = $1 ORDER BY at, id', [
      owner,
    ])
    expect((await to(id)).map((row) => row.message_id)).toEqual(facts.map((fact) => fact.id))
  })

  it('ids of one spread rise, however many', () => {
    const newId = createDeliveryIds(1_700_000_000_000)
    const ids = Array.from({ length: 9_000 }, newId)
    expect([...new Set(ids)].toSorted()).toEqual(ids)
    expect(ids[0]).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7000-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  })

  it('failures of a while are one mail, until somebody begins to send it', async () => {
    const id = await mailTo(t.store, owner, 'failure')
    const model = ownModel()
    for (const name of ['a.pdf', 'b.pdf']) {
      await upload(model, { name })
      await end(model, 'fail')
    }
    const [mail] = await to(id)
    expect(mail).toMatchObject({ kind: 'failure', delay_seconds: 300, data: { error: { class: 'Error' }, more: 0 } })
    expect(mail!.data.documents).toMatchObject([{ name: 'a.pdf' }, { name: 'b.pdf' }])

    await t.database.shiftClock('301 seconds')
    const [claimed] = await t.store.deliveries.claim({ limit: 10, leaseMs: 1_000, channels: ['mail'] })
    expect(claimed?.id).toBe(mail!.id)
    await upload(model, { name: 'c.pdf' })
    await end(model, 'fail')
    const [, next] = await to(id)
    expect(next!.data.documents).toMatchObject([{ name: 'c.pdf' }])
    expect((await to(id))[0]!.data.documents).toHaveLength(2)
  })

  it('a mail that is joined again and again names twenty and counts the rest', async () => {
    const id = await mailTo(t.store, owner, 'failure')
    const model = ownModel()
    for (let round = 0; round < 3; round += 1) {
      await addDocuments(t.store, t.database, 9, { owner, model })
      await end(model, 'fail')
    }
    const [mail] = await to(id)
    expect([(mail!.data.documents as unknown[]).length, mail!.data.more]).toEqual([20, 7])
  })

  it('each error of each batch has its mail', async () => {
    const id = await mailTo(t.store, owner, 'failure')
    const batchId = randomUUID()
    for (const [batch, error] of [
      [batchId, 'A'],
      [batchId, 'B'],
      [undefined, 'A'],
    ] as const) {
      const model = ownModel()
      await upload(model, batch ? { batchId: batch } : {})
      await end(model, 'fail', { error: { class: error, message: 'x', stack: null } })
    }
    const told = (await to(id)).map(({ data }) => [data.batchId, (data.error as { class: string }).class])
    expect(told).toEqual([
      [batchId, 'A'],
      [batchId, 'B'],
      [null, 'A'],
    ])
  })

  it('documents uploaded again are one mail', async () => {
    const id = await mailTo(t.store, owner, 'duplicate')
    const model = ownModel()
    for (const text of ['1', '1', '2', '2']) await upload(model, { text: `${owner} ${text}`, name: `${text}.pdf` })
    await spreadAll(t.store)
    expect(await to(id)).toMatchObject([
      { kind: 'duplicate', delay_seconds: 60, data: { documents: [{ name: '1.pdf' }, { name: '2.pdf' }] } },
    ])
  })

  it('a document that is done twice counts once', async () => {
    const id = await mailTo(t.store, owner, 'progress')
    const model = ownModel()
    const [first] = await addDocuments(t.store, t.database, 2, { owner, model })
    await end(model, 'succeed')
    const { payloadHash } = (await t.store.readRun(first!))!.run
    await t.add({ owner, model, payloadHash, retryOf: first! })
    await end(model, 'succeed')
    expect(await to(id)).toEqual([])
    await addDocuments(t.store, t.database, 1, { owner, model })
    await end(model, 'succeed')
    expect(await to(id)).toMatchObject([{ kind: 'progress', data: { done: 3 } }])
  })

  it('a document whose retry succeeds is done; a run that is no document never counts', async () => {
    const id = await mailTo(t.store, owner, 'progress')
    const model = ownModel()
    const [first] = await addDocuments(t.store, t.database, 1, { owner, model })
    await end(model, 'fail')
    const { payloadHash } = (await t.store.readRun(first!))!.run
    await t.add({ owner, model, payloadHash, retryOf: first! })
    for (let no = 0; no < 4; no += 1) await t.add({ owner, model })
    await addDocuments(t.store, t.database, 1, { owner, model })
    await end(model, 'succeed')
    expect(await to(id)).toEqual([])
    await addDocuments(t.store, t.database, 1, { owner, model })
    await end(model, 'succeed')
    expect(await to(id)).toMatchObject([{ data: { done: 3 } }])
  })

  it('a jump over two marks is both of them, for people and for programs', async () => {
    const mail = await mailTo(t.store, owner, 'progress')
    const hook = await hearOf(t.store, owner, 'batch.progress')
    const model = ownModel()
    const batchId = randomUUID()
    await t.store.batches.ensure({ id: batchId, owner, title: 'March' })
    await addDocuments(t.store, t.database, 8, { owner, model, batchId })
    await end(model, 'succeed')
    expect((await to(mail)).map(({ data }) => [data.done, data.batchTitle])).toEqual([
      [3, 'March'],
      [6, 'March'],
    ])
    const data = (mark: number) => ({ type: 'batch.progress', data: { batch_id: batchId, title: 'March', done: mark } })
    expect((await to(hook)).map((row) => row.data)).toMatchObject([data(3), data(6)])
    const facts = await t.database.query(`SELECT FROM outbox WHERE owner = $1 AND kind = 'batch.progress'`, [owner])
    expect(facts).toHaveLength(2)
  })

  it('a batch is complete when it was quiet and nothing is left of it, once for each total', async () => {
    const mail = await mailTo(t.store, owner, 'batch_finished')
    const hook = await hearOf(t.store, owner, 'batch.completed')
    const [model, slow] = [ownModel(), ownModel()]
    const batchId = randomUUID()
    const text = randomUUID()
    await t.store.batches.ensure({ id: batchId, owner, title: 'March' })
    await upload(model, { batchId, text })
    await upload(model, { batchId, text })
    await upload(slow, { batchId })
    await end(model, 'succeed')
    expect(await t.store.outbox.watchBatches(100)).toBe(0)

    await t.database.shiftClock('31 seconds')
    expect(await t.store.outbox.watchBatches(100)).toBe(1)
    await spreadAll(t.store)
    expect([await to(mail), await watches()]).toEqual([[], []])

    await end(slow, 'fail')
    await t.database.shiftClock('70 seconds')
    expect(await t.store.outbox.watchBatches(100)).toBe(1)
    await spreadAll(t.store)
    const counts = { total: 3, waiting: 0, running: 0, done: 1, failed: 1, cancelled: 0, duplicate: 1 }
    expect(await to(mail)).toMatchObject([{ kind: 'batch_finished', data: { batchId, batchTitle: 'March', counts } }])
    const data = { type: 'batch.completed', data: { owner, batch_id: batchId, title: 'March', counts } }
    expect(await to(hook)).toMatchObject([{ message_id: `${batchId.replaceAll('-', '')}_completed_3`, data }])

    // Looked at once more without anything new in it, it is not told again.
    await t.database.query('INSERT INTO batch_watches (batch_id, owner, due_at) VALUES ($1, $2, clock())', [
      batchId,
      owner,
    ])
    expect(await t.store.outbox.watchBatches(100)).toBe(1)
    await spreadAll(t.store)
    expect(await to(hook)).toHaveLength(1)
  })

  it('what was unsubscribed while it was being spread is not sent', async () => {
    const id = await hearOf(t.store, owner, 'run.created', 'run.failed')
    await t.add({ owner })
    const holder = await t.database.pool.connect()
    await holder.query('BEGIN')
    await holder.query(`UPDATE receivers SET kinds = '{run.failed}' WHERE id = $1`, [id])
    const spreading = t.store.outbox.spread(100)
    const waiting = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
    await until(async () => (await t.database.query(waiting)).length > 0, { what: 'the spread waits' })
    await holder.query('COMMIT')
    holder.release()
    await spreading
    expect(await to(id)).toEqual([])
  })

  it('a fact that cannot be spread is set aside and holds up no other', async () => {
    const id = await hearOf(t.store, owner, 'run.created')
    const { id: runId } = await t.add({ owner })
    const sql = `INSERT INTO outbox (id, kind, owner, run_id, at, data)
      SELECT 'bad_' || $2, 'run.created', owner, id, 'infinity', '{}' FROM model_runs WHERE id = $1`
    await t.database.query(sql, [runId, owner])
    await t.add({ owner })
    expect(await t.store.outbox.spread(100)).toMatchObject({ facts: 2, broken: 1 })
    expect(await to(id)).toHaveLength(2)
    const [bad] = await t.database.query<{ error: string }>(
      `SELECT data->>'spread_error' AS error FROM outbox WHERE id = $1 AND spread_at IS NOT NULL`,
      [`bad_${owner}`],
    )
    expect(bad!.error).toBeTruthy()
  })

  describe('quota facts', () => {
    const facts = () =>
      t.database.query<{ kind: string; data: Record<string, unknown> }>(
        'SELECT kind, data FROM outbox WHERE owner = $1 ORDER BY kind',
        [owner],
      )
    const limit = (maximum: number) => putRule(t.store, { owner, max_concurrent: maximum })

    it('a limit that is nearly used up, and one that refuses, are told once a minute', async () => {
      await t.database.shiftClock('0')
      await hearOf(t.store, owner, 'quota.warning', 'quota.exceeded')
      await limit(2)
      await t.store.submitMany(Array.from({ length: 6 }, () => newRun({ owner })))
      expect(await facts()).toMatchObject([
        {
          kind: 'quota.exceeded',
          data: { limit: 'max_concurrent', maximum: 2, used: 2, rule: { owner, model: null } },
        },
        { kind: 'quota.warning', data: { limit: 'max_concurrent', maximum: 2, used: 2, action: 'block' } },
      ])
      await t.database.shiftClock('61 seconds')
      await t.store.submit(newRun({ owner }))
      await t.store.reservations.reserve({ id: randomUUID(), owner, model: null, ttlSeconds: 60, cost: null })
      expect((await facts()).map(({ kind }) => kind)).toEqual(['quota.exceeded', 'quota.exceeded', 'quota.warning'])
      await spreadAll(t.store)
    })

    it('an upload that is refused is told, though it left nothing', async () => {
      await hearOf(t.store, '*', 'quota.exceeded')
      await limit(0)
      const refused = await t.store.files.accept(newUpload({ owner, model: ownModel(), text: randomUUID() }))
      expect(refused).toMatchObject({ code: 'quota-exceeded' })
      expect(await facts()).toMatchObject([{ kind: 'quota.exceeded', data: { maximum: 0 } }])
    })

    it('nobody wants them: nothing is written', async () => {
      await t.database.query('DELETE FROM receivers')
      await limit(1)
      await t.store.submitMany([newRun({ owner }), newRun({ owner })])
      expect(await facts()).toEqual([])
    })
  })

  it('the backlog tells what waits and for how long, and what is old is forgotten', async () => {
    await t.database.query('DELETE FROM receivers; DELETE FROM outbox')
    const id = await hearOf(t.store, owner, 'run.created')
    await t.add({ owner })
    await t.database.shiftClock('100 seconds')
    const before = await t.store.outbox.backlog()
    expect([before.unspread, Math.round(before.oldestUnspreadSeconds)]).toEqual([1, 100])
    await spreadAll(t.store)
    const { unspread, oldestUnspreadSeconds, byChannel } = await t.store.outbox.backlog()
    expect([unspread, oldestUnspreadSeconds]).toEqual([0, 0])
    expect(byChannel.map((one) => [one.channel, one.waiting, Math.round(one.oldestDueSeconds)])).toEqual([
      ['webhook', 1, 100],
      ['mail', 0, 0],
      ['stream', 0, 0],
    ])
    const [claimed] = await t.store.deliveries.claim({ limit: 1, leaseMs: 60_000, channels: ['webhook'] })
    await t.database.query(
      `UPDATE deliveries SET state = 'DEAD', lease_token = NULL, finished_at = clock() WHERE id = $1`,
      [claimed!.id],
    )
    await t.add({ owner })
    await t.database.shiftClock('29 days')
    expect(await t.store.outbox.forget(30)).toBe(false)
    expect(await to(id)).toHaveLength(1)
    await t.database.shiftClock('31 days')
    expect(await t.store.outbox.forget(30)).toBe(false)
    expect(await to(id)).toEqual([])
    expect(await t.store.outbox.backlog()).toMatchObject({ unspread: 1 })
  })
})
