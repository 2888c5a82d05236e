/** Cancelling running work over HTTP, with real processes. The lease is long, so only a wake-up can bring the news in time. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { gone } from '../../src/executor/fixtures/attempts.ts'
import { type Chaos, openChaos } from '../support/chaos.ts'

let chaos: Chaos
let url: string
beforeAll(async () => {
  chaos = await openChaos({ HOLDFAST_LEASE_SECONDS: '120' })
  const [api] = await Promise.all([chaos.place.startApi(), chaos.place.startWorker()])
  url = api.url
})
afterAll(() => chaos.close())

async function cancel(runId: string): Promise<{ status: number; atMs: number }> {
  const response = await fetch(`${url}/runs/${runId}/cancel`, { method: 'POST' })
  const atMs = Date.now()
  await response.text()
  return { status: response.status, atMs }
}

describe.each(['waits', 'waits-inline'])('cancelling a run of %s', (model) => {
  it('reaches the running handler within a second of the answer, and the run ends CANCELLED', async () => {
    const { place } = chaos
    const runId = await chaos.submit(model, { folder: place.folder, go: 'never' })
    await place.marked(runId, 1, 'begun')
    const { status, atMs } = await cancel(runId)
    expect(status).toBe(202)
    const aborted = await place.marked(runId, 1, 'aborted')
    expect(aborted.reason).toBe('cancelled')
    expect(aborted.atMs - atMs).toBeLessThan(1_000)
    await chaos.reaches(runId, 'CANCELLED')
    expect(await chaos.attemptStates(runId)).toEqual(['CANCELLED'])
    expect(await chaos.events(runId)).toEqual(['created', 'started', 'cancel_requested', 'cancelled'])
    expect((await cancel(runId)).status).toBe(200)
  })
})

describe('cancelling work that ignores its signal', () => {
  it('kills it with everything it started once its grace is over, and the worker goes on', async () => {
    const { place } = chaos
    const runId = await chaos.submit('ignores', { folder: place.folder })
    const work = await place.marked(runId, 1, 'begun')
    await cancel(runId)
    const aborted = await place.marked(runId, 1, 'aborted')
    const run = await chaos.reaches(runId, 'CANCELLED')
    await gone([work.pid, work.program!])
    // The grace is half a second here; the clocks of this machine and of its database are one.
    expect(run.finishedAt!.getTime() - aborted.atMs).toBeGreaterThan(400)
    expect(await chaos.attemptStates(runId)).toEqual(['CANCELLED'])
    await chaos.reaches(await chaos.submit('adds', { n: 1 }), 'SUCCEEDED')
  })
})

describe('cancelling', () => {
  it('a run that waits ends it at once, without an attempt', async () => {
    const later = new Date(Date.now() + 3_600_000).toISOString()
    const runId = await chaos.submit('adds', { n: 1 }, { available_at: later })
    expect((await cancel(runId)).status).toBe(200)
    expect((await chaos.read(runId)).run).toMatchObject({ status: 'CANCELLED', attemptCount: 0 })
  })

  it('a run that has ended is refused and changes nothing', async () => {
    const runId = await chaos.submit('adds', { n: 2 })
    const run = await chaos.reaches(runId, 'SUCCEEDED')
    expect((await cancel(runId)).status).toBe(409)
    expect((await chaos.read(runId)).run).toEqual(run)
  })
})
