/** Uploads that break off, stop, take long, or are refused while they are still coming. Real connections. */

import { connect } from 'node:net'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createTestApi, openTestApi, type TestApi } from '../../../test/support/api.ts'
import { blobs, FILE_MODELS, forgetFiles, replacePut, stored } from '../../../test/support/sent-files.ts'
import { until } from '../../../test/support/until.ts'

let limited: TestApi
beforeAll(async () => {
  const http = { bodyLimitBytes: 1_000, fileBytesMax: 30, uploadIdleMs: 200 }
  limited = await openTestApi({ models: FILE_MODELS, config: { http } })
})
afterAll(() => limited.close())
beforeEach(() => forgetFiles(limited))

async function bytesReceived(): Promise<number> {
  return Number(/^upload_bytes_total (\d+)/m.exec((await limited.get('/metrics')).body)?.[1])
}

/** Listens once. */
async function origin({ app }: TestApi): Promise<string> {
  const address = app.server.address()
  return address && typeof address === 'object'
    ? `http://127.0.0.1:${address.port}`
    : app.listen({ host: '127.0.0.1', port: 0 })
}

/** A request by hand, of which no more comes than is written. */
async function begin(api: TestApi, text: string) {
  const port = Number(new URL(await origin(api)).port)
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  const received: Buffer[] = []
  socket.on('data', (chunk: Buffer) => received.push(chunk))
  socket.write(text)
  return { socket, port, answer: () => Buffer.concat(received).toString() }
}

const HEAD = 'POST /files HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n'
const HALF_FORM = `${HEAD}Content-Type: multipart/form-data; boundary=XX\r\n\r\n--XX\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nhalf`

test.each([
  ['a body', `${HEAD.replace('100', '25')}\r\nhalf`],
  ['a form', HALF_FORM],
])('%s that breaks off leaves nothing', async (_what, text) => {
  let broken: unknown
  replacePut(limited, (put) => async (name, bytes) => {
    try {
      return await put(name, bytes)
    } catch (error) {
      broken = error
      throw error
    }
  })
  const before = await bytesReceived()
  const { socket } = await begin(limited, text)
  await until(async () => (await bytesReceived()) === before + 4, { what: 'half has come' })
  socket.destroy()
  await until(() => broken, { what: 'the upload is broken off' })
  expect([await stored(limited), await blobs(limited)]).toEqual([0, []])
})

test.each([
  ['a body', `${HEAD.replace('100', '25')}\r\nhalf`],
  ['a form', HALF_FORM],
])('%s that stops coming is answered 408 and leaves nothing', async (_what, text) => {
  const before = [await stored(limited), await blobs(limited)]
  const { answer, socket } = await begin(limited, text)
  await until(() => answer().includes('"request-timeout"'), { what: 'an answer' })
  socket.destroy()
  expect(answer()).toMatch(/^HTTP\/1.1 408 [\s\S]*Connection: close/i)
  expect([await stored(limited), await blobs(limited)]).toEqual(before)
})

test('an upload may take longer than any other request', async () => {
  const api = await createTestApi({
    config: { http: { bodyLimitBytes: 1_000, requestTimeoutMs: 60, uploadIdleMs: 5_000 } },
  })
  const { socket, port, answer } = await begin(api, `${HEAD.replace('100', '30')}Connection: close\r\n\r\n`)
  const other = connect(port, '127.0.0.1')
  other.on('error', () => {})
  other.write('POST /runs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{')
  let refused = ''
  other.on('data', (chunk) => (refused += chunk))
  await until(() => refused.startsWith('HTTP/1.1 408'), { what: 'the other request is given up' })
  socket.write('a'.repeat(30))
  await until(() => answer().startsWith('HTTP/1.1 201'), { what: 'the upload is accepted' })
})

test('a client that is still sending reads why it is refused', async () => {
  const url = await origin(limited)
  async function* endless() {
    for (let piece = 0; piece < 10_000; piece += 1) yield Buffer.alloc(65_536)
  }
  const response = await fetch(`${url}/files`, { method: 'POST', body: endless() as never, duplex: 'half' } as never)
  expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([413, 'file-too-large'])
})
