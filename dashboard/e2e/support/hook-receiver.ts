/** A program that receives webhooks on loopback, remembers what it got, and answers as it is told. */

import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'

export type ReceivedHook = { body: Buffer; headers: IncomingHttpHeaders }

export type HookReceiver = {
  url: string
  received: ReceivedHook[]
  answerWith(status: number): void
  close(): Promise<void>
}

export async function startHookReceiver(): Promise<HookReceiver> {
  const received: ReceivedHook[] = []
  let status = 204
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    received.push({ body: Buffer.concat(chunks), headers: request.headers })
    response.writeHead(status, { 'content-type': 'text/plain' }).end(status === 204 ? undefined : 'no room left')
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received,
    answerWith(next) {
      status = next
    },
    close: () =>
      new Promise((closed) => {
        server.close(() => closed())
        server.closeAllConnections()
      }),
  }
}
