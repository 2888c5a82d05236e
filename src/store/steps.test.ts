/** Steps: the first output under a name stays, and only an open attempt writes. */

import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { postgresVersions } from '../../test/support/postgres-versions.ts'
import { openTestStore, settle, type TestStore } from '../../test/support/store.ts'
import { sha256 } from '../run/canonical.ts'
import type { NewStep } from './ports/steps.ts'

const LIMITS = { steps: 100, bytes: 1_000_000 }

function stepOf(name: string, text = '{"n":1}'): NewStep {
  const output = { ref: 'inline', hash: sha256(text), bytes: Buffer.byteLength(text), text }
  return { name, startedAt: null, tries: 1, output }
}

describe.each(postgresVersions)('steps on Postgres %s', (server) => {
  let t: TestStore
  beforeAll(async () => {
    t = await openTestStore(server)
  })
  afterAll(() => t.close())

  async function open(leased?: Awaited<ReturnType<TestStore['running']>>) {
    const lease = leased ?? (await t.running({ maxAttempts: 3 }))
    const token = randomBytes(32)
    await t.store.attempts.handOver(lease, { engine: false, tokenHash: token })
    const commit = (step: NewStep, limits = LIMITS) => t.store.steps.commit(lease.runId, token, step, limits)
    return { lease, token, commit, list: () => t.store.steps.list(lease.runId) }
  }

  it('are kept with the attempt and numbered in the order of their commits', async () => {
    const { lease, commit, list } = await open()
    const startedAt = new Date(Date.now() - 5_000)
    expect(await commit({ ...stepOf('load'), startedAt, tries: 2 })).toMatchObject({ is: 'kept' })
    const elsewhere = { ref: 'artifacts/x.json', hash: 'f'.repeat(64), bytes: 99_999, text: null }
    await commit({ ...stepOf('fit'), output: elsewhere })
    const steps = await list()
    expect(steps).toMatchObject([
      { name: 'load', no: 1, attempt: 1, startedAt, tries: 2, output: stepOf('load').output },
      { name: 'fit', no: 2, attempt: 1, startedAt: null, tries: 1, output: elsewhere },
    ])
    expect(await t.store.steps.bytesOf([lease.runId, (await t.running()).runId])).toEqual(
      new Map([[lease.runId, 99_999 + 7]]),
    )
  })

  it('the same again is answered as the first time, another output is a conflict', async () => {
    const { commit, list } = await open()
    const first = await commit(stepOf('fit'))
    expect(await commit({ ...stepOf('fit'), tries: 9 })).toEqual({ ...first, is: 'repeated' })
    expect(await commit(stepOf('fit', '2'))).toEqual({ ...first, is: 'conflict' })
    expect(await list()).toHaveLength(1)
  })

  it('an attempt that is over or was never there commits nothing', async () => {
    const { lease, commit, list } = await open()
    expect(await t.store.steps.commit(lease.runId, randomBytes(32), stepOf('a'), LIMITS)).toEqual({ is: 'lost' })
    await settle(t, lease, 'fail')
    expect(await commit(stepOf('a'))).toEqual({ is: 'lost' })
    expect(await list()).toEqual([])
  })

  it('a later attempt finds what was committed, and adds to it', async () => {
    const { lease, commit, list } = await open()
    await commit(stepOf('load'))
    await settle(t, lease, 'retry', { delaySeconds: 0 })
    const [again] = await t.claim({ models: [{ model: lease.model, version: lease.modelVersion, room: 1 }] })
    const later = await open(again!)
    expect(await later.commit(stepOf('load', '2'))).toMatchObject({ is: 'conflict', step: { attempt: 1 } })
    expect(await later.commit(stepOf('fit'))).toMatchObject({ is: 'kept', step: { attempt: 2, no: 2 } })
    expect(await commit(stepOf('late'))).toEqual({ is: 'lost' })
    expect((await list()).map(({ name }) => name)).toEqual(['load', 'fit'])
  })

  it('of many commits at once each is kept once, without gaps in the numbers', async () => {
    const { commit, list } = await open()
    const names = Array.from({ length: 12 }, (_, no) => `step ${no % 6}`)
    const done = await Promise.all(names.map((name) => commit(stepOf(name))))
    expect(done.filter(({ is }) => is === 'kept')).toHaveLength(6)
    expect(done.filter(({ is }) => is === 'repeated')).toHaveLength(6)
    expect((await list()).map(({ no }) => no)).toEqual([1, 2, 3, 4, 5, 6])
  })

  it('an end that is being committed is waited for', async () => {
    const { lease, commit } = await open()
    const ending = await t.database.pool.connect()
    try {
      await ending.query('BEGIN')
      await ending.query(`UPDATE run_attempts SET state = 'LOST', finished_at = clock() WHERE run_id = $1`, [
        lease.runId,
      ])
      const committing = commit(stepOf('a'))
      await ending.query('COMMIT')
      expect(await committing).toEqual({ is: 'lost' })
    } finally {
      ending.release()
    }
  })

  it('there are limits to their number and to what they hold together, and a repeat is within them', async () => {
    const { commit } = await open()
    expect(await commit(stepOf('a'), { steps: 1, bytes: 7 })).toMatchObject({ is: 'kept' })
    expect(await commit(stepOf('b'), { steps: 1, bytes: 100 })).toEqual({ is: 'full' })
    expect(await commit(stepOf('b'), { steps: 9, bytes: 13 })).toEqual({ is: 'full' })
    expect(await commit(stepOf('a'), { steps: 1, bytes: 7 })).toMatchObject({ is: 'repeated' })
  })

  it('a long output is left out of a list that asks for short ones', async () => {
    const { lease, commit } = await open()
    await commit(stepOf('long', JSON.stringify('x'.repeat(100))))
    const [step] = await t.store.steps.list(lease.runId, 50)
    expect(step!.output).toMatchObject({ bytes: 102, text: null })
  })

  it('the database refuses to change or delete them', async () => {
    const { lease, commit } = await open()
    await commit(stepOf('a'))
    const run = (sql: string) => t.database.query(`${sql} WHERE run_id = $1`, [lease.runId])
    await expect(run('UPDATE run_steps SET tries = 2')).rejects.toThrow('a step never changes')
    await expect(run('DELETE FROM run_steps')).rejects.toThrow('a step never changes')
    await expect(t.database.query('TRUNCATE run_steps')).rejects.toThrow('a step never changes')
  })

  it('a start in the future of the database is no later than the end', async () => {
    const { commit } = await open()
    const done = await commit({ ...stepOf('a'), startedAt: new Date(Date.now() + 1e7) })
    if (done.is !== 'kept') throw new Error(`it was ${done.is}`)
    expect(done.step.startedAt!.getTime()).toBeLessThanOrEqual(done.step.finishedAt.getTime())
  })
})
