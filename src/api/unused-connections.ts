/**
 * Browsers and HTTP clients open connections ahead of need. Node counts one that has sent nothing yet as busy, and a
 * server that closes waits for it; so they are ended here.
 */

import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'

export function endUnusedConnections(app: FastifyInstance): void {
  const open = new Set<Socket>()
  app.server.on('connection', (socket: Socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  })
  app.addHook('preClose', async () => {
    for (const socket of open) if (socket.bytesRead === 0) socket.destroy()
  })
}
