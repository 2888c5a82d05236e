/** S3 that fails in every way it does: what is asked again, what is told, and what is taken back. What works is shown on a real server. */

import { finished } from 'node:stream/promises'
import { expect, it } from 'vitest'
import { type Act, answers, breaksOff, loses, saysNothing, scriptedServer } from '../../test/support/scripted-http.ts'
import { sha256 } from '../run/canonical.ts'
import { BlobDamaged, BlobMissing, BlobStoreFull, BlobStoreUnavailable } from './blob.ts'
import { createS3BlobStore } from './s3.ts'

const REF = 'artifacts/run.a1.json'
const ID = '0191f0a2-1111-7222-8333-944455556666'

async function setUp(...acts: Act[]) {
  const server = await scriptedServer(...acts)
  const store = createS3BlobStore({
    bucket: 'bucket',
    endpoint: server.url,
    region: 'us-east-1',
    credentials: Object.freeze({ accessKeyId: 'key', secretAccessKey: 'secret' }),
    prefix: 'holdfast/',
    isPathStyle: true,
    limits: { connectMs: 500, requestMs: 100, idleMs: 200, triesMax: 3 },
    partBytes: 10,
  })
  const asked = () => server.seen.map(({ method, path }) => `${method} ${path.replace(/[&?]x-id=\w+/, '')}`)
  return { store, server, asked }
}

const xml = (status: number, body: string, headers: Record<string, string> = {}) =>
  answers(status, `<?xml version="1.0" encoding="UTF-8"?>${body}`, { 'content-type': 'application/xml', ...headers })
const fails = (status: number, code: string) =>
  xml(status, `<Error><Code>${code}</Code><Message>It is ${code}.</Message></Error>`)
const CREATED = xml(200, '<InitiateMultipartUploadResult><UploadId>u1</UploadId></InitiateMultipartUploadResult>')
const COMPLETED = xml(200, '<CompleteMultipartUploadResult><ETag>"e"</ETag></CompleteMultipartUploadResult>')
const TAKEN = answers(200, '', { etag: '"e"' })
const holds = (text: string) => answers(200, text, { 'content-length': String(text.length) })
const GONE = answers(204, '')
const PUT = 'PUT /bucket/holdfast/run.a1.json'

async function* pieces(count: number, breaks = false) {
  for (let i = 0; i < count; i += 1) yield Buffer.from('12345')
  if (breaks) throw new Error('the sender went away')
}

it('asks again after 5xx and lost connections, and is done', async () => {
  const { store, asked } = await setUp(fails(503, 'SlowDown'), loses(), TAKEN)
  expect(await store.put('run.a1.json', Buffer.from('1'))).toEqual({ ref: REF, bytes: 1, sha256: sha256('1') })
  expect(asked()).toEqual([PUT, PUT, PUT])
})

it.each<[string, Act]>([
  ['5xx', fails(500, 'InternalError')],
  ['silence', saysNothing],
  ['lost connections', loses()],
  ['a refusal', fails(403, 'AccessDenied')],
])('says that the store is not available after %s, and stops asking', async (_, act) => {
  const { store, server } = await setUp()
  server.otherwise(act)
  const verbs = [
    store.put('run.a1.json', Buffer.from('1')),
    store.get(REF),
    store.open(REF),
    store.stat(REF),
    store.delete(REF),
    store.identity(),
    store.list()[Symbol.asyncIterator]().next(),
  ]
  for (const ended of await Promise.allSettled(verbs)) {
    expect(ended).toMatchObject({ status: 'rejected', reason: { code: 'artifact-store-unavailable' } })
    expect((ended as PromiseRejectedResult).reason).toBeInstanceOf(BlobStoreUnavailable)
  }
  expect(server.seen.length).toBeLessThanOrEqual(3 * verbs.length)
})

it('says that the store is full', async () => {
  const { store, server } = await setUp()
  server.otherwise(fails(507, 'InsufficientStorage'))
  await expect(store.put('run.a1.json', Buffer.from('1'))).rejects.toBeInstanceOf(BlobStoreFull)
})

it('tells what is missing from a bucket that is', async () => {
  const { store } = await setUp(fails(404, 'NoSuchKey'), fails(404, 'NoSuchBucket'))
  await expect(store.get(REF)).rejects.toBeInstanceOf(BlobMissing)
  await expect(store.get(REF)).rejects.toThrow(/not available.*NoSuchBucket/)
})

it('breaks with the failure when the bytes stop coming, and delivers no whole', async () => {
  const { store } = await setUp(breaksOff('half'))
  const { stream, size } = await store.open(REF)
  stream.resume()
  await expect(finished(stream)).rejects.toBeInstanceOf(BlobStoreUnavailable)
  expect(size).toBe(104)
})

it('breaks with the failure when the connection stays and the bytes do not', async () => {
  const { store } = await setUp((_seen, response) => {
    response.writeHead(200, { 'content-length': '100' })
    response.write('half')
  })
  await expect(store.get(REF)).rejects.toBeInstanceOf(BlobStoreUnavailable)
})

it('does not take a cut-off object for the whole one', async () => {
  const { store } = await setUp(holds('hal'))
  await expect(store.open(REF, { expect: { bytes: 4, sha256: sha256('half') } })).rejects.toBeInstanceOf(BlobDamaged)
})

it('sends many bytes in parts', async () => {
  const { store, asked, server } = await setUp(CREATED, TAKEN, TAKEN, TAKEN, COMPLETED)
  expect(await store.put('run.a1.json', pieces(5))).toMatchObject({ bytes: 25, sha256: sha256('12345'.repeat(5)) })
  const part = (number: number) => `${PUT}?partNumber=${number}&uploadId=u1`
  expect(asked()).toEqual([
    'POST /bucket/holdfast/run.a1.json?uploads=',
    part(1),
    part(2),
    part(3),
    'POST /bucket/holdfast/run.a1.json?uploadId=u1',
  ])
  expect(server.seen.map(({ text }) => text).slice(1, 4)).toEqual(['1234512345', '1234512345', '12345'])
})

const ABORT = 'DELETE /bucket/holdfast/run.a1.json?uploadId=u1'

it('takes the parts back when the source breaks', async () => {
  const { store, asked } = await setUp(CREATED, TAKEN, GONE)
  await expect(store.put('run.a1.json', pieces(3, true))).rejects.toThrow('the sender went away')
  expect(asked().at(-1)).toBe(ABORT)
})

it('takes the parts back when one of them cannot be stored, and lets the source go', async () => {
  const bad = fails(500, 'InternalError')
  const { store, asked } = await setUp(CREATED, bad, bad, bad, GONE)
  let isLetGo = false
  async function* endless() {
    try {
      for (;;) yield Buffer.from('1234567890')
    } finally {
      isLetGo = true
    }
  }
  await expect(store.put('run.a1.json', endless())).rejects.toBeInstanceOf(BlobStoreUnavailable)
  expect([isLetGo, asked().at(-1)]).toEqual([true, ABORT])
})

it('tells the failure of the source though the parts cannot be taken back', async () => {
  const { store, server } = await setUp(CREATED, TAKEN)
  server.otherwise(fails(500, 'InternalError'))
  await expect(store.put('run.a1.json', pieces(3, true))).rejects.toThrow('the sender went away')
})

it('knows its own object when the answer that completed it was lost', async () => {
  let mark = ''
  const marked: Act = (seen, response) => {
    mark = String(seen.headers['x-amz-meta-holdfast-put'])
    CREATED(seen, response)
  }
  const head: Act = (_seen, response) => {
    response.writeHead(200, { 'x-amz-meta-holdfast-put': mark })
    response.end()
  }
  const { store } = await setUp(marked, TAKEN, TAKEN, loses(), fails(404, 'NoSuchUpload'), head)
  expect(await store.put('run.a1.json', pieces(3))).toMatchObject({ bytes: 15 })
})

it('does not take the object of another upload for its own', async () => {
  const head = answers(200, '', { 'x-amz-meta-holdfast-put': 'another' })
  const { store } = await setUp(CREATED, TAKEN, TAKEN, fails(404, 'NoSuchUpload'), head, GONE)
  await expect(store.put('run.a1.json', pieces(3))).rejects.toBeInstanceOf(BlobStoreUnavailable)
})

it.each([
  ['412', fails(412, 'PreconditionFailed')],
  ['409', fails(409, 'ConditionalRequestConflict')],
])('reads the identity that another process wrote first (%s)', async (_, act) => {
  const { store, server } = await setUp(fails(404, 'NoSuchKey'), act, holds(`${ID}\n`))
  expect(await store.identity()).toBe(ID)
  expect(server.seen[1]?.headers['if-none-match']).toBe('*')
})

it('refuses an identity it does not understand', async () => {
  const { store } = await setUp(holds('half'))
  await expect(store.identity()).rejects.toThrow(/does not hold a folder id/)
})

it('takes away uploads that nobody goes on with, and only those', async () => {
  const upload = (key: string, id: string, at: string) =>
    `<Upload><Key>holdfast/${key}</Key><UploadId>${id}</UploadId><Initiated>${at}</Initiated></Upload>`
  const old = '2020-01-01T00:00:00.000Z'
  const uploads = [
    upload('dead', 'u1', old),
    upload('slow', 'u2', old),
    upload('new', 'u3', new Date().toISOString()),
    upload('others/dead', 'u4', old),
  ]
  const parts = (at: string) =>
    xml(
      200,
      `<ListPartsResult><Part><PartNumber>1</PartNumber><LastModified>${at}</LastModified></Part></ListPartsResult>`,
    )
  const { store, asked } = await setUp(
    xml(200, `<ListMultipartUploadsResult>${uploads.join('')}</ListMultipartUploadsResult>`),
    parts(old),
    GONE,
    parts(new Date().toISOString()),
  )
  expect(await store.removeUnfinished(60_000)).toBe(1)
  expect(asked().filter((line) => line.startsWith('DELETE'))).toEqual(['DELETE /bucket/holdfast/dead?uploadId=u1'])
})
