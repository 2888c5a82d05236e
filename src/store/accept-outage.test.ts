/** Accepting an upload while the way to the database breaks at any of its statements: one upload, one run, answered as if nothing had happened. */

import { randomUUID } from 'node:crypto'
import type pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { acceptedUpload, newUpload } from '../../test/support/new-upload.ts'
import { type FaultProxy, startProxy } from '../../test/support/proxy.ts'
import { openTestStore, ownModel, type TestStore } from '../../test/support/store.ts'
import { createAccept } from './accept-upload.ts'
import { openPool } from './connect.ts'
import { createLanes, type Lanes } from './lanes.ts'

const STATEMENTS = {
  BEGIN: (text: string) => text === 'BEGIN',
  'the file': (text: string) => text.includes('INSERT INTO files'),
  'the run': (text: string) => text.includes('INSERT INTO model_runs'),
  'the upload': (text: string) => text.includes('INSERT INTO file_uploads'),
  COMMIT: (text: string) => text === 'COMMIT',
}

describe('an upload through a broken line', () => {
  let t: TestStore
  let proxy: FaultProxy
  let pool: pg.Pool
  let lanes: Lanes
  beforeAll(async () => {
    t = await openTestStore('18')
  })
  afterAll(() => t.close())

  beforeEach(async () => {
    const { hostname, port } = new URL(t.database.url)
    proxy = await startProxy({ host: hostname, port: Number(port) })
    const url = proxy.through(t.database.url)
    pool = openPool({ url, name: 'lossy', max: 2, statementTimeoutMs: 400, connectTimeoutMs: 400, lockTimeoutMs: 300 })
    lanes = createLanes()
    await pool.query('SELECT')
  })
  afterEach(async () => {
    proxy.cut()
    await pool.end()
    await proxy.close()
  })

  const faults = (['dropNextRequest', 'dropNextReply'] as const).flatMap((fault) =>
    Object.entries(STATEMENTS).map(([what, match]) => ({ fault, what, match })),
  )

  it.each(faults)('$fault at $what', async ({ fault, match }) => {
    const upload = newUpload({ owner: randomUUID(), model: ownModel() })
    await lanes.ensure(pool, [upload.run!])
    const dropped = proxy[fault](match)
    const answer = acceptedUpload(await createAccept({ pool, lanes })(upload))
    await dropped
    const { id, file, run, owner } = upload
    expect(answer).toMatchObject({ isStored: true, isRepeat: false, ref: file.ref, run: { idempotentHit: false } })
    expect(answer.upload).toMatchObject({ id, duplicate: false, runId: run!.id })
    expect(await t.database.query('SELECT id FROM file_uploads WHERE owner = $1', [owner])).toEqual([{ id }])
    expect(await t.events(run!.id)).toEqual(['created'])
  })

  it('a database that stays away is said to be unavailable', async () => {
    proxy.halfOpen()
    const answer = await createAccept({ pool, lanes, retryForMs: 100 })(newUpload())
    expect(answer).toMatchObject({ code: 'database-unavailable' })
  })
})
