import { expect, test } from 'vitest'
import {
  type Act,
  answers,
  loses,
  refuses,
  type ScriptedServer,
  scriptedServer,
} from '../../test/support/scripted-http.ts'
import { stepClock } from '../../test/support/step-clock.ts'
import { Holdfast, type UploadFailed, type UploadItem } from './index.ts'

const UPLOAD = { upload_id: 'u', file_id: 'f'.repeat(64), name: 'a.txt', duplicate: false, run_id: 'r' }
const accepts = answers(201, { batch_id: null, data: [{ status: 201, ...UPLOAD, problem: null }] })
const EXPIRES = 'Tue, 01 Jan 2030 00:00:00 GMT'
const file = (text = 'hello world', name = 'a.txt') => new File([text], name, { lastModified: 1 })
const clientOf = ({ url }: ScriptedServer) => new Holdfast({ url, clock: stepClock() })

/** A service that takes pieces; `faults` are for its next PATCH requests, which arrive whole, in part, or not at all. */
function takesPieces(server: ScriptedServer, size: number, ...faults: ('lost' | 'half' | 'reply lost' | Act)[]) {
  const bytes: string[] = []
  const head = () => ({ 'upload-offset': String(bytes.join('').length), 'upload-expires': EXPIRES })
  server.otherwise((seen, response) => {
    if (seen.method === 'POST') return answers(201, '', { location: '/uploads/up-1', ...head() })(seen, response)
    if (seen.method === 'GET') {
      const received = bytes.join('').length
      const state = {
        size,
        received,
        expires_at: '2030-01-01T00:00:00.000Z',
        upload: received === size ? UPLOAD : null,
      }
      return answers(200, state)(seen, response)
    }
    const fault = faults.shift()
    if (typeof fault === 'function') return fault(seen, response)
    if (Number(seen.headers['upload-offset']) !== bytes.join('').length)
      return refuses(409, 'upload-offset')(seen, response)
    if (fault !== 'lost') bytes.push(fault === 'half' ? seen.text.slice(0, seen.text.length / 2) : seen.text)
    if (fault) return loses()(seen, response)
    response.writeHead(204, head()).end()
  })
  return { text: () => bytes.join('') }
}

test('a small file is one request with a key, the same to the byte when it is sent again', async () => {
  const server = await scriptedServer(loses(), refuses(503, 'busy'), accepts)
  const options = { model: 'pipeline', parameters: { pages: 3 }, batchId: 'b-1' }
  expect(await clientOf(server).files.upload(file(), options)).toEqual(UPLOAD)
  expect(new URL(server.seen[0]!.path, 'http://x').searchParams.toString()).toBe(
    new URLSearchParams({ name: 'a.txt', model: 'pipeline', parameters: '{"pages":3}', batch: 'b-1' }).toString(),
  )
  expect(server.seen.map(({ text }) => text)).toEqual(Array(3).fill('hello world'))
  const keys = server.seen.map(({ headers }) => headers['idempotency-key'])
  expect(keys[0]).toMatch(/^"client-[0-9a-f]{32}"$/)
  expect(new Set(keys).size).toBe(1)
})

test('parameters that do not fit into an address go as a form, before the file', async () => {
  const server = await scriptedServer(accepts)
  await clientOf(server).files.upload(file(), { model: 'pipeline', parameters: { words: 'x'.repeat(5_000) } })
  expect(server.seen[0]!.path).toBe('/files')
  expect(server.seen[0]!.headers['content-type']).toMatch(/^multipart\/form-data; boundary=/)
  expect(server.seen[0]!.text).toMatch(/name="model"[\s\S]*name="parameters"[\s\S]*name="file"; filename="a.txt"/)
})

test('an upload in pieces goes on behind what has arrived, whatever is lost on the way', async () => {
  const server = await scriptedServer()
  const taken = takesPieces(server, 11, 'half', 'lost', 'reply lost', refuses(503, 'shutting-down'), 'half')
  const sent: number[] = []
  const upload = await clientOf(server).files.upload(file(), {
    resumable: true,
    pieceBytes: 4,
    model: 'pipeline',
    onProgress: (progress) => sent.push(progress.sent),
  })
  expect(upload).toEqual({ ...UPLOAD, quota_warnings: [], cost_limit_warning: null })
  expect(taken.text()).toBe('hello world')
  expect(sent.at(-1)).toBe(11)
  const [begun] = server.seen
  expect(begun).toMatchObject({ method: 'POST', path: '/uploads', headers: { 'upload-length': '11' } })
  const metadata = (begun!.headers['upload-metadata'] as string).split(',').map((pair) => pair.split(' '))
  expect(metadata.map(([name, value]) => [name, atob(value!)])).toEqual([
    ['filename', 'a.txt'],
    ['model', 'pipeline'],
    ['key', expect.stringMatching(/^client-/)],
  ])
})

test('a stream is uploaded in pieces too', async () => {
  const server = await scriptedServer()
  const taken = takesPieces(server, 11, 'half')
  const stream = new Blob(['hello world']).stream()
  await clientOf(server).files.upload(stream, { name: 's.txt', size: 11, resumable: true, pieceBytes: 4 })
  expect(taken.text()).toBe('hello world')
})

test('R303: an upload that fails says so to a person, and the same call again goes on with it', async () => {
  const server = await scriptedServer()
  const taken = takesPieces(server, 11)
  const client = clientOf(server)
  const options = { resumable: true, pieceBytes: 4, patienceMs: 1_000 }
  const once = client.files.upload(file(), {
    ...options,
    onProgress: ({ sent }) => void (sent === 8 && server.otherwise(loses())),
  })
  const failure = (await once.catch((error: unknown) => error)) as UploadFailed
  expect(failure).toMatchObject({ name: 'UploadFailed', file: 'a.txt', uploadId: 'up-1', received: 8, isOutage: true })
  expect(failure.message).toMatch(/^The upload of a\.txt failed: PATCH \/uploads\/up-1 failed: /)
  expect(failure.message).toMatch(
    /The part that arrived \(8 of 11 bytes\) is kept until 2030-01-01T00:00:00\.000Z; try again to go on\.$/,
  )
  const before = server.seen.length
  const again = takesPieces(server, 11)
  expect(taken.text()).toBe('hello wo')
  server.plan(answers(200, { size: 11, received: 8, expires_at: '2030-01-01T00:00:00.000Z', upload: null }))
  const warned = { 'holdfast-quota-warnings': '["4 of 5"]', 'holdfast-cost-limit-warning': '9 of 10' }
  server.plan((_seen, response) => void response.writeHead(204, { 'upload-offset': '11', ...warned }).end())
  server.plan(answers(200, { size: 11, received: 11, expires_at: null, upload: UPLOAD }))
  const warnings = { quota_warnings: ['4 of 5'], cost_limit_warning: '9 of 10' }
  expect(await client.files.upload(file(), options)).toEqual({ ...UPLOAD, ...warnings })
  expect(again.text()).toBe('')
  expect(server.seen.slice(before).map(({ method, path, text }) => `${method} ${path} ${text}`)).toEqual([
    'GET /uploads/up-1 ',
    'PATCH /uploads/up-1 rld',
    'GET /uploads/up-1 ',
  ])
})

test('an upload that expired meanwhile, or belongs to another file, is begun anew', async () => {
  for (const first of [refuses(404, 'upload-not-found'), answers(200, { size: 3, received: 1, upload: null })]) {
    const server = await scriptedServer(first)
    const taken = takesPieces(server, 11)
    await clientOf(server).files.upload(file(), { resume: 'old', pieceBytes: 20 })
    expect(server.seen[0]).toMatchObject({ method: 'GET', path: '/uploads/old' })
    expect(taken.text()).toBe('hello world')
  }
})

test('a file that is refused is not tried again, and the reason is the first thing said', async () => {
  const server = await scriptedServer(refuses(422, 'model-takes-no-file'))
  const failure = clientOf(server).files.upload(file('x', 'scan.pdf'), { model: 'forecast' })
  await expect(failure).rejects.toMatchObject({
    name: 'UploadFailed',
    message: 'The upload of scan.pdf failed: It is model-takes-no-file. (model-takes-no-file).',
    code: 'model-takes-no-file',
    isOutage: false,
  })
  expect(server.seen).toHaveLength(1)
})

test('an abort ends an upload with its reason', async () => {
  const controller = new AbortController()
  const reason = new Error('enough')
  const server = await scriptedServer(() => controller.abort(reason))
  await expect(clientOf(server).files.upload(file(), { signal: controller.signal })).rejects.toBe(reason)
})

test('many files share a batch, some at a time, and one that fails does not stop the others', async () => {
  const held: (() => void)[] = []
  let most = 0
  let come = 0
  const server = await scriptedServer(answers(201, { batch_id: 'b' }))
  server.otherwise((seen, response) => {
    come += 1
    held.push(() => (seen.text === 'bad' ? refuses(422, 'invalid-parameters') : accepts)(seen, response))
    most = Math.max(most, held.length)
    // Answers only when as many have come as may.
    if (held.length === 2 || come === 5) for (const answer of held.splice(0)) answer()
  })
  async function* walked(): AsyncGenerator<UploadItem> {
    for (const text of ['1', '2', 'bad', '4', '5']) yield { input: new TextEncoder().encode(text), name: `${text}.txt` }
  }
  const seen: string[] = []
  const many = await clientOf(server).files.uploadMany(walked(), {
    model: 'pipeline',
    title: 'May',
    concurrency: 2,
    onFile: ({ name, ok }) => seen.push(`${name} ${ok}`),
  })
  expect(most).toBe(2)
  expect(seen.sort()).toEqual(['1.txt true', '2.txt true', '4.txt true', '5.txt true', 'bad.txt false'])
  expect(many).toMatchObject({ stoppedBy: null, batchId: server.seen[0]!.json().batch_id })
  expect(many.outcomes.map(({ ok, name }) => [ok, name])[2]).toEqual([false, 'bad.txt'])
  expect(server.seen[0]!.json()).toMatchObject({ title: 'May' })
  expect(server.seen.slice(1).every(({ path }) => path.includes(`batch=${many.batchId}`))).toBe(true)
})

test('when the service is out of reach no further file is begun', async () => {
  const server = await scriptedServer(answers(201, {}), accepts)
  server.otherwise(loses())
  const many = await clientOf(server).files.uploadMany(
    Array.from({ length: 50 }, (_, index) => file(String(index), `${index}.txt`)),
    { concurrency: 1 },
  )
  expect(many.outcomes.map(({ ok }) => ok)).toEqual([true, false])
  expect(many.stoppedBy?.message).toMatch(/^The upload of 1\.txt failed: POST \/files failed 4 times: .*; try again\.$/)
})

test('whether the service has a file is known by its digest', async () => {
  const server = await scriptedServer(answers(200, ''), answers(404, ''))
  const { files } = clientOf(server)
  expect([await files.has('ab'), await files.has('cd')]).toEqual([true, false])
  expect(server.seen.map(({ method, path }) => `${method} ${path}`)).toEqual(['HEAD /files/ab', 'HEAD /files/cd'])
})

test('a file that is there is handed in without its bytes, sent again under one key', async () => {
  const taken = {
    batch_id: 'b',
    data: [{ status: 201, ...UPLOAD, quota_warnings: [], cost_limit_warning: null, problem: null }],
  }
  const server = await scriptedServer(loses(), answers(201, taken))
  const upload = await clientOf(server).files.handIn('ab', { name: 'a b.txt', model: 'pipeline', batchId: 'b' })
  expect(upload).toEqual({ ...UPLOAD, quota_warnings: [], cost_limit_warning: null })
  const [first, second] = server.seen
  expect([first!.method, first!.path, first!.text]).toEqual([
    'POST',
    '/files/ab/uploads?name=a+b.txt&model=pipeline&batch=b',
    '',
  ])
  expect(second!.headers['idempotency-key']).toBe(first!.headers['idempotency-key'])
})
