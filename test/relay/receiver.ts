/**
 * A receiver of webhooks as a process of its own: it verifies each message, refuses a part of them, half by an answer and half by hanging up,
 * and counts what it took by `webhook-id`. `GET /report` answers the counts. Arguments: the part that fails, a seed, the secret.
 */

import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { Webhook } from 'standardwebhooks'
import { seededRandom } from '../../src/model/model.ts'
import { createLog } from '../../src/telemetry/log.ts'

export type Report = {
  /** By webhook-id, how often it was taken. */
  taken: Record<string, number>
  refused: number
  /** Messages whose signature is wrong, or whose body is not that of the same id before. */
  wrong: string[]
}

const [fail = '0', seed = '1', secret = ''] = process.argv.slice(2)
const random = seededRandom(Number(seed), 0)
const webhook = new Webhook(secret)
const bodies = new Map<string, string>()
const report: Report = { taken: {}, refused: 0, wrong: [] }

async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method === 'GET') return void response.end(JSON.stringify(report))
  const body = await text(request)
  const id = String(request.headers['webhook-id'])
  try {
    webhook.verify(body, request.headers as Record<string, string>)
    if ((bodies.get(id) ?? body) !== body) throw new Error('another body under the same id')
  } catch (error) {
    report.wrong.push(`${id}: ${(error as Error).message}`)
  }
  bodies.set(id, body)
  const chance = random()
  if (chance < Number(fail)) {
    report.refused += 1
    if (chance < Number(fail) / 2) return void request.socket.destroy()
    return void response.writeHead(500).end('not today')
  }
  report.taken[id] = (report.taken[id] ?? 0) + 1
  response.writeHead(204).end()
}

// Whoever was killed in the middle has nothing to be told.
const server = createServer((request, response) => void receive(request, response).catch(() => response.destroy()))
server.listen(0, '127.0.0.1')
await once(server, 'listening')
const { port } = server.address() as AddressInfo
createLog({ level: 'info', format: 'json' }).info({ url: `http://127.0.0.1:${port}` }, 'receiving')
