/** Files over HTTP after their upload: downloads, ranges, who may have them, names that deceive, the list of uploads, deletion. */

import { createHash, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { MODEL, openTestApi, type TestApi, WORKER } from '../../../test/support/api.ts'
import { type TestToken, TOKENS_ONLY, testToken } from '../../../test/support/tokens.ts'
import { nameOf } from '../../blob/blob.ts'
import { UploadList } from '../../contract/file.ts'

const DOCUMENT = { type: 'string', format: 'holdfast-file', pattern: '^[0-9a-f]{64}$' }
const READER = { ...MODEL, name: 'reader', parametersSchema: { type: 'object', properties: { document: DOCUMENT } } }

const hashOf = (text: string) => createHash('sha256').update(text).digest('hex')

let api: TestApi
let ana: TestToken
let bob: TestToken
let operator: TestToken
beforeAll(async () => {
  api = await openTestApi({ models: [MODEL, READER], config: { access: TOKENS_ONLY } })
  ana = await testToken(api.store, 'submitter', { owner: 'ana' })
  bob = await testToken(api.store, 'submitter', { owner: 'bob' })
  operator = await testToken(api.store, 'operator', { owner: 'olga' })
})
afterAll(() => api.close())

async function upload(text: string, query = '', { headers }: TestToken = ana): Promise<string> {
  const type = { 'content-type': 'application/octet-stream' }
  const response = await api.app.inject({
    method: 'POST',
    url: `/files${query}`,
    headers: { ...type, ...headers },
    payload: text,
  })
  if (response.statusCode !== 201) throw new Error(response.body)
  return response.json().data[0].file_id
}

const get = (id: string, headers: Record<string, string> = {}, token = ana) =>
  api.get(`/files/${id}`, { ...token.headers, ...headers })
const remove = (id: string, token = ana) =>
  api.app.inject({ method: 'DELETE', url: `/files/${id}`, headers: token.headers })

test('a download is bytes to be saved, never shown, with their digest', async () => {
  const html = '<script>alert(1)</script>'
  const id = await upload(html, '?name=page.html')
  const { statusCode, headers, body } = await get(id)
  expect([statusCode, body]).toEqual([200, html])
  expect(headers).toMatchObject({
    'content-type': 'application/octet-stream',
    'content-disposition': `attachment; filename*=UTF-8''page.html`,
    'content-length': String(html.length),
    'content-security-policy': expect.stringMatching(/^sandbox;/),
    'x-content-type-options': 'nosniff',
    'accept-ranges': 'bytes',
    'cache-control': 'private, no-cache',
    'repr-digest': `sha-256=:${Buffer.from(id, 'hex').toString('base64')}:`,
    etag: `"${id}"`,
  })
})

test.each([
  ['../../etc/passwd', 'passwd'],
  ['%2e%2e%2fetc%2fshadow', '%252e%252e%252fetc%252fshadow'],
  [`${'n'.repeat(300)}.txt`, `${'n'.repeat(251)}.txt`],
  ['invoice\u202efdp.exe', 'invoice_fdp.exe'],
  ['خطاب.html', '%D8%AE%D8%B7%D8%A7%D8%A8.html'],
  ['<img src=x onerror=alert(1)>.html', '%3Cimg%20src%3Dx%20onerror%3Dalert%281%29%3E.html'],
  ['a"\r\nSet-Cookie: x=y', 'a%22__Set-Cookie%3A%20x%3Dy'],
])('a file called %j is offered as %s', async (name, offered) => {
  const id = await upload(`bytes of ${name}`, `?name=${encodeURIComponent(name)}`)
  const { headers, body } = await get(id)
  expect(body).toBe(`bytes of ${name}`)
  expect(headers['content-disposition']).toBe(`attachment; filename*=UTF-8''${offered}`)
  expect([headers['content-type'], headers['set-cookie']]).toEqual(['application/octet-stream', undefined])
  for await (const blob of api.blob.list()) expect(blob.name).toMatch(/^[0-9a-f-]{36}\.file$/)
})

test('HEAD tells the same without the bytes, and 304 that the caller has them', async () => {
  const id = await upload('abc')
  const head = await api.app.inject({ method: 'HEAD', url: `/files/${id}`, headers: ana.headers })
  expect([head.statusCode, head.headers['content-length'], head.body]).toEqual([200, '3', ''])
  for (const tag of [`"${id}"`, `"x", W/"${id}"`, '*']) {
    expect((await get(id, { 'if-none-match': tag })).statusCode).toBe(304)
  }
})

describe('a range', () => {
  test.each([
    ['bytes=0-2', '012', 'bytes 0-2/10'],
    ['bytes=7-', '789', 'bytes 7-9/10'],
    ['bytes=-1', '9', 'bytes 9-9/10'],
  ])('%s', async (range, body, contentRange) => {
    const response = await get(await upload('0123456789'), { range })
    expect([response.statusCode, response.body]).toEqual([206, body])
    expect(response.headers).toMatchObject({ 'content-range': contentRange, 'content-length': String(body.length) })
  })

  test('that the file does not have is 416 with its size', async () => {
    const response = await get(await upload('0123456789'), { range: 'bytes=10-' })
    expect([response.statusCode, response.json().code]).toEqual([416, 'range-not-satisfiable'])
    expect(response.headers).toMatchObject({ 'content-range': 'bytes */10' })
    expect(response.headers['content-type']).toMatch('application/problem+json')
  })

  test('is served only of the file it is meant for', async () => {
    const id = await upload('0123456789')
    expect((await get(id, { range: 'bytes=0-1', 'if-range': `"${id}"` })).statusCode).toBe(206)
    expect((await get(id, { range: 'bytes=0-1', 'if-range': '"x"' })).body).toBe('0123456789')
  })
})

test('a file is absent for another owner, in the words for what is, and there for an operator', async () => {
  const id = await upload('of ana')
  const [others, none] = [await get(id, {}, bob), await get(hashOf('nothing'), {}, bob)]
  expect([others.statusCode, others.json().code]).toEqual([404, 'no-such-file'])
  expect(others.json().detail).toBe(none.json().detail.replace(hashOf('nothing'), id))
  expect((await remove(id, bob)).statusCode).toBe(404)
  expect((await get(id, {}, operator)).body).toBe('of ana')
})

test.each(['x', randomUUID(), 'A'.repeat(64), 'f'.repeat(65)])('%s is no file', async (id) => {
  const response = await get(id)
  expect([response.statusCode, response.json().code]).toEqual([404, 'no-such-file'])
})

test.each(['gone', 'shorter than it was'])('a file whose bytes are %s is a 500 that says so', async (what) => {
  const id = await upload(`bytes that will be ${what}`)
  const { ref } = (await api.store.files.find(id, null))!
  await api.blob.delete(ref)
  if (what !== 'gone') await api.blob.put(nameOf(ref), Buffer.from('ab'))
  for (const headers of [{}, { range: 'bytes=0-1' }] as Record<string, string>[]) {
    const response = await get(id, headers)
    expect([response.statusCode, response.json().code]).toEqual([500, 'file-missing'])
    expect(response.headers['content-disposition']).toBeUndefined()
  }
})

test('bytes that were changed where they are stored are not delivered as whole', async () => {
  const id = await upload('true')
  const { ref } = (await api.store.files.find(id, null))!
  await api.blob.put(nameOf(ref), Buffer.from('lies'))
  const response = await get(id)
  expect([response.statusCode, response.json().code]).toEqual([500, 'file-missing'])
  expect(response.body).not.toContain('lies')
})

describe('the list of uploads', () => {
  test('is newest first, the caller’s own, with the state of each run', async () => {
    const carl = await testToken(api.store, 'submitter', { owner: 'carl' })
    const list = async (query = '', token = carl) =>
      UploadList.parse((await api.get(`/files${query}`, token.headers)).json())
    const batch = randomUUID()
    const first = await upload('first', `?model=reader&name=1&batch=${batch}`, carl)
    await upload('first', `?model=reader&name=2&batch=${batch}`, carl)
    await upload('third', '?name=3', carl)
    const states = async () => (await list()).data.map(({ name, state }) => `${name} ${state}`)
    expect(await states()).toEqual(['3 UPLOADED', '2 DUPLICATE', '1 UPLOADED'])
    const models = [{ model: 'reader', version: '1', room: 1 }]
    const lease = (
      await api.store.claim({
        workerId: WORKER,
        leaseMs: 60_000,
        slots: 1,
        queues: [{ queue: 'default', room: 1 }],
        models,
      })
    )[0]!
    expect((await states())[2]).toBe('1 PROCESSING')
    await api.settle(lease, { kind: 'succeed', result: { ref: 'inline', hash: hashOf('1'), text: '1' } })
    expect((await states())[2]).toBe('1 DONE')
    expect((await list(`?batch=${batch}`)).data.map(({ name }) => name)).toEqual(['2', '1'])
    expect((await list(`?file=${first}`)).data).toHaveLength(2)
    const page = await list('?limit=2')
    expect((await list(`?limit=2&cursor=${page.next_cursor}`)).data.map(({ name }) => name)).toEqual(['1'])
    expect((await list('', bob)).data.filter(({ name }) => name === '3')).toEqual([])
    expect((await list('?owner=carl', bob)).data).toEqual([])
    expect((await list('?owner=carl', operator)).data).toHaveLength(3)
  })

  test.each(['limit=0', 'cursor=x', 'batch=x', 'file=x', 'fiel=x'])('the query %s is refused', async (query) => {
    const response = await api.get(`/files?${query}`, ana.headers)
    expect([response.statusCode, response.json().code]).toEqual([400, 'invalid-query'])
  })
})

describe('deletion', () => {
  test('takes the file from its owner', async () => {
    const id = await upload('to go')
    const response = await remove(id)
    expect([response.statusCode, response.body]).toEqual([204, ''])
    expect((await get(id)).statusCode).toBe(404)
    expect((await remove(id)).statusCode).toBe(404)
  })

  test('leaves the file of another owner', async () => {
    const id = await upload('of both')
    await upload('of both', '', bob)
    await remove(id)
    expect((await get(id, {}, bob)).body).toBe('of both')
  })

  test('is refused while a run has the file among its parameters', async () => {
    const id = await upload('in use', '?model=reader')
    const response = await remove(id)
    expect([response.statusCode, response.json().code]).toEqual([409, 'file-in-use'])
    expect((await get(id)).statusCode).toBe(200)
  })
})
