/** Uploads as people and programs make them: the command, the client, and an API that dies in the middle. Real processes. */

import { createHash, randomBytes } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fileAt } from '../../client/node/file-at.ts'
import { Holdfast, sha256Of } from '../../client/src/index.ts'
import { freePort } from '../../src/store/embedded/free-port.ts'
import { allOf } from '../support/all-of.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { openPlace, type Place } from '../support/processes.ts'

const MODELS = fileURLToPath(new URL('../fixtures/file-models.ts', import.meta.url))

let db: TestDatabase
let place: Place
let url: string
let client: Holdfast
const at = (...names: string[]) => join(place.folder, ...names)

beforeAll(async () => {
  db = await createTestDatabase()
  place = await openPlace({ DATABASE_URL: db.url, HOLDFAST_MODELS: MODELS })
  const [api] = await Promise.all([place.startApi(), place.startWorker()])
  url = api.url
  client = new Holdfast({ url })
})
afterAll(async () => {
  await place.close()
  await db.drop()
})

async function write(folder: string, files: Record<string, string>): Promise<string> {
  await mkdir(at(folder, 'deep'), { recursive: true })
  for (const [name, text] of Object.entries(files)) await writeFile(at(folder, name), text)
  return at(folder)
}

async function upload(...args: string[]) {
  const process = place.run(['upload', ...args], { HOLDFAST_URL: url })
  const { code } = await process.exited
  return { code, text: process.text() }
}

describe('holdfast upload', () => {
  it('takes a folder, hands each file to a model, waits, tells duplicates with their first run, and ends with 3 for an error', async () => {
    const folder = await write('mixed', {
      'a.txt': 'one',
      'deep/b.txt': 'two',
      'deep/copy.txt': 'one',
      'c.txt': 'broken',
    })
    const { code, text } = await upload(folder, '--model', 'reads', '--concurrency', '1', '--wait', '--title', 'May')
    expect(text).toMatch(/^DUPLICATE {2}.*: it was handed in before, run [0-9a-f-]{36}$/m)
    expect(text).toContain('4 of 4: 2 DONE, 1 ERROR, 1 DUPLICATE, 0 PROCESSING, 0 UPLOADED')
    expect(text).toContain('4 files (15 bytes) uploaded, 1 of them handed in before. 2 DONE, 1 ERROR.')
    expect(code).toBe(3)
    const batchId = /Batch ([0-9a-f-]{36})/.exec(text)![1]!
    expect(await client.batches.get(batchId)).toMatchObject({
      title: 'May',
      total: 4,
      done: 2,
      failed: 1,
      duplicate: 1,
      finished: true,
    })
    const uploads = await allOf(client.files.list({ batch: batchId }))
    expect(uploads.map(({ name, state }) => [name, state]).sort()).toEqual([
      ['a.txt', expect.stringMatching(/^(DONE|DUPLICATE)$/)],
      ['b.txt', 'DONE'],
      ['c.txt', 'ERROR'],
      ['copy.txt', expect.stringMatching(/^(DONE|DUPLICATE)$/)],
    ])
  })

  it('prints JSON, one object for each file and one for the whole', async () => {
    const folder = await write('json', { 'j.txt': 'json' })
    const args = ['--model', 'reads', '--parameters', '{"repeat": 2}', '--resumable', '--wait', '--json']
    const { code, text } = await upload(folder, ...args)
    const [file, whole] = text.split('\n').map((line) => JSON.parse(line))
    expect(code).toBe(0)
    expect(file).toMatchObject({ ok: true, path: at('json', 'j.txt'), name: 'j.txt', duplicate: false })
    expect(whole).toMatchObject({ uploaded: 1, failed: 0, batch_id: file.batch_id, progress: { done: 1 } })
    expect(await client.result(file.run_id)).toEqual({ text: 'jsonjson' })
  })
})

describe('the client', () => {
  it('uploads, finds, downloads and gives up a file', async () => {
    const bytes = randomBytes(100_000)
    const sha256 = await sha256Of(bytes)
    expect(await client.files.has(sha256)).toBe(false)
    const upload = await client.files.upload(new File([bytes], '../../etc/passwd'))
    expect(upload).toMatchObject({ file_id: sha256, size: 100_000, duplicate: false, run_id: null })
    expect(await client.files.has(sha256)).toBe(true)
    // What a quota said when it was uploaded is not kept.
    expect(upload).toEqual({ ...(await client.files.get(sha256)), quota_warnings: [], cost_limit_warning: null })
    const response = await client.files.download(sha256)
    expect(response.headers.get('content-disposition')).toMatch(/^attachment/)
    expect(
      createHash('sha256')
        .update(await response.bytes())
        .digest('hex'),
    ).toBe(sha256)
    expect(await client.files.upload(bytes, { name: 'again.bin' })).toMatchObject({ duplicate: true })
    await client.files.delete(sha256)
    expect(await client.files.has(sha256)).toBe(false)
  })

  it('follows everything that happens', async () => {
    const controller = new AbortController()
    const types: string[] = []
    const isWhole = () => types.at(-1) === 'succeeded' && types.includes('created')
    const followed = (async () => {
      for await (const { type } of client.events({ model: 'reads' }, { signal: controller.signal })) {
        types.push(type)
        if (isWhole()) break
      }
    })()
    // Whoever begins to follow now may miss what happens before the service hears of it, or see the end of a run and not
    // its start; so there is always something new until one run was seen from start to end.
    for (let n = 0; !isWhole(); n += 1) {
      const { run_id } = await client.files.upload(new File([`event ${n}`], 'e.txt'), { model: 'reads' })
      await client.wait(run_id!)
    }
    await followed
    expect(types.slice(-3)).toEqual(['created', 'started', 'succeeded'])
  })

  it('survives the death of the API in the middle of a large upload: one file in the end, whole', async () => {
    const port = String(await freePort())
    let api = await place.startApi({ HOLDFAST_PORT: port })
    const bytes = randomBytes(3_000_000)
    await writeFile(at('large.bin'), bytes)
    const file = await fileAt(at('large.bin'))
    const kills: Promise<void>[] = []
    const die = async () => {
      api.kill('SIGKILL')
      await api.exited
      api = await place.startApi({ HOLDFAST_PORT: port })
    }
    const upload = await new Holdfast({ url: api.url }).files.upload(file, {
      resumable: true,
      pieceBytes: 400_000,
      onProgress({ sent }) {
        if ((sent === 800_000 && kills.length === 0) || (sent === 2_000_000 && kills.length === 1)) kills.push(die())
      },
    })
    await Promise.all([...kills, file.close()])
    expect(kills).toHaveLength(2)
    const digest = createHash('sha256').update(bytes).digest('hex')
    expect(upload).toMatchObject({ file_id: digest, size: 3_000_000, duplicate: false })
    expect(await allOf(client.files.list({ file: digest }))).toHaveLength(1)
    const response = await client.files.download(digest)
    expect(
      createHash('sha256')
        .update(await response.bytes())
        .digest('hex'),
    ).toBe(digest)
  })
})
