/**
 * The body of an upload as it comes: in pieces, no faster than they are taken, for as long as it takes. Who sends nothing for too long
 * is refused; the time in which the pieces that came are being stored does not count.
 */

import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { Refusal } from '../run/errors.ts'
import type { Log } from '../telemetry/log.ts'
import { piecePassed } from './free-pieces.ts'
import { createErrorHandler, sendProblem } from './problem.ts'

export const UPLOAD_IDLE_MS = 60_000
/** For a client to take the answer to an upload that it is still sending. */
const LINGER_MS = 2_000

/** Routes in here read their bodies themselves, whatever their content type; their rule is `upload`. */
export function streamedBodies(app: FastifyInstance, log: Log, routes: (scope: FastifyInstance) => void): void {
  app.register((scope, _options, done) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', (_request, _payload, parsed) => parsed(null))
    scope.setErrorHandler(createErrorHandler(log, refuseAndClose))
    routes(scope)
    done()
  })
}

/** Throws a Refusal when the client is silent, and an UploadBroken when it is gone. */
export async function* piecesOf(request: IncomingMessage, idleMs = UPLOAD_IDLE_MS): AsyncGenerator<Buffer> {
  // The time limit of an idle connection would also count while bytes are being stored. Node sets it again for the next request.
  request.socket.setTimeout?.(0)
  const silence = new Refusal('request-timeout', `Nothing of the upload has come for ${idleMs / 1000} seconds.`)
  const pieces = request.iterator({ destroyOnReturn: false })[Symbol.asyncIterator]()
  let timer: NodeJS.Timeout | undefined
  try {
    for (;;) {
      const silent = new Promise<never>((_resolve, reject) => {
        timer = setTimeout(() => reject(silence), idleMs)
      })
      const next = await Promise.race([pieces.next(), silent])
      clearTimeout(timer)
      if (next.done) break
      yield next.value as Buffer
      piecePassed(next.value.length)
    }
  } catch (error) {
    throw error instanceof Refusal ? error : new UploadBroken({ cause: error })
  } finally {
    clearTimeout(timer)
    // Not waited for: while a piece is awaited this does not end.
    pieces.return?.().catch(() => {})
  }
  // A body that is cut off ends like one that is whole when the connection ends in order.
  if (request.complete === false) throw new UploadBroken()
}

/** The client is gone, so nobody hears an answer. */
export class UploadBroken extends Error {
  readonly code = 'upload-broken'
  constructor(options?: ErrorOptions) {
    super('the client broke the upload off', options)
    this.name = 'UploadBroken'
  }
}

/**
 * The answer to an upload of which more may come. Closing at once would reset the connection, and the client, still sending, might never
 * read the answer: so what comes is thrown away for a moment first. By Content-Length the client knows the answer's end before that.
 */
function refuseAndClose(reply: FastifyReply, refusal: Refusal): void {
  const { raw } = reply.request
  if (raw.complete !== false || raw.destroyed) {
    sendProblem(reply, refusal)
    return
  }
  reply.header('Connection', 'close')
  sendProblem(reply, refusal, (text) => {
    reply.header('Content-Length', text.length)
    return Readable.from(lingering(text, raw), { objectMode: false })
  })
}

async function* lingering(text: Buffer, request: IncomingMessage): AsyncGenerator<Buffer> {
  yield text
  const gone = new Promise<void>((resolve) => {
    for (const event of ['end', 'close', 'error']) request.once(event, () => resolve())
    setTimeout(resolve, LINGER_MS)
  })
  request.resume()
  await gone
}
