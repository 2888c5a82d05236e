/** The places that the result of a run names. Runs are found by them with `near` and `bbox` of `GET /runs`. */

import type { FastifyInstance } from 'fastify'
import { PlaceList } from '../../contract/place.ts'
import type { ApiDeps } from '../api.ts'
import type { RouteDoc } from '../route-doc.ts'
import { RunParams } from '../run-path.ts'
import { sendJson } from '../send-json.ts'
import { visibleRunId } from '../visible-run.ts'

const DOC: RouteDoc = {
  summary: 'List the places of a run',
  description:
    'Those that its model declares and its result names, in the order of the result. None before the run has succeeded.',
  tag: 'runs',
  params: RunParams,
  answers: { 200: { description: 'The places.', schema: PlaceList } },
  refusals: ['run-not-found'],
}

export function placeRoutes(app: FastifyInstance, { store }: ApiDeps): void {
  app.get('/runs/:id/places', { config: { role: 'viewer', doc: DOC } }, async (request, reply) => {
    const runId = await visibleRunId(request, store)
    const places = await store.search.places(runId)
    const data = places.map(({ latitude, longitude, label, fileId }) => ({
      latitude,
      longitude,
      label,
      file_id: fileId,
    }))
    const answer: PlaceList = { data, next_cursor: null }
    return sendJson(reply, answer)
  })
}
