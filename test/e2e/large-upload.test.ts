/** Large files through a real API process: little memory, and nothing of a file that did not come whole. */

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { request } from 'node:http'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { UploadAnswer } from '../../src/contract/file.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { openPlace, type Place } from '../support/processes.ts'
import { until } from '../support/until.ts'

const MIB = 1_048_576
const PIECE = Buffer.alloc(MIB, 'holdfast ')

let db: TestDatabase
let place: Place
beforeAll(async () => {
  db = await createTestDatabase()
  place = await openPlace({ DATABASE_URL: db.url })
})
afterAll(async () => {
  await place.close()
  await db.drop()
})

function* pieces(count: number, each = () => {}): Generator<Buffer> {
  for (let no = 0; no < count; no += 1) {
    each()
    yield PIECE
  }
}

/** The answer, or an error when the connection breaks. `stop` ends it in the middle. */
async function upload(url: string, body: Iterable<Buffer> | AsyncIterable<Buffer>): Promise<UploadAnswer> {
  const sent = request(`${url}/files?name=large.bin`, { method: 'POST', headers: { 'content-type': 'x/y' } })
  const answered = new Promise<UploadAnswer>((resolve, reject) => {
    sent.on('error', reject)
    sent.on('response', async (response) => {
      const text = Buffer.concat(await response.toArray()).toString()
      if (response.statusCode !== 201) reject(new Error(text))
      else resolve(UploadAnswer.parse(JSON.parse(text)))
    })
  })
  answered.catch(() => {})
  await pipeline(Readable.from(body), sent)
  return answered
}

const residentMib = (pid: number) =>
  Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1_024
const blobs = async () => (await readdir(join(place.folder, 'artifacts'))).filter((name) => !name.startsWith('.'))
const uploads = async () => (await db.query('SELECT id FROM file_uploads')).length

it.runIf(process.platform === 'linux')('300 MB need less than 60 MB above idle', async () => {
  const api = await place.startApi()
  await upload(api.url, [Buffer.from('small')])
  const idle = residentMib(api.pid)
  let most = 0
  const answer = await upload(
    api.url,
    pieces(286, () => {
      most = Math.max(most, residentMib(api.pid))
    }),
  )
  const hash = createHash('sha256')
  for (const piece of pieces(286)) hash.update(piece)
  expect(answer.data[0]).toMatchObject({ file_id: hash.digest('hex'), size: 286 * MIB })
  expect(most - idle).toBeLessThan(60)
  api.kill('SIGTERM')
  await api.exited
})

it('an API that is killed in the middle leaves nothing to be seen, and the next try makes one file', async () => {
  const before = { blobs: await blobs(), uploads: await uploads() }
  const api = await place.startApi()
  async function* half(): AsyncGenerator<Buffer> {
    yield* pieces(8)
    await until(async () => /^upload_bytes_total [1-9]/m.test(await metrics(api.url)), { what: 'bytes have come' })
    api.kill('SIGKILL')
    await api.exited
    yield* pieces(8)
  }
  await expect(upload(api.url, half())).rejects.toThrow()
  expect({ blobs: await blobs(), uploads: await uploads() }).toEqual(before)
  const next = await place.startApi()
  const { data } = await upload(next.url, pieces(16))
  expect(data[0]).toMatchObject({ duplicate: false, size: 16 * MIB })
  expect(await blobs()).toHaveLength(before.blobs.length + 1)
  expect(await uploads()).toBe(before.uploads + 1)
})

async function metrics(url: string): Promise<string> {
  return (await fetch(`${url}/metrics`)).text()
}
