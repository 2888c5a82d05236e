/** What this process counts, as Prometheus reads it, and how many runs wait in each queue. */

import type { FastifyInstance } from 'fastify'
import type { ApiDeps } from '../api.ts'
import type { RouteDoc } from '../route-doc.ts'
import { within } from '../within.ts'

const DEPTH_MS_MAX = 2_000

const DOC: RouteDoc = {
  summary: 'Read the metrics of this process',
  tag: 'service',
  answers: { 200: { description: 'Metrics as Prometheus reads them.', type: 'text/plain' } },
  refusals: [],
}

export function metricsRoutes(app: FastifyInstance, { store, metrics, log }: ApiDeps): void {
  metrics.onQueueDepth(async () => {
    try {
      const depths = await within(DEPTH_MS_MAX, store.queueDepths())
      return depths.map(({ queue, pending }) => ({ queue, depth: pending }))
    } catch (error) {
      // The scrape goes on without depths, so this line is the only sign of it.
      log.warn({ err: error }, 'queue depths could not be read')
      throw error
    }
  })

  metrics.onReservationsActive(() => within(DEPTH_MS_MAX, store.countReservations()))
  metrics.onDeliveryBacklog(() => within(DEPTH_MS_MAX, store.outbox.backlog()))
  metrics.onRunsOverdue(() => within(DEPTH_MS_MAX, store.overdue.count()))

  app.get('/metrics', { config: { role: 'public', doc: DOC } }, async (_request, reply) =>
    reply.header('Content-Type', metrics.contentType).send(await metrics.text()),
  )
}
