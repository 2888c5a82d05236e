/** Resumable uploads over real connections that break, go silent or are cut, and a client that goes on by itself. */

import { randomBytes } from 'node:crypto'
import { request as httpRequest } from 'node:http'
import { connect, createServer, type Socket } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { finishedUpload, namesIn, openedForUploads as opened, sha256 } from '../../../test/support/resumable-uploads.ts'
import { TUS_BYTES, uploadByTus } from '../../../test/support/tus.ts'
import { until } from '../../../test/support/until.ts'

describe('over real connections', () => {
  test('what came before a request broke off is kept', async () => {
    const { api, tus } = await opened()
    const url = await api.app.listen({ host: '127.0.0.1', port: 0 })
    const path = await tus.begun(1_000_000)
    const headers = { ...TUS_BYTES, 'upload-offset': '0', 'content-length': '1000000' }
    const sending = httpRequest(url + path, { method: 'PATCH', headers })
    sending.on('error', () => {})
    sending.write(Buffer.alloc(300_000, 1))
    await until(() => sending.socket?.bytesWritten === 300_000 + headerBytes(sending), { what: 'it is on its way' })
    sending.socket!.end()
    await until(async () => (await tus.offset(path)) === 300_000, { what: 'what came is kept' })
    await tus.send(path, 300_000, Buffer.alloc(700_000, 1))
    expect((await finishedUpload(api, path)).file_id).toBe(sha256(Buffer.alloc(1_000_000, 1)))
    expect(await namesIn(api)).toHaveLength(1)
  })

  test('a silent sender is refused, and what it sent is kept', async () => {
    const { api, tus } = await opened({ config: { http: { bodyLimitBytes: 1024, uploadIdleMs: 50 } } })
    const url = await api.app.listen({ host: '127.0.0.1', port: 0 })
    const path = await tus.begun(100)
    const headers = { ...TUS_BYTES, 'upload-offset': '0', 'content-length': '100' }
    const sending = httpRequest(url + path, { method: 'PATCH', headers })
    const answer = new Promise<number>((resolve) => sending.on('response', ({ statusCode }) => resolve(statusCode!)))
    sending.on('error', () => {})
    sending.write('x'.repeat(40))
    expect(await answer).toBe(408)
    sending.destroy()
    expect(await tus.offset(path)).toBe(40)
  })

  test('a client goes on by itself after its connection was cut', async () => {
    const { api } = await opened()
    const url = await api.app.listen({ host: '127.0.0.1', port: 0 })
    const relay = await cuttingRelay(Number(new URL(url).port), [2_000_000, 3_000_000])
    const bytes = randomBytes(8_000_000)
    const { done } = uploadByTus(bytes, {
      endpoint: `http://127.0.0.1:${relay.port}/uploads`,
      metadata: { filename: 'large.bin' },
      retryDelays: Array(20).fill(10),
    })
    const path = new URL(await done).pathname
    expect(relay.cuts()).toBe(2)
    expect(await finishedUpload(api, path)).toMatchObject({ file_id: sha256(bytes), size: 8_000_000 })
    expect(await namesIn(api)).toHaveLength(1)
  })

  test('a client sends in chunks, with the first of them as it begins, and can give an upload up', async () => {
    const { api, tus } = await opened()
    const url = await api.app.listen({ host: '127.0.0.1', port: 0 })
    const bytes = randomBytes(100_000)
    const options = { endpoint: `${url}/uploads`, chunkSize: 30_000, uploadDataDuringCreation: true }
    const { upload, done } = uploadByTus(bytes, options)
    const path = new URL(await done).pathname
    expect((await finishedUpload(api, path)).file_id).toBe(sha256(bytes))
    await upload.abort(true)
    expect((await tus.head(path)).statusCode).toBe(404)
    expect((await api.get(`/files/${sha256(bytes)}`)).statusCode).toBe(200)
  })

  test('a shutdown keeps what has come, and does not wait for the rest', async () => {
    const { api, tus } = await opened()
    const url = await api.app.listen({ host: '127.0.0.1', port: 0 })
    const path = await tus.begun(1_000)
    const headers = { ...TUS_BYTES, 'upload-offset': '0', 'content-length': '1000' }
    const sending = httpRequest(url + path, { method: 'PATCH', headers })
    sending.on('error', () => {})
    sending.write('x'.repeat(400))
    await until(async () => (await namesIn(api)).length > 0 || sending.socket?.bytesWritten, { what: 'it is sent' })
    // One more request over a connection shows that the server has read what came before it.
    await fetch(`${url}/livez`)
    await api.app.close()
    const [row] = await api.db.query<{ received: number }>('SELECT received FROM resumable_uploads')
    expect(row!.received).toBe(400)
  })
})

function headerBytes(sending: { socket: Socket | null }): number {
  return (sending as unknown as { _header: string })._header.length
}

/** Forwards to a port, and cuts each of the first connections after so many bytes of the client's. */
async function cuttingRelay(port: number, limits: number[]): Promise<{ port: number; cuts: () => number }> {
  const open = new Set<Socket>()
  let cuts = 0
  const relay = createServer((client) => {
    const server = connect(port, '127.0.0.1')
    let forwarded = 0
    for (const socket of [client, server]) {
      open.add(socket)
      socket
        .on('error', () => {})
        .on('close', () => {
          open.delete(socket)
          client.destroy()
          server.destroy()
        })
    }
    client.on('data', (piece) => {
      forwarded += piece.length
      if (limits.length > 0 && forwarded > limits[0]!) {
        limits.shift()
        cuts += 1
        client.resetAndDestroy()
        server.resetAndDestroy()
      } else if (!server.write(piece)) {
        client.pause()
        server.once('drain', () => client.resume())
      }
    })
    server.pipe(client)
  })
  await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    for (const socket of open) socket.destroy()
    relay.close()
  })
  return { port: (relay.address() as { port: number }).port, cuts: () => cuts }
}
