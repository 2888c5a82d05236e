/** The Python file with the real service: what becomes of runs whose model is a Python function in a process of its own. */

import { readdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { Step } from '../../client/src/wire-leases.ts'
import { seededRandom, seedFromHash } from '../../src/run/seed.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { getRun, postRun, runEnds } from '../support/http.ts'
import { openPlace, type Place, type Running } from '../support/processes.ts'
import { PYTHON_FOLDER, python } from '../support/python.ts'
import { until } from '../support/until.ts'

const FIXTURES = dirname(fileURLToPath(new URL('../fixtures/python_models.py', import.meta.url)))
const PYTHONPATH = `${PYTHON_FOLDER}:${FIXTURES}`

describe.skipIf(python.missing)(`the Python worker${python.missing ? `: left out, ${python.missing}` : ''}`, () => {
  let place: Place
  let database: TestDatabase
  let url: string
  beforeAll(async () => {
    database = await createTestDatabase()
    place = await openPlace({ DATABASE_URL: database.url, HOLDFAST_LEASE_SECONDS: '3' })
    url = (await place.startApi()).url
  })
  afterAll(async () => {
    await place.close()
    await database.drop()
  })

  async function startWorker(name: string, env: Record<string, string> = {}): Promise<Running> {
    const running = place.runProgram(python.command!, ['-m', 'holdfast', 'worker', 'python_models:worker'], {
      PYTHONPATH,
      PYTHONDONTWRITEBYTECODE: '1',
      HOLDFAST_URL: url,
      WORKER_NAME: name,
      ...env,
    })
    onTestFinished(() => running.kill('SIGKILL'))
    await until(
      () => {
        if (!running.isRunning()) throw new Error(`the worker ended:\n${running.text()}`)
        return running.text().includes(`worker ${name} started`)
      },
      { what: `worker ${name} has started`, timeoutMs: 20_000 },
    )
    return running
  }

  const submit = async (model: string, parameters: object) => (await postRun(url, model, parameters)).run.run_id
  const resultOf = async (runId: string) => (await fetch(`${url}/runs/${runId}/result`)).json()
  const stopped = async (...workers: Running[]) => {
    for (const worker of workers) worker.kill('SIGTERM')
    return Promise.all(workers.map(async ({ exited }) => (await exited).code))
  }

  it('runs succeed with the seed TypeScript would have, and what they said is kept', async () => {
    const worker = await startWorker('adds')
    const runId = await submit('py_add', { a: 1 })
    const run = await runEnds(url, runId)
    expect(run).toMatchObject({ status: 'SUCCEEDED', parameters: { a: 1, b: 2 }, attempt_count: 1 })
    expect(run.attempts![0]).toMatchObject({ worker_id: 'remote:adds', executor: 'remote', progress: { done: 1 } })
    const draw = seededRandom(seedFromHash(run.payload_hash.replace(/^.*[:/]/, '')), 1)
    expect(await resultOf(runId)).toEqual({ sum: 3, draws: [draw(), draw(), draw()] })
    const { data } = (await (await fetch(`${url}/runs/${runId}/logs`)).json()) as { data: { text: string }[] }
    expect(data.map(({ text }) => text).join('')).toBe('adding 1\ninfo: half way\n')
    expect(await stopped(worker)).toEqual([0])
  })

  it('what the Python client submits has the hash of the same input from anywhere', async () => {
    const worker = await startWorker('hashes')
    const program = [
      'import holdfast, json',
      'client = holdfast.Client()',
      'one = client.submit("py_add", {"b": 2.0, "a": 1e3}, tags=["ä"])',
      'run = client.wait(one.run_id, wait_seconds=20)',
      'print(json.dumps([run["payload_hash"], run["result_hash"], client.result(one)["sum"]]))',
    ].join('\n')
    const env = { PYTHONPATH, PYTHONDONTWRITEBYTECODE: '1', HOLDFAST_URL: url }
    const client = place.runProgram(python.command!, ['-c', program], env)
    expect((await client.exited).code).toBe(0)
    const run = await runEnds(url, await submit('py_add', { a: 1000 }))
    expect(JSON.parse(client.text())).toEqual([run.payload_hash, run.result_hash, 1002])
    await stopped(worker)
  })

  it('a file that the Python client uploads is read by the Python worker', async () => {
    const worker = await startWorker('reads', { ISOLATION: 'process' })
    const program = [
      'import holdfast, json, os',
      'client = holdfast.Client()',
      'with open("größe.txt", "w") as file: file.write("one three four")',
      'first = client.upload("größe.txt", model="py_reads", parameters={"note": "x"})',
      'again = client.upload("größe.txt", model="py_reads", parameters={"note": "x"})',
      'run = client.wait(first["run_id"], wait_seconds=20)',
      'client.download(first["file_id"], "copy.txt")',
      'same = [first["run_id"] == again["run_id"], again["duplicate"], open("copy.txt").read()]',
      'print(json.dumps([run["status"], run["files"][0]["name"], client.result(first["run_id"]), same]))',
    ].join('\n')
    const env = { PYTHONPATH, PYTHONDONTWRITEBYTECODE: '1', PYTHONUTF8: '1', HOLDFAST_URL: url }
    const client = place.runProgram(python.command!, ['-c', program], env)
    expect((await client.exited).code, client.text()).toBe(0)
    const result = { name: 'größe.txt', lengths: [3, 5, 4] }
    expect(JSON.parse(client.text())).toEqual(['SUCCEEDED', 'größe.txt', result, [true, true, 'one three four']])
    await stopped(worker)
  })

  it('an exception is recorded with its class and traceback, and retried', async () => {
    const worker = await startWorker('fails')
    const run = await runEnds(url, await submit('py_fails', {}))
    expect(run).toMatchObject({ status: 'FAILED', attempt_count: 3 })
    expect(run.last_error).toMatchObject({ class: 'KeyError', message: "'missing'", attempt: 3 })
    expect(run.attempts![0]!.error!.stack).toMatch(/python_models\.py", line \d+, in fails/)
    await stopped(worker)
  })

  it('a cancel reaches the function within two seconds, and the run is CANCELLED when it has ended', async () => {
    const worker = await startWorker('cancels')
    const runId = await submit('py_waits', { folder: place.folder })
    await place.marked(runId, 1, 'begun')
    const askedAtMs = Date.now()
    await fetch(`${url}/runs/${runId}/cancel`, { method: 'POST' })
    const { atMs, reason } = await place.marked(runId, 1, 'aborted')
    expect(reason).toBe('cancelled')
    expect(atMs - askedAtMs).toBeLessThan(2_000)
    expect(await runEnds(url, runId)).toMatchObject({ status: 'CANCELLED' })
    await stopped(worker)
  })

  it('a function that looks at nothing is ended by a cancel when it has a process of its own', async () => {
    const worker = await startWorker('ends', { ISOLATION: 'process' })
    const runId = await submit('py_deaf', { folder: place.folder })
    const { pid } = await place.marked(runId, 1, 'begun')
    await fetch(`${url}/runs/${runId}/cancel`, { method: 'POST' })
    expect(await runEnds(url, runId)).toMatchObject({ status: 'CANCELLED' })
    expect(() => process.kill(pid, 0)).toThrow('ESRCH')
    await stopped(worker)
  })

  it('the run of a worker that was killed is finished by another, and its process dies with it', {
    timeout: 60_000,
  }, async () => {
    const first = await startWorker('dies', { ISOLATION: 'process' })
    const runId = await submit('py_deaf', { folder: place.folder })
    const { pid } = await place.marked(runId, 1, 'begun')
    first.kill('SIGKILL')
    await first.exited
    const second = await startWorker('lives')
    const run = await runEnds(url, runId)
    expect(run).toMatchObject({ status: 'SUCCEEDED', attempt_count: 2 })
    expect(run.attempts!.map(({ state, worker_id: id }) => [state, id])).toEqual([
      ['LOST', 'remote:dies'],
      ['SUCCEEDED', 'remote:lives'],
    ])
    expect(() => process.kill(pid, 0)).toThrow('ESRCH')
    await stopped(second)
  })

  it('the successor of a worker that was killed goes on after the last step that was committed', {
    timeout: 60_000,
  }, async () => {
    const first = await startWorker('half-way', { ISOLATION: 'process' })
    const runId = await submit('py_steps', { folder: place.folder })
    await place.marked(runId, 1, 'begun')
    first.kill('SIGKILL')
    await first.exited
    const second = await startWorker('other-half')
    expect(await runEnds(url, runId)).toMatchObject({ status: 'SUCCEEDED', attempt_count: 2 })
    expect(await resultOf(runId)).toEqual({ tested: 7, text: 100_000 })
    const marks = (await readdir(place.folder)).filter((name) => name.startsWith(runId) && !name.endsWith('.begun'))
    expect(marks.toSorted()).toEqual([`${runId}.a1.fit`, `${runId}.a1.load`, `${runId}.a2.test`])
    const { data } = (await (await fetch(`${url}/runs/${runId}/steps`)).json()) as { data: Step[] }
    expect(data).toMatchObject([
      { name: 'load', no: 1, attempt: 1, tries: 1, output: { rows: 3 }, output_ref: 'inline' },
      { name: 'fit', no: 2, attempt: 1, output: null, output_ref: expect.stringMatching(/^artifacts\//) },
      { name: 'test', no: 3, attempt: 2, output: 7 },
    ])
    await stopped(second)
  })

  it('SIGTERM lets work end, releases what does not end in time, and leaves the budget as it was', async () => {
    const first = await startWorker('stops', { GRACE_SECONDS: '0.2' })
    const runId = await submit('py_waits', { folder: place.folder })
    await place.marked(runId, 1, 'begun')
    expect(await stopped(first)).toEqual([0])
    expect((await place.marked(runId, 1, 'aborted')).reason).toBe('shutdown')
    const waiting = await getRun(url, runId)
    expect(waiting).toMatchObject({ status: 'PENDING', attempts: [{ state: 'RELEASED' }] })
    const second = await startWorker('goes-on')
    expect(await runEnds(url, runId)).toMatchObject({ status: 'SUCCEEDED' })
    await stopped(second)
  })
})
