/** A TCP port on loopback that nobody listens on at this moment; the wanted one if it is free. */

import { createServer } from 'node:net'

export async function freePort(wanted?: number): Promise<number> {
  if (wanted !== undefined) {
    const port = await tryPort(wanted).catch(() => null)
    if (port !== null) return port
  }
  return tryPort(0)
}

function tryPort(wanted: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(wanted, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address ? address.port : wanted))
    })
  })
}
