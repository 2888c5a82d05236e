/** Files from an owner's hands to a model's: submitted by id, copied for the attempt, read, and gone again. */

import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { BlobMissing } from '../../src/blob/blob.ts'
import { inputFolderIn } from '../../src/compose-executors.ts'
import { fileId, model } from '../../src/model/model.ts'
import { giveFile } from '../support/give-file.ts'
import { type House, openHouse } from '../support/house.ts'
import { tempFolder } from '../support/temp-folder.ts'

const reads = model({
  name: 'reads',
  executor: 'inline',
  parameters: z.object({ document: fileId(), pages: z.array(fileId()).optional() }),
  retry: { maxAttempts: 2, delaysSeconds: [0.05] },
  async run(_, ctx) {
    const texts = await Promise.all(ctx.files.map(async (file) => [file.parameter, (await file.read()).toString()]))
    return { name: ctx.file('document').name, texts, attempt: ctx.attempt }
  },
})

let house: House
let folder: Awaited<ReturnType<typeof tempFolder>>
const deadPid = 2 ** 22 + 1

beforeAll(async () => {
  folder = await tempFolder()
  const left = join(folder.path, `${hostname().replaceAll(/[^A-Za-z0-9-]/g, '_')}.${deadPid}.x`)
  await mkdir(left)
  await writeFile(join(left, 'file-1.pdf'), 'left by a crash', { mode: 0o400 })
  house = await openHouse([reads])
  await house.startWorker({ inputFolder: inputFolderIn(folder.path) })
})
afterAll(async () => {
  await house.close()
  expect(await readdir(folder.path)).toEqual([])
  await folder.remove()
})

test('a model reads the files its run names', async () => {
  const document = await giveFile(house.api, { bytes: 'first', name: 'first.md' })
  const other = await giveFile(house.api, { bytes: 'second' })
  const runId = await house.submit('reads', { document, pages: [other, document] })
  await house.reaches(runId, 'SUCCEEDED')
  const texts = [
    ['/document', 'first'],
    ['/pages/0', 'second'],
    ['/pages/1', 'first'],
  ]
  expect(await house.resultOf(runId)).toEqual({ name: 'first.md', texts, attempt: 1 })
  // The worker's own folder is all that is left, and nothing in it; what a crash had left is gone too.
  // The copies go after the run is settled, so this may take a moment longer than the run.
  const [own, ...others] = await readdir(folder.path)
  expect(others).toEqual([])
  await expect.poll(() => readdir(join(folder.path, own!)), { timeout: 10_000 }).toEqual([])
})

test('a file that cannot be had fails the attempt, and the next one reads it', async () => {
  const document = await giveFile(house.api, { bytes: 'away for a while' })
  const { blob } = house.api
  const { open } = blob
  blob.open = async (ref) => {
    blob.open = open
    throw new BlobMissing(ref)
  }
  const runId = await house.submit('reads', { document })
  await house.reaches(runId, 'SUCCEEDED')
  const { attempts } = await house.read(runId)
  expect(attempts.map(({ state }) => state)).toEqual(['FAILED', 'SUCCEEDED'])
  expect(attempts[0]!.error).toMatchObject({
    class: 'InputFileUnavailable',
    message: expect.stringContaining(`the file ${document} of the parameter /document could not be copied`),
  })
})
