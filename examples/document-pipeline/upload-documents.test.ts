/** Documents from upload to result: done, refused, duplicate, and found again by what is in them. */

import { afterAll, beforeAll, expect, test } from 'vitest'
import { inputFolderIn } from '../../src/compose-executors.ts'
import { type House, openHouse } from '../../test/support/house.ts'
import { tempFolder } from '../../test/support/temp-folder.ts'
import documentPipeline from './document-pipeline.ts'
import { brokenSample } from './samples/broken-sample.ts'

let house: House
let folder: Awaited<ReturnType<typeof tempFolder>>

beforeAll(async () => {
  folder = await tempFolder()
  house = await openHouse([documentPipeline])
  await house.startWorker({ inputFolder: inputFolderIn(folder.path) })
})
afterAll(async () => {
  await house.close()
  await folder.remove()
})

const LETTER =
  'Le rapport du 14 mars 2026 est prêt : la pompe coûte 1 234,50 € et se trouve à 48.85837, 2.29448 dans la ville.'

async function upload(bytes: Buffer, name: string) {
  const response = await house.api.app.inject({
    method: 'POST',
    url: `/files?name=${encodeURIComponent(name)}&model=document_pipeline_v1`,
    headers: { 'content-type': 'application/octet-stream' },
    payload: bytes,
  })
  return response.json<{ data: { run_id: string; duplicate: boolean }[] }>().data[0]!
}

async function found(query: string): Promise<string[]> {
  const { data } = (await house.api.get(`/runs?${query}`)).json() as { data: { run_id: string }[] }
  return data.map((run) => run.run_id)
}

test('a document is read once under any name, and found by its language, its words and its place', async () => {
  const first = await upload(Buffer.from(LETTER), 'תקציר.txt')
  const runId = first.run_id
  await house.reaches(runId, 'SUCCEEDED')
  const again = await upload(Buffer.from(LETTER), 'copy.md')
  expect(again).toMatchObject({ duplicate: true, run_id: runId })
  expect(await house.resultOf(runId)).toMatchObject({ kind: 'text', language: 'fr', places: [{ latitude: 48.85837 }] })
  for (const facet of ['language:fr', 'kind:text', 'date:2026-03-14', 'currency:EUR', 'term:pompe']) {
    expect([facet, await found(`facet=${encodeURIComponent(facet)}`)]).toEqual([facet, [runId]])
  }
  expect(await found('facet=language:de')).toEqual([])
  expect(await found('near=48.86,2.29,5')).toEqual([runId])
})

test('a document that can never be read ends after one attempt and one try, with what to do about it', async () => {
  const { run_id: runId } = await upload(brokenSample('encryptedPdf', 'x').bytes, 'secret.pdf')
  const run = await house.reaches(runId, 'FAILED')
  expect(run).toMatchObject({ attemptCount: 1, lastError: { class: 'EncryptedDocument' } })
  expect(run.lastError!.message).toContain('save it without one')
  const steps = (await house.api.get(`/runs/${runId}/steps`)).json()
  expect(steps.data[0]).toMatchObject({ name: 'identify', state: 'FAILED', tries: 1 })
})
