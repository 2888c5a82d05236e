/** Results of real workers: large ones on disk, those that are no JSON, and the folder they belong to. */

import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Chaos, openChaos } from '../support/chaos.ts'
import { postRun, runEnds } from '../support/http.ts'
import type { Running } from '../support/processes.ts'

let chaos: Chaos
let api: Running & { url: string }
beforeAll(async () => {
  chaos = await openChaos({ HOLDFAST_LEASE_SECONDS: '60' })
  const started = await Promise.all([chaos.place.startApi(), chaos.place.startWorker()])
  api = started[0]
})
afterAll(() => chaos.close())

async function finished(model: string, parameters: object) {
  const { run } = await postRun(api.url, model, parameters)
  return runEnds(api.url, run.run_id)
}

describe('a large result', () => {
  it('is a file named after run and attempt, hashed, and served as it is', async () => {
    const run = await finished('large', { bytes: 100_000 })
    const file = await readFile(join(chaos.place.folder, 'artifacts', `${run.run_id}.a1.json`))
    expect(run).toMatchObject({
      status: 'SUCCEEDED',
      result_ref: `artifacts/${run.run_id}.a1.json`,
      result_hash: createHash('sha256').update(file).digest('hex'),
    })
    const response = await fetch(`${api.url}${run.links.result}`)
    expect(response.headers.get('content-type')).toContain('application/json')
    expect(Buffer.from(await response.arrayBuffer()).equals(file)).toBe(true)
    expect(JSON.parse(file.toString())).toEqual({ text: 'x'.repeat(100_000) })
  })

  it('just below the limit is in the database', async () => {
    const run = await finished('large', { bytes: 65_000 })
    expect(run.result_ref).toBe('inline')
    expect(await (await fetch(`${api.url}${run.links.result}`)).json()).toEqual({ text: 'x'.repeat(65_000) })
  })
})

describe('a result that is no JSON', () => {
  it.each(['bigint', 'nan', 'surrogate', 'circle', 'nul'])(
    '(%s) fails the run with the place, at once',
    async (kind) => {
      const run = await finished('not-json', { kind })
      expect(run).toMatchObject({ status: 'FAILED', attempt_count: 1, last_error: { class: 'ResultNotJson' } })
      expect(run.last_error?.message).toContain('/deep')
    },
  )
})

it('an error whose texts a database refuses still ends its run', async () => {
  const run = await finished('odd-error', {})
  expect(run).toMatchObject({ status: 'FAILED', last_error: { message: 'NUL \ufffd, half a pair \ufffd' } })
})

it('a process with another artifacts folder refuses to start and says the cure', async () => {
  const stray = chaos.place.run(['worker'], { HOLDFAST_ARTIFACTS_DIR: 'elsewhere' })
  expect(await stray.exited).toEqual({ code: 1, signal: null })
  expect(stray.text()).toContain(join(chaos.place.folder, 'elsewhere'))
  expect(stray.text()).toContain('HOLDFAST_ARTIFACTS_DIR')
  const id = (await readFile(join(chaos.place.folder, 'artifacts', '.holdfast-folder'), 'utf8')).trim()
  expect(stray.text()).toContain(id)
})

it.runIf(process.platform === 'linux')('an idle worker needs less than 150 MB', async () => {
  const worker = await chaos.place.startWorker({ HOLDFAST_QUEUES: 'idle' })
  const status = await readFile(`/proc/${worker.pid}/status`, 'utf8')
  const residentMb = Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1_024
  console.log(`an idle worker is ${residentMb.toFixed(0)} MB resident`)
  expect(residentMb).toBeLessThan(150)
})
