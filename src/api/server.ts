/** Puts the HTTP service together. The caller decides where it listens (see `loopback.ts`) and when it closes. */

import { randomUUID } from 'node:crypto'
import { type FastifyInstance, fastify } from 'fastify'
import { Refusal } from '../run/errors.ts'
import { createAcceptUpload } from './accept-upload.ts'
import { createAccess } from './access.ts'
import type { ApiConfig, ApiDeps } from './api.ts'
import { readJsonBodies } from './body.ts'
import { createBulkLoop } from './bulk-loop.ts'
import { createBulkWork } from './bulk-work.ts'
import { createEvents } from './events.ts'
import { requestIdOf } from './header.ts'
import { createLeasePresence } from './lease-presence.ts'
import { nulInPath } from './nul.ts'
import { answerBrokenRequest, createErrorHandler, sendProblem } from './problem.ts'
import { methodsAt, requireRoles } from './registered-routes.ts'
import { approvalRoutes } from './routes/approval.ts'
import { artifactRoutes } from './routes/artifacts.ts'
import { attemptRoutes } from './routes/attempts.ts'
import { auditRoutes } from './routes/audit.ts'
import { batchRoutes } from './routes/batch.ts'
import { batchesRoutes } from './routes/batches.ts'
import { bulkRoutes } from './routes/bulk.ts'
import { cancelRoutes } from './routes/cancel.ts'
import { dashboardRoutes } from './routes/dashboard.ts'
import { deliveryRoutes } from './routes/deliveries.ts'
import { feedRoutes } from './routes/events.ts'
import { failureRoutes } from './routes/failures.ts'
import { fileRoutes } from './routes/files.ts'
import { healthRoutes } from './routes/health.ts'
import { leaseAttemptRoutes } from './routes/lease-attempts.ts'
import { leaseRoutes } from './routes/leases.ts'
import { logRoutes } from './routes/logs.ts'
import { metricsRoutes } from './routes/metrics.ts'
import { modelRoutes } from './routes/models.ts'
import { openApiRoutes } from './routes/openapi.ts'
import { placeRoutes } from './routes/places.ts'
import { queueRoutes } from './routes/queues.ts'
import { quotaRoutes } from './routes/quotas.ts'
import { recipientRoutes } from './routes/recipients.ts'
import { reservationRoutes } from './routes/reservations.ts'
import { resultRoutes } from './routes/result.ts'
import { retriesRoutes } from './routes/retries.ts'
import { retryRoutes } from './routes/retry.ts'
import { runEventRoutes } from './routes/run-events.ts'
import { runRoutes } from './routes/runs.ts'
import { sessionRoutes } from './routes/session.ts'
import { statsRoutes } from './routes/stats.ts'
import { tokenRoutes } from './routes/tokens.ts'
import { unsubscribeRoutes } from './routes/unsubscribe.ts'
import { uploadFileRoutes } from './routes/upload-files.ts'
import { uploadRoutes } from './routes/uploads.ts'
import { viewRoutes } from './routes/views.ts'
import { webhookRoutes } from './routes/webhooks.ts'
import { workerRoutes } from './routes/workers.ts'
import { endSlowBodies } from './slow-bodies.ts'
import { createStillAllowed } from './still-allowed.ts'
import { createSubmitRun } from './submit-run.ts'
import { endUnusedConnections } from './unused-connections.ts'

/** For a whole request to arrive, unless configured. */
const REQUEST_MS_MAX = 30_000
/** Longer than the longest wait a request may ask for. */
const IDLE_CONNECTION_MS_MAX = 120_000
/** Node looks for requests that are too slow only this often. */
const SLOW_CHECK_MS_MAX = 5_000

export function createApi(deps: ApiDeps): FastifyInstance {
  const app = createServer(deps)
  const access = createAccess(deps)
  let isClosing = false
  const isStopping = () => isClosing || deps.isStopping?.() === true

  app.addHook('preClose', async () => {
    isClosing = true
  })
  app.addHook('onClose', () => access.lastUsed.flush())
  app.addHook('onReady', () => access.start())
  app.decorateRequest('caller', null)
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('X-Request-Id', request.id)
    if (isClosing) done(new Refusal('shutting-down', 'The service is shutting down.'))
    else if (nulInPath(request.url)) done(new Refusal('not-found', 'No path holds a NUL.'))
    else access.admit(request, reply, done)
  })
  endUnusedConnections(app)
  endSlowBodies(app, slowness(deps.config))
  requireRoles(app)
  readJsonBodies(app, deps.config.log.redactWords)
  answerUnknownPaths(app)

  const submitRun = createSubmitRun(deps)
  const stillAllowed = createStillAllowed(access)
  const events = createEvents(app, deps, stillAllowed)
  runRoutes(app, { ...deps, submitRun, events })
  runEventRoutes(app, { ...deps, events })
  logRoutes(app, { ...deps, events })
  feedRoutes(app, { ...deps, events })
  attemptRoutes(app, deps)
  batchRoutes(app, { ...deps, submitRun })
  batchesRoutes(app, { ...deps, events, nextId: submitRun.nextRunId })
  retryRoutes(app, { ...deps, submitRun })
  const bulkLoop = createBulkLoop({ work: createBulkWork({ ...deps, submitRun }), log: deps.log })
  app.addHook('onListen', async () => bulkLoop.start())
  app.addHook('preClose', () => bulkLoop.stop())
  bulkRoutes(app, { ...deps, nextId: submitRun.nextRunId, wake: bulkLoop.wake })
  resultRoutes(app, deps)
  artifactRoutes(app, deps)
  fileRoutes(app, deps)
  const acceptUpload = createAcceptUpload({ ...deps, submitRun })
  uploadFileRoutes(app, { ...deps, acceptUpload })
  uploadRoutes(app, { ...deps, acceptUpload, nextId: submitRun.nextRunId, stillAllowed })
  placeRoutes(app, deps)
  retriesRoutes(app, deps)
  cancelRoutes(app, deps)
  approvalRoutes(app, deps)
  tokenRoutes(app, { ...deps, access })
  sessionRoutes(app, { ...deps, access })
  auditRoutes(app, deps)
  modelRoutes(app, deps)
  queueRoutes(app, deps)
  quotaRoutes(app, deps)
  reservationRoutes(app, { ...deps, known: submitRun.known, nextId: submitRun.nextRunId })
  deliveryRoutes(app, deps)
  workerRoutes(app, deps)
  const presence = createLeasePresence(deps)
  leaseRoutes(app, { ...deps, known: submitRun.known, presence, stillAllowed })
  leaseAttemptRoutes(app, { ...deps, known: submitRun.known, presence })
  statsRoutes(app, deps)
  failureRoutes(app, deps)
  viewRoutes(app, deps)
  webhookRoutes(app, { ...deps, nextId: submitRun.nextRunId })
  recipientRoutes(app, { ...deps, nextId: submitRun.nextRunId })
  unsubscribeRoutes(app, deps)
  healthRoutes(app, { ...deps, isStopping })
  metricsRoutes(app, deps)
  openApiRoutes(app)
  dashboardRoutes(app, deps)
  return app
}

function createServer({ config, log }: ApiDeps): FastifyInstance {
  const onError = createErrorHandler(log)
  const { bodyLimitBytes, requestTimeoutMs = REQUEST_MS_MAX } = config.http
  const app = fastify({
    // We log what matters ourselves; a logger per request would cost more than the rest of a small request.
    logger: false,
    bodyLimit: bodyLimitBytes,
    // Uploads may take longer than any limit; see slow-bodies.ts for all other requests.
    requestTimeout: 0,
    connectionTimeout: IDLE_CONNECTION_MS_MAX,
    http: {
      headersTimeout: requestTimeoutMs,
      // The guards refuse such a request, and answer as every other error is answered.
      requireHostHeader: false,
      connectionsCheckingInterval: slowness(config).checkMs,
    },
    // A name may have 128 characters, each of several bytes, three signs a byte.
    routerOptions: { maxParamLength: 2_000 },
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

function slowness({ http: { requestTimeoutMs: limitMs = REQUEST_MS_MAX } }: ApiConfig): {
  limitMs: number
  checkMs: number
} {
  return { limitMs, checkMs: Math.min(SLOW_CHECK_MS_MAX, limitMs / 2) }
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
