/** Pausing, depths, and the artifacts folder the database is bound to. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newRun } from '../../test/support/new-run.ts'
import { postgresVersions } from '../../test/support/postgres-versions.ts'
import { openTestStore, type TestStore } from '../../test/support/store.ts'
import { DEPTH_MAX_PER_LANE } from './queues.ts'

describe.each(postgresVersions)('queues on Postgres %s', (server) => {
  let t: TestStore
  beforeAll(async () => {
    t = await openTestStore(server)
  })
  afterAll(() => t.close())

  const depthOf = async (name: string) => (await t.store.queueDepths()).find(({ queue }) => queue === name)?.pending

  it('pauses and resumes, also a queue nobody has registered', async () => {
    await t.store.setQueuePaused('fresh', true)
    expect(await t.store.readQueues()).toContainEqual({ queue: 'fresh', paused: true, retry: {} })
    await t.store.setQueuePaused('fresh', false)
    expect(await t.store.readQueues()).toContainEqual({ queue: 'fresh', paused: false, retry: {} })
  })

  it('the depth counts waiting runs over all lanes of a queue, and nothing else', async () => {
    expect(await depthOf('deep')).toBeUndefined()
    await t.store.submitMany([1, 2, 3].map((priority) => newRun({ queue: 'deep', priority })))
    expect(await depthOf('deep')).toBe(3)
    await t.running({ queue: 'deep' })
    const cancelled = await t.add({ queue: 'deep' })
    await t.store.cancel(cancelled.id)
    expect(await depthOf('deep')).toBe(3)
  })

  it('counting stops at the limit of a lane', async () => {
    const runs = DEPTH_MAX_PER_LANE + 500
    for (let no = 0; no < runs; no += 1_500)
      await t.store.submitMany(Array.from({ length: Math.min(1_500, runs - no) }, () => newRun({ queue: 'full' })))
    expect(await depthOf('full')).toBe(DEPTH_MAX_PER_LANE)
  })

  it('the first artifacts folder binds the database; later ones are told which', async () => {
    const folders = ['one', 'two', 'three']
    const answers = await Promise.all(folders.map((folder) => t.store.bindArtifactsFolder(folder)))
    expect(new Set(answers).size).toBe(1)
    expect(folders).toContain(answers[0])
    expect(await t.store.bindArtifactsFolder('four')).toBe(answers[0])
  })

  it('ping answers', async () => {
    await t.store.ping()
  })
})
