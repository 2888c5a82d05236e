/**
 * Requests whose body takes too long to arrive are answered 408 and ended. Node can do this for all requests or for none; uploads may go
 * on for hours, so it is done here for the others, from the outside: each connection remembers its latest request, and now and then all
 * connections are looked at. A request costs one assignment, and no timer.
 */

import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { answerBrokenRequest } from './problem.ts'

const LATEST = Symbol('the latest request of a connection')

type WatchedSocket = Socket & { [LATEST]?: IncomingMessage | null }

export function endSlowBodies(app: FastifyInstance, { limitMs, checkMs }: { limitMs: number; checkMs: number }): void {
  const open = new Set<WatchedSocket>()
  let late = new Map<IncomingMessage, number>()

  app.server.on('connection', (socket: Socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  })
  app.addHook('onRequest', (request, _reply, done) => {
    const { raw } = request
    ;(raw.socket as WatchedSocket)[LATEST] = request.routeOptions.config.body === 'upload' ? null : raw
    done()
  })

  /** A request counts from the first time it is seen here incomplete, so it may have that much longer. */
  function check(): void {
    const still = new Map<IncomingMessage, number>()
    const now = performance.now()
    for (const socket of open) {
      const request = socket[LATEST]
      if (!request || request.complete) continue
      const since = late.get(request) ?? now
      if (now - since < limitMs) still.set(request, since)
      else
        answerBrokenRequest(Object.assign(new Error('request timeout'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }), socket)
    }
    late = still
  }

  const timer = setInterval(check, checkMs).unref()
  app.addHook('onClose', async () => clearInterval(timer))
}
