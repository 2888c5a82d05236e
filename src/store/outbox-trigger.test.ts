/** Facts are written with the events they are made from, in their transaction, and only when somebody wants them. */

import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { hearOf, mailTo } from '../../test/support/hear.ts'
import { newRun } from '../../test/support/new-run.ts'
import { acceptedUpload, newUpload } from '../../test/support/new-upload.ts'
import { postgresVersions } from '../../test/support/postgres-versions.ts'
import { accepted, openTestStore, ownModel, settle, type TestStore } from '../../test/support/store.ts'
import type { FactKind } from '../run/fact-kinds.ts'

type FactRow = { id: string; kind: string; run_id: string; batch_id: string | null; data: Record<string, unknown> }

describe.each(postgresVersions)('the outbox on Postgres %s', (server) => {
  let t: TestStore
  let owner: string
  beforeAll(async () => {
    t = await openTestStore(server)
  })
  afterAll(() => t.close())
  beforeEach(() => {
    owner = randomUUID()
  })

  const facts = () =>
    t.database.query<FactRow>('SELECT id, kind, run_id, batch_id, data FROM outbox WHERE owner = $1 ORDER BY at, id', [
      owner,
    ])
  const kinds = async () => (await facts()).map(({ kind }) => kind)
  const lapse = (runId: string) =>
    t.database.query(`UPDATE model_runs SET lease_expires_at = clock() - interval '1 second' WHERE id = $1`, [runId])

  /** What makes each kind of fact come true. */
  const CAUSES: Partial<Record<FactKind, () => Promise<unknown>>> = {
    'run.created': () => t.add({ owner }),
    'run.started': () => t.running({ owner }),
    'run.succeeded': async () => settle(t, await t.running({ owner }), 'succeed'),
    'run.failed': async () => settle(t, await t.running({ owner }), 'fail'),
    'run.cancelled': async () => t.store.cancel((await t.add({ owner })).id),
    'run.retry_scheduled': async () => settle(t, await t.running({ owner }), 'retry', { delaySeconds: 5 }),
    'run.reclaimed': async () => {
      const { runId } = await t.running({ owner })
      await lapse(runId)
      await t.store.reclaimExpired({ workerId: 'janitor', limit: 100 })
    },
    'run.overdue': async () => {
      const { runId } = await t.running({ owner, expectedSeconds: 0.0001 })
      await t.store.overdue.flag(100)
      return runId
    },
    'document.duplicate': async () => {
      const upload = { owner, model: ownModel(), text: randomUUID() }
      acceptedUpload(await t.store.files.accept(newUpload(upload)))
      acceptedUpload(await t.store.files.accept(newUpload(upload)))
    },
  }

  it.each(Object.keys(CAUSES) as FactKind[])('%s is written down for who wants it', async (kind) => {
    await hearOf(t.store, owner, kind)
    await CAUSES[kind]!()
    expect(await kinds()).toEqual([kind])
  })

  it('a job that an engine lost is a run taken back', async () => {
    await hearOf(t.store, owner, 'run.reclaimed')
    await settle(t, await t.running({ owner }), 'lost', { delaySeconds: 0 })
    expect(await kinds()).toEqual(['run.reclaimed'])
  })

  it('a run that ends because its worker died for the last time has failed', async () => {
    await hearOf(t.store, owner, 'run.failed', 'run.reclaimed')
    const { runId } = await t.running({ owner, maxAttempts: 1 })
    await lapse(runId)
    await t.store.reclaimExpired({ workerId: 'janitor', limit: 100 })
    expect(await kinds()).toEqual(['run.failed'])
  })

  it('the fact has the name and the words of its event', async () => {
    await hearOf(t.store, owner, 'run.failed')
    const batchId = randomUUID()
    const { runId } = await t.running({ owner, batchId }).then(async (lease) => {
      await settle(t, lease, 'fail')
      return lease
    })
    const data = { seq: 3, status: 'FAILED', attempt: 1, message: 'it broke', data: { error_class: 'Error' } }
    expect(await facts()).toEqual([
      { id: `${runId.replaceAll('-', '')}_3`, kind: 'run.failed', run_id: runId, batch_id: batchId, data },
    ])
  })

  it('without receivers nothing is written', async () => {
    for (const cause of Object.values(CAUSES)) await cause()
    expect(await facts()).toEqual([])
  })

  it('what another owner wants is not written for this one', async () => {
    await hearOf(t.store, randomUUID(), 'run.created')
    await t.add({ owner })
    expect(await facts()).toEqual([])
  })

  it('who wants the facts of everybody gets those of each owner', async () => {
    const id = await hearOf(t.store, '*', 'run.created')
    await t.add({ owner })
    expect(await kinds()).toEqual(['run.created'])
    await t.store.receivers.removeWebhook(id, null)
    await t.add({ owner })
    expect(await kinds()).toEqual(['run.created'])
  })

  it('ends are written for batches only, when only batches are asked about', async () => {
    await hearOf(t.store, owner, 'batch.completed')
    await settle(t, await t.running({ owner }), 'succeed')
    expect(await facts()).toEqual([])
    await settle(t, await t.running({ owner, batchId: randomUUID() }), 'succeed')
    expect(await kinds()).toEqual(['run.succeeded'])
  })

  it('a duplicate belongs to the batch it was uploaded with', async () => {
    await mailTo(t.store, owner, 'duplicate')
    const upload = { owner, model: ownModel(), text: randomUUID() }
    const batches = [randomUUID(), randomUUID()] as const
    acceptedUpload(await t.store.files.accept(newUpload({ ...upload, batchId: batches[0] })))
    acceptedUpload(await t.store.files.accept(newUpload({ ...upload, batchId: batches[1] })))
    expect(await facts()).toMatchObject([{ kind: 'document.duplicate', batch_id: batches[1] }])
  })

  it('a receiver that comes in the middle hears of what is after it', async () => {
    const before = await t.running({ owner })
    await hearOf(t.store, owner, 'run.succeeded')
    await settle(t, before, 'succeed')
    expect(await facts()).toMatchObject([{ run_id: before.runId }])
  })

  it('a whole batch of runs is one statement and a fact each', async () => {
    await hearOf(t.store, owner, 'run.created')
    const answers = await t.store.submitMany(Array.from({ length: 50 }, () => newRun({ owner })))
    for (const answer of answers) accepted(answer)
    expect(await kinds()).toHaveLength(50)
  })

  it('what is undone is not told', async () => {
    await hearOf(t.store, owner, 'run.started')
    const { id } = await t.add({ owner })
    const client = await t.database.pool.connect()
    const sql = `INSERT INTO run_events (run_id, seq, type, at) VALUES ($1, 2, 'started', clock())`
    await client.query('BEGIN')
    await client.query(sql, [id])
    expect((await client.query('SELECT FROM outbox WHERE owner = $1', [owner])).rowCount).toBe(1)
    expect(await facts()).toEqual([])
    await client.query('ROLLBACK')
    client.release()
    expect(await facts()).toEqual([])
  })

  it('nothing is called before there ever was a receiver', async () => {
    const other = await openTestStore(server)
    onTestFinished(() => other.close())
    const isCalled = async () => {
      const { id } = await other.add()
      const client = await other.database.pool.connect()
      await client.query(`BEGIN; SET LOCAL track_functions = 'pl'`)
      await client.query(`INSERT INTO run_events (run_id, seq, type, at) VALUES ($1, 2, 'started', clock())`, [id])
      const { rowCount } = await client.query(
        `SELECT FROM pg_stat_xact_user_functions WHERE funcname = 'announce' AND calls > 0`,
      )
      await client.query('ROLLBACK')
      client.release()
      return rowCount === 1
    }
    expect(await isCalled()).toBe(false)
    await hearOf(other.store, owner, 'run.created')
    expect(await isCalled()).toBe(true)
  })
})
