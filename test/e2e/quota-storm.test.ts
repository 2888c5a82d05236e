/**
 * Many requests at once at a limit of 5, over HTTP, on one API process and on three: exactly 5 get a place; and while workers finish runs,
 * there are never more than 5 at any instant, by the events that were recorded.
 */

import { afterAll, beforeAll, expect, it } from 'vitest'
import { definitionOf } from '../../src/model/model.ts'
import { openStore } from '../../src/store/open-store.ts'
import { adds } from '../fixtures/models.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { openPlace, type Place } from '../support/processes.ts'
import { until } from '../support/until.ts'

const LIMIT = 5
const REQUESTS = 200
/** Enough for each place to be given away several times. */
const FINISHED = 40

type Answer = { status: number; body: Record<string, unknown> }

let database: TestDatabase
let place: Place
let urls: string[]
beforeAll(async () => {
  database = await createTestDatabase()
  place = await openPlace({ DATABASE_URL: database.url })
  const store = openStore({ url: database.url })
  const worker = { workerId: 'gone', host: 'test', pid: 1, version: '0', queues: ['default'], concurrency: 1 }
  await store.registerWorker({ ...worker, models: [definitionOf(adds)] })
  await store.close()
  urls = (await Promise.all([place.startApi(), place.startApi(), place.startApi()])).map(({ url }) => url)
  // As it may be: the rule is set at one of them, and the others have just found that there is none.
  for (const url of urls) expect(await ask(url, 'POST', '/runs', run(0), 'early')).toMatchObject({ status: 201 })
  expect(await ask(urls[0]!, 'PUT', '/quotas/*', { max_concurrent: LIMIT })).toMatchObject({ status: 200 })
})
afterAll(async () => {
  await place.close()
  await database.drop()
})

const run = (n: number, more: object = {}) => ({ model: 'adds', parameters: { n }, dedupe: 'off', ...more })

async function ask(url: string, method: string, path: string, body: object, owner = 'default'): Promise<Answer> {
  const headers = { 'content-type': 'application/json', 'holdfast-owner': owner }
  const answer = await fetch(`${url}${path}`, { method, headers, body: JSON.stringify(body) })
  return { status: answer.status, body: (await answer.json()) as Answer['body'] }
}

function storm(processes: number, owner: string, what: (no: number) => 'run' | 'reservation'): Promise<Answer[]> {
  return Promise.all(
    Array.from({ length: REQUESTS }, (_, no) => {
      const url = urls[no % processes]!
      return what(no) === 'run'
        ? ask(url, 'POST', '/runs', run(no), owner)
        : ask(url, 'POST', '/reservations', {}, owner)
    }),
  )
}

it.each([
  ['submits', 1, () => 'run' as const],
  ['submits', 3, () => 'run' as const],
  ['reservations', 1, () => 'reservation' as const],
  ['reservations', 3, () => 'reservation' as const],
  ['submits and reservations', 3, (no: number) => (no % 2 ? ('run' as const) : ('reservation' as const))],
])('200 %s at once, API processes: %i: 5 are accepted, and the others are told why', async (name, processes, what) => {
  const owner = `${name} on ${processes}`
  const answers = await storm(processes, owner, what)
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(LIMIT)
  for (const { status, body } of answers.filter((answer) => answer.status !== 201)) {
    expect(status).toBe(403)
    expect(body).toMatchObject({
      code: 'quota-exceeded',
      detail: 'Quota exceeded: Maximum 5 concurrent runs allowed',
      retryable: false,
      used: LIMIT,
    })
  }
  const [row] = await database.query(
    `SELECT (SELECT count(*) FROM model_runs WHERE owner = $1) + (SELECT count(*) FROM quota_reservations WHERE owner = $1) AS places`,
    [owner],
  )
  expect(row).toEqual({ places: LIMIT })
})

// A reservation becomes its run at the moment the run is created. What ends at an instant has made room for what begins at it.
const MOST_AT_ONCE = `
WITH change AS (
  SELECT e.at, CASE e.type WHEN 'created' THEN 1 ELSE -1 END AS by FROM run_events e JOIN model_runs r ON r.id = e.run_id
  WHERE r.owner = $1 AND e.type IN ('created', 'succeeded', 'failed', 'cancelled')
  UNION ALL SELECT created_at, 1 FROM quota_reservations WHERE owner = $1
  UNION ALL SELECT CASE state WHEN 'CONSUMED' THEN (SELECT at FROM run_events e WHERE e.run_id = v.run_id AND type = 'created')
    ELSE ended_at END, -1 FROM quota_reservations v WHERE owner = $1 AND state <> 'ACTIVE'
)
SELECT max(active)::int AS most FROM (SELECT sum(by) OVER (ORDER BY at, by) AS active FROM change) AS at_once`

it('while workers finish runs there are never more than 5 runs and reservations at any instant', {
  timeout: 60_000,
}, async () => {
  const owner = 'busy'
  let refused = 0
  /** Goes on asking, by reservation or without, until enough have ended. */
  async function asks(no: number): Promise<void> {
    for (let turn = 0; (await finishedOf(owner)) < FINISHED; turn += 1) {
      const [first, second] = [urls[(no + turn) % 3]!, urls[(no + turn + 1) % 3]!]
      const reserved = no % 2 === 0 ? await ask(first, 'POST', '/reservations', {}, owner) : null
      const more = reserved?.status === 201 ? { reservation_id: reserved.body.reservation_id } : {}
      const { status } = await ask(second, 'POST', '/runs', run(no, more), owner)
      expect([201, 403]).toContain(status)
      if (status === 403) refused += 1
    }
  }
  await Promise.all([
    place.startWorker({ HOLDFAST_POLL_SECONDS: '0.05' }),
    ...Array.from({ length: 8 }, (_, no) => asks(no)),
  ])
  await until(async () => (await liveOf(owner)) === 0, { what: 'all have ended' })
  expect(refused).toBeGreaterThan(0)
  expect(await database.query(MOST_AT_ONCE, [owner])).toEqual([{ most: LIMIT }])
})

async function finishedOf(owner: string): Promise<number> {
  return (await database.query(`SELECT FROM model_runs WHERE owner = $1 AND status = 'SUCCEEDED'`, [owner])).length
}

async function liveOf(owner: string): Promise<number> {
  return (await database.query('SELECT FROM model_runs WHERE owner = $1 AND finished_at IS NULL', [owner])).length
}
