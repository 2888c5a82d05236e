/** Workers killed in the middle of steps, and between the end of a step and its commit. Steps count their own executions in files. */

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Chaos, openChaos } from '../support/chaos.ts'

let chaos: Chaos
beforeAll(async () => {
  chaos = await openChaos({ HOLDFAST_CONCURRENCY: '1' })
})
afterAll(() => chaos.close())

/** The attempts that did it, in order. */
function attemptsAt(runId: string, what: string): string[] {
  const path = join(chaos.place.folder, `${runId}.count.${what}`)
  return existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : []
}

type Committed = { name: string; attempt: number; no: number }

const stepsOf = (runId: string) =>
  chaos.api.db.query<Committed>('SELECT name, attempt, no FROM run_steps WHERE run_id = $1 ORDER BY no', [runId])

/** A worker may also lose a lease by itself on a busy machine. What holds anyway: whoever commits a step is the last to do it. */
function expectNoneAgain(runId: string, committed: Committed[], fileOf: (name: string) => string): void {
  for (const { name, attempt } of committed)
    expect([name, attemptsAt(runId, fileOf(name)).at(-1)]).toEqual([name, `${attempt}`])
  for (const { name } of committed) {
    const done = attemptsAt(runId, fileOf(name))
    expect([name, new Set(done).size]).toEqual([name, done.length])
  }
  expect(committed.map(({ no }) => no)).toEqual(committed.map((_, index) => index + 1))
}

/** There are always two, whoever dies. */
async function keepTwoWorkers(): Promise<() => void> {
  let isOver = false
  const keepOne = async (): Promise<void> => {
    const worker = await chaos.place.startWorker()
    void worker.exited.then(async () => {
      if (!isOver) await keepOne().catch(() => {})
    })
  }
  await Promise.all([keepOne(), keepOne()])
  return () => {
    isOver = true
  }
}

it('workers that are killed lose no step that was committed, and only what was not is done again', async () => {
  const { place } = chaos
  const steps = await chaos.submit('counts-steps', { folder: place.folder, killIn: ['middle of d4', 'end of d4'] })
  const items = await chaos.submit('counts-items', { folder: place.folder, killIn: ['item 7', 'item 15'] })
  const stop = await keepTwoWorkers()
  await chaos.reaches(steps, 'SUCCEEDED')
  await chaos.reaches(items, 'SUCCEEDED')
  stop()

  expect(await chaos.resultOf(steps)).toEqual(['d1', 'd2', 'd3', 'd4', 'd5'])
  const committed = await stepsOf(steps)
  expect(committed.map(({ name }) => name)).toEqual(['d1', 'd2', 'd3', 'd4', 'd5'])
  expectNoneAgain(steps, committed, (name) => name)
  // Killed in its middle, then after its end and before its commit.
  expect(attemptsAt(steps, 'd4').length).toBeGreaterThanOrEqual(3)
  expect(attemptsAt(steps, 'd4.ended').length).toBeGreaterThanOrEqual(2)

  expect(await chaos.resultOf(items)).toEqual(Array.from({ length: 20 }, (_, index) => index * 2))
  const pages = (await stepsOf(items)).filter(({ name }) => name !== 'pages')
  expect(pages).toHaveLength(20)
  expectNoneAgain(items, pages, (name) => name.replace(/pages\[(\d+)\]/, 'item-$1'))
  expect(attemptsAt(items, 'item-7').length).toBeGreaterThanOrEqual(2)
})
