/**
 * A real API process killed while a real tus client sends to it. The client knows nothing of it: it goes on by itself with the next
 * process, from what the first one kept, and one file is there in the end.
 */

import { createHash, randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { SEGMENT_LIMITS } from '../../src/api/upload-segments.ts'
import { ResumableUploadObject } from '../../src/contract/resumable-upload.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { openPlace, type Place } from '../support/processes.ts'
import { uploadByTus } from '../support/tus.ts'

const MIB = 1_048_576

let database: TestDatabase
let place: Place
beforeAll(async () => {
  database = await createTestDatabase()
  place = await openPlace({ DATABASE_URL: database.url })
})
afterAll(async () => {
  await place.close()
  await database.drop()
})

it('an upload goes on where a killed API process left it', async () => {
  const first = await place.startApi()
  const { port } = new URL(first.url)
  // The client tells its progress ten times a second; what is left after 40 MiB must last longer than that.
  const bytes = randomBytes(120 * MIB)
  const resumedAt: number[] = []
  const { done } = uploadByTus(bytes, {
    endpoint: `${first.url}/uploads`,
    metadata: { filename: 'large.bin' },
    retryDelays: Array(300).fill(100),
    onProgress(sent) {
      // So much is more than connections hold back: the first segment has been counted.
      if (sent >= 40 * MIB && first.isRunning()) first.kill('SIGKILL')
    },
    onAfterResponse(request, response) {
      if (request.getMethod() === 'HEAD') resumedAt.push(Number(response.getHeader('Upload-Offset')))
    },
  })
  expect((await first.exited).signal).toBe('SIGKILL')
  expect(await database.query('SELECT FROM files')).toEqual([])
  expect(await database.query('SELECT FROM file_uploads')).toEqual([])
  const [kept] = await database.query<{ received: number }>('SELECT received FROM resumable_uploads')

  const second = await place.startApi({ HOLDFAST_PORT: port })
  const url = await done
  expect(resumedAt).toEqual([kept!.received])
  expect(kept!.received).toBeGreaterThanOrEqual(SEGMENT_LIMITS.bytes)
  expect(kept!.received).toBeLessThan(bytes.length)
  const shown = ResumableUploadObject.parse(await (await fetch(url)).json())
  const digest = createHash('sha256').update(bytes).digest('hex')
  expect(shown).toMatchObject({ finished: true, upload: { file_id: digest, size: bytes.length, duplicate: false } })
  const download = Buffer.from(await (await fetch(`${second.url}/files/${digest}`)).arrayBuffer())
  expect(createHash('sha256').update(download).digest('hex')).toBe(digest)
  expect(await database.query('SELECT FROM files')).toHaveLength(1)
  expect(await database.query('SELECT FROM upload_parts')).toEqual([])
}, 60_000)
