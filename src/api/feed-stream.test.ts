/**
 * Streams of the feed that break off again and again, and go on at one of two services that follow the same database,
 * while writers commit in another order than they began.
 */

import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { API_CONFIG, createTestApi } from '../../test/support/api.ts'
import { recordingLog } from '../../test/support/recording-log.ts'
import { readSse } from '../../test/support/sse.ts'
import { until } from '../../test/support/until.ts'
import { createMemoryBlobStore } from '../blob/memory.ts'
import { createMetrics } from '../telemetry/metrics.ts'
import { createMemoryWakeup } from '../wakeup/memory.ts'
import { createApi } from './server.ts'

const WRITERS = 6
const WRITES = 40

test('a client that is cut off again and again, and changes between services, sees every event once', async () => {
  const api = await createTestApi({ config: { events: { pollMs: 7 } } })
  const { run_id } = await api.create()
  const { log } = recordingLog()
  const second = createApi({
    store: api.store,
    blob: createMemoryBlobStore(),
    wakeup: createMemoryWakeup({ log }),
    log,
    metrics: createMetrics({ processMetrics: false }),
    config: { ...API_CONFIG, events: { pollMs: 13 } },
  })
  onTestFinished(() => second.close())
  const urls = [
    await api.app.listen({ port: 0, host: '127.0.0.1' }),
    await second.listen({ port: 0, host: '127.0.0.1' }),
  ]
  // Somebody always listens, so that both followers are somewhere of their own.
  const others = await Promise.all(urls.map((url) => readSse(`${url}/events`)))
  await until(() => others.every((other) => other.lastId() !== ''), { what: 'both are followed' })
  let lastId = others[0]!.lastId()

  const writing = Promise.all(Array.from({ length: WRITERS }, (_, writer) => writeSlowly(api.db.url, run_id, writer)))
  const seen: number[] = []
  for (let round = 0; seen.length < WRITERS * WRITES; round += 1) {
    const reader = await readSse(`${urls[round % 2]}/events`, { 'last-event-id': lastId })
    const wanted = Math.min(1 + ((round * 7) % 23), WRITERS * WRITES - seen.length)
    const messages = (await reader.has(wanted)).slice(0, wanted)
    reader.close()
    seen.push(...messages.map(({ data }) => data.seq))
    lastId = messages.at(-1)!.id
  }
  await writing
  expect(seen).toHaveLength(WRITERS * WRITES)
  expect(new Set(seen).size).toBe(WRITERS * WRITES)
  for (const other of others) {
    await other.has(WRITERS * WRITES)
    expect(new Set(other.messages.map(({ data }) => data.seq)).size).toBe(other.messages.length)
    other.close()
  }
})

/** Every third transaction stays open for a while after its first write. */
async function writeSlowly(url: string, runId: string, writer: number): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query('SET search_path = holdfast')
  for (let no = 0; no < WRITES; no += 1) {
    await client.query('BEGIN')
    await client.query(`INSERT INTO run_events (run_id, seq, type, at) VALUES ($1, $2, 'by hand', clock())`, [
      runId,
      1_000 + writer * WRITES + no,
    ])
    if ((no + writer) % 3 === 0) await client.query('SELECT pg_sleep(0.02)')
    await client.query('COMMIT')
  }
  await client.end()
}
