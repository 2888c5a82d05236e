/** Watching a run over HTTP while the API dies under the watcher and comes back. */

import { afterAll, beforeAll, expect, it } from 'vitest'
import { Holdfast, type RunEvent } from '../../client/src/index.ts'
import { type Chaos, openChaos } from '../support/chaos.ts'
import { until } from '../support/until.ts'

let chaos: Chaos
beforeAll(async () => {
  chaos = await openChaos()
})
afterAll(() => chaos.close())

it('the client has seen every event once when the API is killed in the middle of a watch and started again', async () => {
  const { place } = chaos
  let api = await place.startApi()
  const port = { HOLDFAST_PORT: new URL(api.url).port }
  const worker = await place.startWorker()
  const runId = await chaos.submit('waits', { folder: place.folder, go: 'never' })

  const seen: RunEvent[] = []
  const watched = (async () => {
    for await (const event of new Holdfast({ url: api.url }).watch(runId)) seen.push(event)
  })()
  await until(() => seen.length === 2, { what: 'the watcher has seen the start' })

  api.kill('SIGKILL')
  await api.exited
  // What happens while nobody serves: the attempt is lost with its worker.
  worker.kill('SIGKILL')
  await worker.exited
  api = await place.startApi(port)
  const next = await place.startWorker()
  await until(() => seen.length > 2, { what: 'the watcher is back', timeoutMs: 20_000 })

  api.kill('SIGKILL')
  await api.exited
  await chaos.reaches(runId, 'SUCCEEDED')
  api = await place.startApi(port)
  await watched

  const recorded = await chaos.events(runId)
  expect(recorded).toEqual(['created', 'started', 'reclaimed', 'started', 'succeeded'])
  expect(seen.map(({ seq, type }) => [seq, type])).toEqual(recorded.map((type, index) => [index + 1, type]))
  next.kill('SIGTERM')
}, 60_000)
