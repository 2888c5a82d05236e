/** The files attempts left, over HTTP: listed, downloaded under any name, and hidden from others. */

import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createTestApi, type TestApi } from '../../../test/support/api.ts'
import { TOKENS_ONLY, testToken } from '../../../test/support/tokens.ts'
import { until } from '../../../test/support/until.ts'
import { refOf } from '../../blob/blob.ts'
import { ArtifactList } from '../../contract/artifact.ts'
import type { Lease } from '../../store/store.ts'

const RETRY = { kind: 'retry', error: { class: 'Boom', message: 'x', stack: null }, delaySeconds: 0 } as const
const hashOf = (text: string) => createHash('sha256').update(text).digest('hex')

async function leave(api: TestApi, lease: Lease, files: Record<string, string>): Promise<void> {
  const artifacts = Object.entries(files).map(async ([name, text], number) => {
    const { ref } = await api.blob.put(`${lease.runId}.a${lease.attempt}.files.${number}`, Buffer.from(text))
    return { name, bytes: Buffer.byteLength(text), sha256: hashOf(text), ref }
  })
  expect(await api.store.artifacts.record(lease, await Promise.all(artifacts))).toBe(true)
}

async function setUp() {
  const api = await createTestApi()
  const { run_id: runId } = await api.create()
  const lease = await api.claim()
  const page = async (query = '') => ArtifactList.parse((await api.get(`/runs/${runId}/artifacts${query}`)).json())
  return { api, runId, lease, page }
}

test('are listed by attempt and name, in pages', async () => {
  const { api, runId, lease, page } = await setUp()
  expect(await page()).toEqual({ data: [], next_cursor: null })
  await leave(api, lease, { 'b.csv': 'b', 'a/c d.txt': 'cd' })
  await api.settle(lease, RETRY)
  await leave(api, await api.claim(), { 'b.csv': 'again' })
  const first = await page('?limit=2')
  expect(first.data).toEqual([
    {
      name: 'a/c d.txt',
      attempt: 1,
      bytes: 2,
      sha256: hashOf('cd'),
      href: `/runs/${runId}/artifacts/1/a%2Fc%20d.txt`,
    },
    { name: 'b.csv', attempt: 1, bytes: 1, sha256: hashOf('b'), href: `/runs/${runId}/artifacts/1/b.csv` },
  ])
  const rest = await page(`?limit=2&cursor=${first.next_cursor}`)
  expect(rest.data.map(({ attempt, name }) => [attempt, name])).toEqual([[2, 'b.csv']])
  expect(await page('?attempt=2')).toEqual(rest)
})

test.each(['limit=0', 'limit=201', 'cursor=x', 'attempt=0', 'atempt=1'])('the query %s is refused', async (query) => {
  const { api, runId } = await setUp()
  expect((await api.get(`/runs/${runId}/artifacts?${query}`)).statusCode).toBe(400)
})

test('a download is bytes to be saved, never shown', async () => {
  const { api, runId, lease } = await setUp()
  await leave(api, lease, { 'plots/a b.html': '<script>' })
  const { statusCode, headers, body } = await api.get(`/runs/${runId}/artifacts/1/plots%2Fa%20b.html`)
  expect([statusCode, body]).toEqual([200, '<script>'])
  expect(headers).toMatchObject({
    'content-type': 'application/octet-stream',
    'content-disposition': `attachment; filename*=UTF-8''a%20b.html`,
    'content-length': '8',
    'content-security-policy': expect.stringMatching(/^sandbox;/),
    'x-content-type-options': 'nosniff',
    'cache-control': 'private, no-cache',
    'repr-digest': `sha-256=:${createHash('sha256').update('<script>').digest('base64')}:`,
    etag: `"${hashOf('<script>')}"`,
  })
})

test('HEAD tells the same without the bytes, and 304 that the caller has them', async () => {
  const { api, runId, lease } = await setUp()
  await leave(api, lease, { 'a.txt': 'abc' })
  const url = `/runs/${runId}/artifacts/1/a.txt`
  const origin = await api.app.listen({ host: '127.0.0.1', port: 0 })
  const head = await fetch(`${origin}${url}`, { method: 'HEAD' })
  expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([200, '3', ''])
  const known = await api.get(url, { 'if-none-match': `"${hashOf('abc')}"` })
  expect([known.statusCode, known.body]).toEqual([304, ''])
})

test('an empty file is downloaded', async () => {
  const { api, runId, lease } = await setUp()
  await leave(api, lease, { empty: '' })
  const { statusCode, headers, body } = await api.get(`/runs/${runId}/artifacts/1/empty`)
  expect([statusCode, headers['content-length'], body]).toEqual([200, '0', ''])
})

test('a file of any name is downloaded from its href', async () => {
  const { api, lease, page } = await setUp()
  const part = fc.oneof(
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }),
    fc.constantFrom('..%2F', '%2e%2e', '%', '%25', '?a=b', '#x', '...', '~', ';v=1', 'a+b', '\\', ':', '数'),
  )
  const name = fc
    .array(part, { minLength: 1, maxLength: 4 })
    .map((parts) => parts.join('/'))
    .filter((text) => !text.includes('\0') && text !== '.' && text !== '..')
  const names = [...new Set(fc.sample(name, 60))]
  await leave(api, lease, Object.fromEntries(names.map((each) => [each, `bytes of ${each}`])))
  const origin = await api.app.listen({ host: '127.0.0.1', port: 0 })
  const { data } = await page('?limit=200')
  expect(data).toHaveLength(names.length)
  for (const { name: each, href } of data) {
    expect(await (await fetch(`${origin}${href}`)).text()).toBe(`bytes of ${each}`)
  }
})

test.each([
  '1/nothing',
  '2/a.txt',
  '1/..%2Fa.txt',
  '1/.%2Fa.txt',
  '1/%2e%2e%2f%2e%2e%2fetc%2fpasswd',
  'x/a.txt',
  '99999999999/a.txt',
  `1/${'x'.repeat(1_001)}`,
])('%s is no file of the run', async (path) => {
  const { api, runId, lease } = await setUp()
  await leave(api, lease, { 'a.txt': 'abc' })
  const response = await api.get(`/runs/${runId}/artifacts/${path}`)
  expect([response.statusCode, response.json().code]).toEqual([404, 'artifact-not-found'])
})

test.each(['gone', 'shorter than it was'])('a file whose bytes are %s is a 500 that says so', async (what) => {
  const { api, runId, lease } = await setUp()
  if (what !== 'gone') await api.blob.put('other', Buffer.from('ab'))
  await api.store.artifacts.record(lease, [{ name: 'a', bytes: 3, sha256: hashOf('abc'), ref: refOf('other') }])
  const response = await api.get(`/runs/${runId}/artifacts/1/a`)
  expect([response.statusCode, response.json().code]).toEqual([500, 'artifact-missing'])
  expect(response.headers['content-disposition']).toBeUndefined()
})

test.each([3, 500_000])('a file of %i bytes of which one has changed is not delivered as whole', async (bytes) => {
  const { api, runId, lease } = await setUp()
  const { ref, ...facts } = await api.blob.put('changed', Buffer.alloc(bytes, 'a'))
  await api.store.artifacts.record(lease, [{ name: 'a', ...facts, ref }])
  await api.blob.put('changed', Buffer.alloc(bytes, 'b'))
  const path = `/runs/${runId}/artifacts/1/a`
  const whole = await api.get(path).then(
    ({ statusCode, body }) => statusCode === 200 && body.length === bytes,
    () => false,
  )
  expect(whole).toBe(false)
})

test('files of another owner are absent, as their run is', async () => {
  const api = await createTestApi({ config: { access: TOKENS_ONLY } })
  const ana = await testToken(api.store, 'submitter', { owner: 'ana' })
  const bob = await testToken(api.store, 'submitter', { owner: 'bob' })
  const { run_id: runId } = await api.create({}, ana.headers)
  await leave(api, await api.claim(), { 'a.txt': 'abc' })
  for (const path of ['', '/1/a.txt']) {
    expect((await api.get(`/runs/${runId}/artifacts${path}`, ana.headers)).statusCode).toBe(200)
    const others = await api.get(`/runs/${runId}/artifacts${path}`, bob.headers)
    expect([others.statusCode, others.json().code]).toEqual([404, 'run-not-found'])
  }
})

test('only so much is read as the caller takes, and the file is closed when the caller is gone', async () => {
  const { api, runId, lease } = await setUp()
  const [piece, pieces] = [Buffer.alloc(65_536), 4_096]
  let read = 0
  const stream = new Readable({
    read() {
      this.push(read++ < pieces ? piece : null)
    },
  })
  api.blob.open = async () => ({ size: piece.length * pieces, stream })
  const [bytes, ref] = [piece.length * pieces, refOf('large')]
  await api.store.artifacts.record(lease, [{ name: 'large', bytes, sha256: hashOf(''), ref }])
  const origin = await api.app.listen({ host: '127.0.0.1', port: 0 })
  const response = await fetch(`${origin}/runs/${runId}/artifacts/1/large`)
  const reader = response.body!.getReader()
  await reader.read()
  await reader.cancel()
  await until(async () => stream.destroyed, { what: 'the file is closed' })
  expect(read).toBeLessThan(pieces / 2)
})
