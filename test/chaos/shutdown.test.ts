/** SIGTERM: no more claims, work may end within the grace, the rest is handed back without being counted as a crash. */

import { afterAll, beforeAll, expect, it } from 'vitest'
import { gone } from '../../src/executor/fixtures/attempts.ts'
import { type Chaos, openChaos } from '../support/chaos.ts'
import { stopped } from '../support/processes.ts'

let chaos: Chaos
beforeAll(async () => {
  // Leases are long: a run that another worker takes at once was released, not reclaimed.
  chaos = await openChaos({ HOLDFAST_LEASE_SECONDS: '120' })
})
afterAll(() => chaos.close())

it('work that ends within the grace is settled, and nothing new is taken meanwhile', async () => {
  const { place } = chaos
  const worker = await place.startWorker({ HOLDFAST_SHUTDOWN_GRACE_SECONDS: '20' })
  const runIds = await Promise.all(
    ['waits', 'waits-inline'].map((model) => chaos.submit(model, { folder: place.folder, go: 'go-finish' })),
  )
  await Promise.all(runIds.map((runId) => place.marked(runId, 1, 'begun')))
  worker.kill('SIGTERM')
  await worker.says('worker stopping: no more claims')
  const later = await chaos.submit('adds', { n: 1 })
  await place.touch('go-finish')
  expect(await worker.exited).toEqual({ code: 0, signal: null })
  for (const runId of runIds) {
    expect((await chaos.read(runId)).run).toMatchObject({ status: 'SUCCEEDED', attemptCount: 1, releaseCount: 0 })
  }
  expect((await chaos.read(later)).run).toMatchObject({ status: 'PENDING', attemptCount: 0 })
  const next = await place.startWorker()
  await chaos.reaches(later, 'SUCCEEDED')
  await stopped(next)
})

it('work that does not is released: not counted, and finished by another worker at once', async () => {
  const { place } = chaos
  const worker = await place.startWorker({ HOLDFAST_SHUTDOWN_GRACE_SECONDS: '0.2' })
  const polite = await chaos.submit('waits', { folder: place.folder, go: 'never' })
  const deaf = await chaos.submit('ignores', { folder: place.folder })
  const work = [await place.marked(polite, 1, 'begun'), await place.marked(deaf, 1, 'begun')]
  worker.kill('SIGTERM')
  expect((await place.marked(polite, 1, 'aborted')).reason).toBe('shutdown')
  expect(await worker.exited).toEqual({ code: 0, signal: null })
  await gone(work.flatMap(({ pid, program }) => (program ? [pid, program] : [pid])))
  for (const runId of [polite, deaf]) {
    expect((await chaos.read(runId)).run).toMatchObject({ status: 'PENDING', attemptCount: 1, releaseCount: 1 })
    expect(await chaos.attemptStates(runId)).toEqual(['RELEASED'])
  }
  const next = await place.startWorker()
  for (const runId of [polite, deaf]) {
    const run = await chaos.reaches(runId, 'SUCCEEDED')
    expect(run).toMatchObject({ attemptCount: 2, releaseCount: 1, reclaimCount: 0 })
    expect(await chaos.attemptStates(runId)).toEqual(['RELEASED', 'SUCCEEDED'])
    expect(await chaos.events(runId)).toEqual(['created', 'started', 'released', 'started', 'succeeded'])
  }
  await stopped(next)
})

it('a second signal ends the worker at once', async () => {
  const { place } = chaos
  const worker = await place.startWorker({ HOLDFAST_SHUTDOWN_GRACE_SECONDS: '600' })
  const runId = await chaos.submit('waits', { folder: place.folder, go: 'never' })
  const work = await place.marked(runId, 1, 'begun')
  worker.kill('SIGTERM')
  await worker.says('worker stopping: no more claims')
  worker.kill('SIGTERM')
  expect(await worker.exited).toEqual({ code: 130, signal: null })
  await gone([work.pid])
})
