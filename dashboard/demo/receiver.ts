/** Where the webhooks of the demo lead: `/ok` takes everything, anything else answers 500 as a broken receiver does. */

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export type DemoReceiver = { url: string; close(): Promise<void> }

export async function startReceiver(port = 0): Promise<DemoReceiver> {
  const server = createServer((request, response) => {
    request.resume()
    request.on('end', () => {
      const isWell = request.url?.startsWith('/ok')
      response.writeHead(isWell ? 204 : 500, { 'content-type': 'text/plain' })
      response.end(isWell ? undefined : 'upstream connect error: connection refused')
    })
  })
  await new Promise<void>((listening, failed) => {
    server.once('error', failed)
    server.listen(port, '127.0.0.1', listening)
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((closed) => {
        server.close(() => closed())
        server.closeAllConnections()
      }),
  }
}
