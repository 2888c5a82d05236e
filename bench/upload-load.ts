/** Uploads as a program without a client sends them: the bytes as the body of `POST /files`. */

import { createReadStream } from 'node:fs'
import { Agent, request } from 'node:http'
import { basename } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

const PIECE_BYTES = 1024 * 1024
const agent = new Agent({ keepAlive: true })

type Sent = { url: string; name: string; bytes: number; body: Readable }

export async function sendFile(url: string, path: string, bytes: number): Promise<void> {
  await send({ url, name: basename(path), bytes, body: createReadStream(path, { highWaterMark: PIECE_BYTES }) })
}

/** Bytes that are made on the way, so that they need no disk here; `seed` makes them different from others. */
export async function sendMade(url: string, bytes: number, seed: number): Promise<void> {
  const piece = Buffer.alloc(PIECE_BYTES, `${seed}\n`)
  function* pieces(): Generator<Buffer, void, void> {
    for (let left = bytes; left > 0; left -= piece.length) yield piece.subarray(0, Math.min(left, piece.length))
  }
  await send({ url, name: `made-${seed}.bin`, bytes, body: Readable.from(pieces(), { objectMode: false }) })
}

/** Many small ones over so many connections. */
export async function sendMany(url: string, contents: { name: string; data: Buffer }[], connections: number) {
  const left = contents.values()
  const sender = async () => {
    for (const { name, data } of left) await send({ url, name, bytes: data.length, body: Readable.from([data]) })
  }
  await Promise.all(Array.from({ length: connections }, sender))
}

async function send({ url, name, bytes, body }: Sent): Promise<void> {
  const answered = Promise.withResolvers<void>()
  const outgoing = request(`${url}/files?name=${encodeURIComponent(name)}`, {
    method: 'POST',
    agent,
    headers: { 'content-type': 'application/octet-stream', 'content-length': bytes },
  })
  outgoing.on('error', answered.reject)
  outgoing.on('response', (response) => {
    const text: Buffer[] = []
    response.on('data', (piece: Buffer) => text.push(piece))
    response.on('end', () => {
      if (response.statusCode === 200 || response.statusCode === 201) answered.resolve()
      else
        answered.reject(new Error(`the upload of ${name} was answered ${response.statusCode}: ${Buffer.concat(text)}`))
    })
  })
  // A refusal may come before all is sent; then it is what counts.
  await Promise.all([answered.promise, pipeline(body, outgoing).catch(() => {})])
}
