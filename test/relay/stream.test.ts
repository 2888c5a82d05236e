/**
 * The stream as the configuration has it: a relay makes it a receiver, adds the facts of all owners, and takes it away
 * when it is no longer there.
 */

import { createClient } from 'redis'
import { expect, it, onTestFinished } from 'vitest'
import { createRelay } from '../../src/compose-relay.ts'
import { loadConfig } from '../../src/config/config.ts'
import { createMetrics } from '../../src/telemetry/metrics.ts'
import { newRun } from '../support/new-run.ts'
import { recordingLog } from '../support/recording-log.ts'
import { NO_REDIS, redisForTests } from '../support/redis.ts'
import { openTestStore } from '../support/store.ts'
import { until } from '../support/until.ts'

const redis = await redisForTests()
if (!redis) process.stderr.write(`The test of the stream is left out: ${NO_REDIS}\n`)

it.skipIf(!redis)('a relay adds the facts of everybody to the stream, as long as it is configured', async () => {
  const { store, database, close } = await openTestStore('18')
  const client = createClient({ url: redis!.url })
  onTestFinished(async () => {
    client.destroy()
    await redis!.stop()
    await close()
  })
  await client.connect()
  const stream = { HOLDFAST_STREAM: 'facts', HOLDFAST_STREAM_KINDS: 'run.created', REDIS_URL: redis!.url }
  const quick = { HOLDFAST_RELAY_POLL_SECONDS: '0.01', HOLDFAST_PUBLIC_URL: 'https://holdfast.example.org' }
  const { log, lines } = recordingLog()
  const relayWith = (env: Record<string, string>) => {
    const config = loadConfig({ ...quick, ...env })
    return createRelay({ config, log, store, metrics: createMetrics({ processMetrics: false }) })
  }

  const relay = await relayWith(stream)
  relay.start()
  const runs = [newRun({ owner: 'ana' }), newRun({ owner: 'ben' })]
  for (const run of runs) await store.submit(run)
  const read = async () => (await client.xRange('facts', '-', '+')) ?? []
  await until(async () => (await read()).length === 2, { what: 'both facts are in the stream' })
  const entries = (await read()).map(({ message }) => message)
  expect(entries.map(({ id }) => id).toSorted()).toEqual(runs.map(({ id }) => `${id.replaceAll('-', '')}_1`).toSorted())
  const told = entries.map(({ type, data }) => [type, JSON.parse(data!).owner]).toSorted()
  expect(told).toEqual([
    ['run.created', 'ana'],
    ['run.created', 'ben'],
  ])
  await relay.stop()
  const { data } = await store.deliveries.list({ owner: null, channel: 'stream', limit: 9, cursor: null })
  expect(data.map(({ state }) => state)).toEqual(['DELIVERED', 'DELIVERED'])

  for (const _ of ['disables', 'changes nothing']) await (await relayWith({})).stop()
  expect(await database.query('SELECT is_enabled FROM receivers')).toEqual([{ is_enabled: false }])
  expect(lines.filter(({ msg }) => msg.startsWith('the stream is disabled'))).toHaveLength(1)
})
