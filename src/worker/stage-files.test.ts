/** Input files of attempts: copied once, checked, read-only, gone with the attempt; and what it says when that cannot be. */

import { createHash } from 'node:crypto'
import { readdir, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { describe, expect, it, onTestFinished } from 'vitest'
import { MODEL } from '../../test/support/api.ts'
import { fakeLease } from '../../test/support/fake-lease.ts'
import { recordingLog } from '../../test/support/recording-log.ts'
import { tempFolder } from '../../test/support/temp-folder.ts'
import { until } from '../../test/support/until.ts'
import { BlobStoreUnavailable, type OpenBlob } from '../blob/blob.ts'
import { createMemoryBlobStore } from '../blob/memory.ts'
import type { Handle, InputFile } from '../executor/executor.ts'
import type { RunFile, StoredFile } from '../store/ports/files.ts'
import type { Lease } from '../store/store.ts'
import { createStageFiles, type StageDeps } from './stage-files.ts'

const READS = {
  ...MODEL,
  name: 'reads',
  parametersSchema: { properties: { document: { type: 'string', format: 'holdfast-file' } } },
}
const digest = (text: string) => createHash('sha256').update(text).digest('hex')

type Given = { parameter: string; text: string; name?: string }

async function setUp(given: Given[], open?: StageDeps['blob']['open']) {
  const folder = await tempFolder()
  onTestFinished(folder.remove)
  const blob = createMemoryBlobStore()
  const files: (StoredFile & RunFile)[] = []
  for (const [index, { parameter, text, name = 'a.txt' }] of given.entries()) {
    const { ref, bytes } = await blob.put(`${index}.file`, Buffer.from(text))
    const id = digest(text)
    files.push({ id, fileId: id, bytes, ref, type: 'text/plain', parameter, name })
  }
  let opened = 0
  const path = join(folder.path, 'worker')
  const stageFiles = createStageFiles(
    {
      store: { files: { ofRun: async () => files } as never },
      definitions: [MODEL, READS],
      log: recordingLog().log,
      inputFolder: {
        path,
        remove: (which) => rm(which, { recursive: true, force: true }),
        removeAbandoned: async () => {},
      },
    },
    {
      open: (ref, options) => {
        opened += 1
        return (open ?? blob.open)(ref, options)
      },
    },
  )!
  const begin = (changes: Partial<Lease> = {}) => stageFiles.begin(fakeLease({ model: 'reads', ...changes }))!
  return { blob, files, path, stageFiles, begin, opened: () => opened }
}

type Handed = { files: InputFile[]; timeoutMs: number }

async function handed(staging: ReturnType<Awaited<ReturnType<typeof setUp>>['begin']>) {
  let got: Handed | null = null
  const handle = await staging.handTo((files): Handle => {
    got = files
    return { runId: 'r', attempt: 1 }
  })
  return { handle, got: got as Handed | null }
}

async function failure(staging: Parameters<typeof handed>[0]) {
  const { handle, got } = await handed(staging)
  if (got !== null || handle.ended?.status !== 'failed') throw new Error(`no failure: ${JSON.stringify(handle)}`)
  return handle.ended.error
}

describe('the files of an attempt', () => {
  it('are local copies with harmless names, each once, read-only and private', async () => {
    const { begin, opened, path } = await setUp([
      { parameter: '/document', text: 'one', name: '../../etc/cron.d/x.PDF' },
      { parameter: '/pages/0', text: 'two', name: 'a.tar.g\u202Ez' },
      { parameter: '/pages/1', text: 'one', name: 'again.txt' },
    ])
    const staging = begin({ timeoutSeconds: 60 })
    const { got } = await handed(staging)
    const [first, second, again] = got!.files
    expect(got!.files.map(({ parameter, name, bytes }) => [parameter, name, bytes])).toEqual([
      ['/document', '../../etc/cron.d/x.PDF', 3],
      ['/pages/0', 'a.tar.g\u202Ez', 3],
      ['/pages/1', 'again.txt', 3],
    ])
    expect(again!.path).toBe(first!.path)
    expect(opened()).toBe(2)
    expect(first!.path).toMatch(/\/worker\/files\.[\w.-]+\/file-1\.pdf$/)
    expect(second!.path).toMatch(/\/file-2$/)
    expect(await readFile(first!.path, 'utf8')).toBe('one')
    expect((await stat(first!.path)).mode & 0o777).toBe(0o400)
    expect((await stat(join(first!.path, '..'))).mode & 0o777).toBe(0o700)
    expect(got!.timeoutMs).toBeLessThanOrEqual(60_000)
    await staging.remove()
    expect(await readdir(path)).toEqual([])
  })

  it('are not looked for where the model takes none', async () => {
    const { stageFiles, opened } = await setUp([{ parameter: '/document', text: 'one' }])
    expect(stageFiles.begin(fakeLease({ model: MODEL.name }))).toBeNull()
    expect(opened()).toBe(0)
  })

  it('need no folder when the run names none', async () => {
    const { begin, path } = await setUp([])
    const staging = begin()
    expect((await handed(staging)).got!.files).toEqual([])
    await expect(readdir(path)).rejects.toThrow('ENOENT')
    await staging.remove()
  })

  it('go with the worker', async () => {
    const { begin, stageFiles, path } = await setUp([{ parameter: '/document', text: 'one' }])
    await handed(begin())
    await stageFiles.close()
    await expect(readdir(path)).rejects.toThrow('ENOENT')
  })
})

describe('an attempt fails, to be tried again,', () => {
  const one = [{ parameter: '/document', text: 'right' }]
  const full = Object.assign(new Error('write'), { code: 'ENOSPC' })

  it.each([
    ['InputFileUnavailable', 'the bytes are gone', async (blob: Blobs) => blob.delete('artifacts/0.file')],
    [
      'InputFileDamaged',
      'they are others',
      async (blob: Blobs) => void (await blob.put('0.file', Buffer.from('wrong'))),
    ],
    [
      'InputFileDamaged',
      'some are missing',
      async (blob: Blobs) => void (await blob.put('0.file', Buffer.from('rig'))),
    ],
  ])('as %s when %s', async (errorClass, _, harm) => {
    const { begin, blob, path } = await setUp(one)
    await harm(blob)
    const staging = begin()
    const error = await failure(staging)
    expect(error).toMatchObject({ class: errorClass, message: expect.stringContaining('/document') })
    expect(error.retryable).toBeUndefined()
    await staging.remove()
    expect(await readdir(path)).toEqual([])
  })

  it.each([
    ['InputFileUnavailable', 'the store of bytes does not answer', new BlobStoreUnavailable('503')],
    ['InputFolderFull', 'the disk is full', full],
  ])('as %s when %s', async (errorClass, _, thrown) => {
    const broken = new Readable({ read() {} })
    const { begin } = await setUp(one, async () => {
      queueMicrotask(() => broken.destroy(thrown))
      return { size: 5, stream: broken }
    })
    expect(await failure(begin())).toMatchObject({ class: errorClass })
  })

  it('as Timeout when the copies take the time of the attempt', async () => {
    const { begin } = await setUp(one, async () => ({ size: 5, stream: new Readable({ read() {} }) }))
    expect(await failure(begin({ timeoutSeconds: 0.05 }))).toMatchObject({
      class: 'Timeout',
      message: expect.stringContaining('0.05 s while its files were copied'),
    })
  })
})

it('told to stop, an attempt copies no further and starts nothing', async () => {
  const stuck: OpenBlob = { size: 5, stream: new Readable({ read() {} }) }
  const { begin, opened, path } = await setUp([{ parameter: '/document', text: 'right' }], async () => stuck)
  const staging = begin()
  const ending = handed(staging)
  await until(() => opened() > 0, { what: 'the copy has begun' })
  staging.abort()
  const { handle, got } = await ending
  expect([handle.ended, got]).toEqual([{ status: 'cancelled' }, null])
  await until(() => stuck.stream.destroyed, { what: 'the source is closed' })
  await staging.remove()
  expect(await readdir(path)).toEqual([])
})

it('told to stop, an attempt does not wait for a store that does not answer', async () => {
  const { begin, opened } = await setUp([{ parameter: '/document', text: 'right' }], () => new Promise(() => {}))
  const staging = begin()
  await until(() => opened() > 0, { what: 'the store was asked' })
  await staging.remove()
  expect((await handed(staging)).handle.ended).toEqual({ status: 'cancelled' })
})

type Blobs = ReturnType<typeof createMemoryBlobStore>
