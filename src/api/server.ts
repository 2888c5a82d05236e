/** Puts the HTTP service together. The caller decides where it listens (see `loopback.ts`) and when it closes. */

import { randomUUID } from 'node:crypto'
import { type FastifyInstance, fastify } from 'fastify'
import { Refusal } from '../run/errors.ts'
import type { ApiDeps } from './api.ts'
import { readJsonBodies } from './body.ts'
import { guard } from './guards.ts'
import { requestIdOf } from './header.ts'
import { answerBrokenRequest, createErrorHandler, sendProblem } from './problem.ts'
import { methodsAt, requireRoles } from './registered-routes.ts'
import { cancelRoutes } from './routes/cancel.ts'
import { healthRoutes } from './routes/health.ts'
import { metricsRoutes } from './routes/metrics.ts'
import { resultRoutes } from './routes/result.ts'
import { runRoutes } from './routes/runs.ts'

/** For a whole request to arrive, unless configured. */
const REQUEST_MS_MAX = 30_000
/** Longer than the longest wait a request may ask for. */
const IDLE_CONNECTION_MS_MAX = 120_000
/** Node looks for requests that are too slow only this often. */
const SLOW_CHECK_MS_MAX = 5_000

export function createApi(deps: ApiDeps): FastifyInstance {
  const app = createServer(deps)
  let isClosing = false
  const isStopping = () => isClosing || deps.isStopping?.() === true

  app.addHook('preClose', async () => {
    isClosing = true
  })
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('X-Request-Id', request.id)
    if (isClosing) done(new Refusal('shutting-down', 'The service is shutting down.'))
    else guard(request, reply, done)
  })
  requireRoles(app)
  readJsonBodies(app)
  answerUnknownPaths(app)

  runRoutes(app, deps)
  resultRoutes(app, deps)
  cancelRoutes(app, deps)
  healthRoutes(app, { ...deps, isStopping })
  metricsRoutes(app, deps)
  return app
}

function createServer({ config, log }: ApiDeps): FastifyInstance {
  const onError = createErrorHandler(log)
  const { bodyLimitBytes, requestTimeoutMs = REQUEST_MS_MAX } = config.http
  const app = fastify({
    // We log what matters ourselves; a logger per request would cost more than the rest of a small request.
    logger: false,
    bodyLimit: bodyLimitBytes,
    requestTimeout: requestTimeoutMs,
    connectionTimeout: IDLE_CONNECTION_MS_MAX,
    http: {
      headersTimeout: requestTimeoutMs,
      // The guards refuse such a request, and answer as every other error is answered.
      requireHostHeader: false,
      connectionsCheckingInterval: Math.min(SLOW_CHECK_MS_MAX, requestTimeoutMs / 2),
    },
    genReqId: (request) => requestIdOf(request) ?? randomUUID(),
    // While closing, requests on open connections reach our own hook, which answers as every other error is answered.
    return503OnClosing: false,
    frameworkErrors: onError,
    clientErrorHandler: answerBrokenRequest,
  })
  app.setErrorHandler(onError)
  // An expectation we do not know is ignored; Node would answer it in its own words.
  app.server.on('checkExpectation', (request, response) => app.routing(request, response))
  return app
}

function answerUnknownPaths(app: FastifyInstance): void {
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?', 1)[0]!
    const methods = methodsAt(app.registeredRoutes, path)
    if (methods.length === 0) {
      return sendProblem(reply, new Refusal('not-found', `There is nothing at ${JSON.stringify(path.slice(0, 200))}.`))
    }
    reply.header('Allow', methods.join(', '))
    const detail = `${request.method} is not allowed here; allowed are ${methods.join(', ')}.`
    return sendProblem(reply, new Refusal('method-not-allowed', detail))
  })
}
