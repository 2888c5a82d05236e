/** Postgres killed under load: what was accepted is there afterwards, every run ends once, and nobody needs a restart. */

import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { migrateDatabase } from '../../src/cli/database.ts'
import { openPool } from '../../src/store/connect.ts'
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../src/store/embedded/embedded.ts'
import { type Accepted, checkHistory } from '../support/history.ts'
import { postRun } from '../support/http.ts'
import { openPlace, type Place } from '../support/processes.ts'
import { until } from '../support/until.ts'

const RUNS = 300
const CLIENTS = 6

let place: Place
let server: EmbeddedPostgres
beforeAll(async () => {
  place = await openPlace({ HOLDFAST_LEASE_SECONDS: '10' })
  server = await startServer()
})
afterAll(async () => {
  await server.stop()
  await place.close()
})

function startServer(): Promise<EmbeddedPostgres> {
  return startEmbeddedPostgres({ dataDir: join(place.folder, 'data'), log: () => {} })
}

it('nothing that was accepted is lost, and every run ends SUCCEEDED, once', async () => {
  await migrateDatabase(server.url)
  const settings = { DATABASE_URL: server.url }
  const [worker, api] = await Promise.all([place.startWorker(settings), place.startApi(settings)])
  const accepted: Accepted[] = []
  let refusals = 0

  /** A client as it should be: it repeats a request with the same key until it has an answer. */
  async function submit(n: number): Promise<void> {
    const key = `run-${n}`
    await until(
      async () => {
        const answer = await postRun(api.url, 'adds', { n }, key).catch(() => null)
        if (answer === null || answer.status >= 500) {
          refusals += 1
          return false
        }
        expect([200, 201]).toContain(answer.status)
        accepted.push({ runId: answer.run.run_id, key })
        return true
      },
      { what: `request ${n} is accepted`, timeoutMs: 30_000, everyMs: 50 },
    )
  }

  const numbers = Array.from({ length: RUNS }, (_, n) => n).values()
  const clients = Array.from({ length: CLIENTS }, async () => {
    for (const n of numbers) await submit(n)
  })
  for (const acceptedBefore of [RUNS / 4, RUNS / 2]) {
    await until(() => accepted.length >= acceptedBefore, { what: `${acceptedBefore} are accepted`, timeoutMs: 30_000 })
    const { port, pid, exited } = server
    process.kill(pid, 'SIGKILL')
    await exited
    server = await startServer()
    expect(server.port).toBe(port)
  }
  await Promise.all(clients)
  expect(accepted).toHaveLength(RUNS)

  const pool = openPool({ url: server.url, name: 'test' })
  const count = async (where: string) =>
    (await pool.query<{ n: number }>(`SELECT count(*) AS n FROM model_runs WHERE ${where}`)).rows[0]!.n
  await until(async () => (await count('finished_at IS NULL')) === 0, {
    what: 'every run has ended',
    timeoutMs: 40_000,
  })
  expect(await count(`status = 'SUCCEEDED'`)).toBe(RUNS)
  expect(await checkHistory(pool, { accepted })).toEqual({ runs: RUNS, violations: [] })
  await pool.end()
  console.log(`${RUNS} runs over two kills of Postgres; ${refusals} requests had to be repeated`)
  expect([worker.isRunning(), api.isRunning()]).toEqual([true, true])
}, 90_000)
