/** The whole service with its large values in a real S3 server: API and worker as processes. */

import { afterAll, beforeAll, expect, it } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { postRun, runEnds } from '../support/http.ts'
import { openPlace, type Place } from '../support/processes.ts'
import { PLACE, s3Store } from './store.ts'

const FOLDER = crypto.randomUUID()
const blob = s3Store({ prefix: `${FOLDER}/` })

let database: TestDatabase
let place: Place
let url: string

beforeAll(async () => {
  database = await createTestDatabase()
  place = await openPlace({
    DATABASE_URL: database.url,
    S3_BUCKET: PLACE.bucket,
    S3_PREFIX: FOLDER,
    S3_ENDPOINT: PLACE.endpoint,
    S3_ACCESS_KEY_ID: PLACE.credentials.accessKeyId,
    S3_SECRET_ACCESS_KEY: PLACE.credentials.secretAccessKey,
  })
  const [api] = await Promise.all([place.startApi(), place.startWorker()])
  url = api.url
})
afterAll(async () => {
  await place?.close()
  await database?.drop()
})

it('a large result goes to the bucket and comes back through the API', async () => {
  const { run } = await postRun(url, 'large', { bytes: 12_000_000 })
  const ended = await runEnds(url, run.run_id)
  expect(ended).toMatchObject({ status: 'SUCCEEDED', result_ref: `artifacts/${run.run_id}.a1.json` })
  expect((await blob.stat(ended.result_ref!))?.bytes).toBeGreaterThan(12_000_000)
  const answer = await fetch(`${url}${ended.links.result}`)
  expect(await answer.json()).toEqual({ text: 'x'.repeat(12_000_000) })
})

it('a result that was changed in the bucket is told and not sent', async () => {
  const { run } = await postRun(url, 'large', { bytes: 100_000 })
  const { result_ref: ref, links } = await runEnds(url, run.run_id)
  await blob.put(ref!.slice('artifacts/'.length), Buffer.from('{"text":"other"}'))
  const ask = async () => (await fetch(`${url}${links.result}`)).json()
  expect(await ask()).toMatchObject({ status: 500, code: 'result-missing', detail: expect.stringContaining('damaged') })
  await blob.delete(ref!)
  expect(await ask()).toMatchObject({ code: 'result-missing', detail: expect.stringContaining('is gone') })
})

it('a process that looks elsewhere refuses to start and says the cure', async () => {
  const stray = place.run(['worker'], { S3_PREFIX: `${FOLDER}-elsewhere` })
  expect(await stray.exited).toEqual({ code: 1, signal: null })
  expect(stray.text()).toContain('S3_PREFIX')
})

it('the sweep removes what nothing refers to, and tells what', async () => {
  const orphan = `${crypto.randomUUID()}.a1.json`
  const { run } = await postRun(url, 'large', { bytes: 100_001 })
  const { result_ref: ref } = await runEnds(url, run.run_id)
  await blob.put(orphan, Buffer.from('1'))
  const looked = place.run(['sweep', '--older-than', '0s', '--dry-run', '--json'])
  await looked.exited
  expect(JSON.parse(looked.text())).toMatchObject({ dry_run: true, count: 1, removed: [{ name: orphan }] })
  expect(await blob.stat(`artifacts/${orphan}`)).not.toBeNull()
  const swept = place.run(['sweep', '--older-than', '0s'])
  expect((await swept.exited).code).toBe(0)
  expect(swept.text()).toContain(`unnamed  ${orphan}  1 bytes`)
  expect(await blob.stat(`artifacts/${orphan}`)).toBeNull()
  expect(await blob.stat(ref!)).not.toBeNull()
})
