/**
 * The error states A to F of the source document (R302–R307), each brought about with real processes, and what R301 and R308–R313 ask for after
 * them: the same thing goes on, at the back of the queue where it ran too long, and nothing is half there.
 */

import { once } from 'node:events'
import { request } from 'node:http'
import { createServer } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { UploadFailed } from '../../client/src/errors.ts'
import { Holdfast } from '../../client/src/holdfast.ts'
import { sha256 } from '../../src/run/canonical.ts'
import { type Chaos, openChaos } from '../support/chaos.ts'
import { type Running, stopped } from '../support/processes.ts'
import { until } from '../support/until.ts'

const DIES = new URL('../fixtures/worker-dies.ts', import.meta.url)

let chaos: Chaos
beforeAll(async () => {
  chaos = await openChaos()
})
afterAll(() => chaos.close())

/** Rows of everything that an upload leaves. */
async function uploadRows(): Promise<Record<string, number>> {
  const [row] = await chaos.api.db.query<Record<string, number>>(
    `SELECT (SELECT count(*)::int FROM files) AS files, (SELECT count(*)::int FROM owner_files) AS owned,
      (SELECT count(*)::int FROM file_uploads) AS uploads, (SELECT count(*)::int FROM documents) AS documents,
      (SELECT count(*)::int FROM model_runs WHERE model = 'reads-file') AS runs`,
  )
  return row!
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}

describe('ErrorState A, R302: the API crashes and users cannot upload', () => {
  it('nothing of a half upload is there; after a restart the upload works', async () => {
    const before = await uploadRows()
    const first = await chaos.place.startApi()
    const sent = request(`${first.url}/files?name=report.txt`, {
      method: 'POST',
      headers: { 'content-type': 'text/plain', 'content-length': '2000000' },
    })
    const broken = once(sent, 'error')
    sent.write('x'.repeat(1_000_000))
    // The first half has left this process, and the service is reading it.
    await until(() => sent.socket?.bytesWritten !== undefined && sent.socket.bytesWritten > 900_000, {
      what: 'half of the file is sent',
    })
    first.kill('SIGKILL')
    await broken
    expect(await uploadRows()).toEqual(before)
    const second = await chaos.place.startApi()
    const client = new Holdfast({ url: second.url })
    const text = 'x'.repeat(2_000_000)
    expect(await client.files.has(sha256(text))).toBe(false)
    const upload = await client.files.upload(new Blob([text]), { name: 'report.txt' })
    expect(upload).toMatchObject({ file_id: sha256(text), duplicate: false, size: 2_000_000 })
    expect(await (await client.files.download(upload.file_id)).text()).toBe(text)
    expect(await uploadRows()).toMatchObject({ files: before.files! + 1, uploads: before.uploads! + 1 })
    await stopped(second)
  })
})

describe('ErrorState B, R303: the client cannot reach the API', () => {
  it('it tries again, then says plainly that the upload failed; once the service is back the same upload makes one file', async () => {
    const before = await uploadRows()
    const port = await freePort()
    const url = `http://127.0.0.1:${port}`
    let tries = 0
    const counting: typeof fetch = (...given) => {
      tries += 1
      return fetch(...given)
    }
    const client = new Holdfast({ url, retries: 1, fetch: counting })
    const document = new Blob(['a document'])
    const failed = await client.files.upload(document, { name: 'a.txt', model: 'reads-file' }).catch((error) => error)
    expect(failed).toBeInstanceOf(UploadFailed)
    expect([failed.isOutage, tries]).toEqual([true, 2])
    expect(failed.message).toMatch(/^The upload of a\.txt failed: .* try again\.$/)
    await chaos.api.app.listen({ host: '127.0.0.1', port })
    // The second time stands for a retry whose first answer was lost.
    const options = { name: 'a.txt', model: 'reads-file', idempotencyKey: failed.key }
    const [upload, again] = [await client.files.upload(document, options), await client.files.upload(document, options)]
    expect(again).toEqual(upload)
    expect(upload).toMatchObject({ duplicate: false, run_id: expect.any(String) })
    const after = await uploadRows()
    expect(after).toEqual(Object.fromEntries(Object.entries(before).map(([name, count]) => [name, count + 1])))
  })
})

describe('ErrorState C, R304: a run is claimed and the work never reaches a worker', () => {
  it('a worker killed right after the commit of its claim: another takes the run, behind those submitted meanwhile', async () => {
    const { place } = chaos
    const runId = await chaos.submit('found', { folder: place.folder, go: 'never' })
    const dead = place.runScript(DIES, [chaos.api.db.url, 'after-claim', 'found'])
    expect(await dead.exited).toMatchObject({ signal: 'SIGKILL' })
    expect((await chaos.read(runId)).run).toMatchObject({ status: 'RUNNING', attemptCount: 1 })
    expect(place.hasMark(runId, 1, 'begun')).toBe(false)
    await place.touch('go-c')
    const meanwhile = await chaos.submit('found', { folder: place.folder, go: 'go-c' })
    const other = await place.startWorker({ HOLDFAST_CONCURRENCY: '1' })
    expect(await chaos.reaches(runId, 'SUCCEEDED')).toMatchObject({ attemptCount: 2, reclaimCount: 1 })
    expect(await chaos.events(runId)).toEqual(['created', 'started', 'reclaimed', 'started', 'succeeded'])
    const { attempts } = await chaos.read(runId)
    const first = await chaos.reaches(meanwhile, 'SUCCEEDED')
    expect(attempts[1]!.startedAt!.getTime()).toBeGreaterThanOrEqual(first.startedAt!.getTime())
    await stopped(other)
  })
})

describe('ErrorState D, R305: the result is there and could not be written', () => {
  it('a worker killed between the end of the work and its settle: the run is done once in effect', async () => {
    const { place } = chaos
    await place.touch('go-d')
    const runId = await chaos.submit('found', { folder: place.folder, go: 'go-d' })
    const dead = place.runScript(DIES, [chaos.api.db.url, 'before-settle', 'found'])
    expect(await dead.exited).toMatchObject({ signal: 'SIGKILL' })
    expect(place.hasMark(runId, 1, 'begun')).toBe(true)
    const kept = async () => {
      const tables = ['run_results', 'run_facets', 'run_places']
      const counts = tables.map((table) => `(SELECT count(*)::int FROM ${table} WHERE run_id = $1) AS ${table}`)
      return (await chaos.api.db.query(`SELECT ${counts.join(', ')}`, [runId]))[0]
    }
    expect(await kept()).toEqual({ run_results: 0, run_facets: 0, run_places: 0 })
    const other = await place.startWorker()
    await chaos.reaches(runId, 'SUCCEEDED')
    expect(await chaos.resultOf(runId)).toMatchObject({ attempt: 2 })
    expect(await kept()).toEqual({ run_results: 1, run_facets: 1, run_places: 1 })
    const found = async (facet: string) => {
      const { data } = (await chaos.api.get(`/runs?facet=${facet}&near=14.6,121,1`)).json()
      return data.some((run: { run_id: string }) => run.run_id === runId)
    }
    expect([await found('attempt:1'), await found('attempt:2')]).toEqual([false, true])
    await stopped(other)
  })
})

describe('ErrorState E, R306: a duplicate is told while nobody is there to send the mail', () => {
  it('that it is a duplicate is a durable fact: in the history of the first run and in the feed, after any crash', async () => {
    const first = await chaos.place.startApi()
    const client = new Holdfast({ url: first.url })
    const feed = async (after: string) =>
      (await chaos.api.get(`/events?type=document.duplicate&after=${after}`)).json().data
    const { next_cursor: start } = (await (await fetch(`${first.url}/events`)).json()) as { next_cursor: string }
    const send = (name: string) => client.files.upload(new Blob(['the same document']), { name, model: 'reads-file' })
    const [original, copy] = [await send('one.txt'), await send('two.txt')]
    expect(copy).toMatchObject({ duplicate: true, run_id: original.run_id, file_id: original.file_id })
    first.kill('SIGKILL')
    await first.exited
    const told = {
      run_id: original.run_id,
      data: { upload_id: copy.upload_id, file_id: copy.file_id, name: 'two.txt' },
    }
    // Whoever was away reads it from where they were, and as often as they like.
    for (let no = 0; no < 2; no += 1) expect(await feed(start)).toMatchObject([told])
    expect(await chaos.events(original.run_id!)).toEqual(['created', 'document.duplicate'])
  })
})

describe('ErrorState F, R307, R308, R309: the work began and never finished', () => {
  let worker: Running
  beforeAll(async () => {
    worker = await chaos.place.startWorker({ HOLDFAST_CONCURRENCY: '1' })
  })
  afterAll(() => stopped(worker))

  it('three times the expected duration is the timeout where none is set: the attempt ends and its run goes to the back of the queue', async () => {
    const { place } = chaos
    const stuck = await chaos.submit('stuck', { folder: place.folder })
    await place.marked(stuck, 1, 'begun')
    const meanwhile = await chaos.submit('stuck', { folder: place.folder })
    const run = await chaos.reaches(stuck, 'SUCCEEDED')
    expect(run).toMatchObject({ attemptCount: 2, lastError: { class: 'Timeout', attempt: 1 } })
    const { attempts } = await chaos.read(stuck)
    const tookMs = attempts[0]!.finishedAt!.getTime() - attempts[0]!.startedAt!.getTime()
    expect(tookMs).toBeGreaterThanOrEqual(880)
    const other = (await chaos.read(meanwhile)).attempts[0]!
    expect(attempts[1]!.startedAt!.getTime()).toBeGreaterThan(other.startedAt!.getTime())
    await chaos.reaches(meanwhile, 'SUCCEEDED')
  })

  it('with a longer timeout of its own it is flagged, counted and shown, and goes on', async () => {
    const { place } = chaos
    const runId = await chaos.submit('overdue', { folder: place.folder, go: 'go-overdue' })
    const line = await until(
      () => worker.lines.find((one) => one.run_id === runId && /overdue/.test(String(one.msg))),
      {
        what: 'the worker says that it is overdue',
      },
    )
    expect(line).toMatchObject({ level: 'warn', expected_seconds: 0.05 })
    const shown = (await chaos.api.get(`/runs/${runId}`)).json()
    expect([shown.status, typeof shown.overdue_since]).toEqual(['RUNNING', 'string'])
    expect((await chaos.api.get('/runs?overdue=true')).json().data).toMatchObject([{ run_id: runId }])
    expect((await chaos.api.get('/metrics')).body).toContain('runs_overdue 1')
    await place.touch('go-overdue')
    await chaos.reaches(runId, 'SUCCEEDED')
    expect(await chaos.events(runId)).toEqual(['created', 'started', 'overdue', 'succeeded'])
    expect((await chaos.api.get(`/runs/${runId}`)).json().overdue_since).toBeNull()
  })
})
