/** Saved views: make, list, read, replace and delete. Others' views that are not shared are answered like views that do not exist. */

import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { PAGE_LIMIT_DEFAULT, PageQuery } from '../../contract/page.ts'
import type { RunFilterObject } from '../../contract/run-filter.ts'
import { ViewBody, ViewListAnswer, ViewObject } from '../../contract/views.ts'
import { Refusal } from '../../run/errors.ts'
import type { NewView, View } from '../../store/ports/views.ts'
import type { ApiDeps } from '../api.ts'
import { checkedBody } from '../body.ts'
import { principalOf } from '../principal.ts'
import { checkedQuery } from '../query.ts'
import type { RouteDoc } from '../route-doc.ts'
import { isRunId } from '../run-id.ts'
import { sendJson } from '../send-json.ts'

const params = z.strictObject({ id: z.guid().describe('The id of the view.') })
const ONE = { description: 'The view.', schema: ViewObject }

const CREATE_DOC: RouteDoc = {
  summary: 'Save a view',
  description: 'The filter has the names of the list of runs. Each owner has a name once.',
  tag: 'views',
  body: ViewBody,
  answers: { 201: { ...ONE, headers: { Location: 'The path of the view.' } } },
  refusals: ['view-exists', 'view-limit'],
}
const LIST_DOC: RouteDoc = {
  summary: 'List views',
  description: 'One’s own and the shared ones, by name.',
  tag: 'views',
  query: PageQuery,
  answers: { 200: { description: 'A page of views.', schema: ViewListAnswer } },
  refusals: [],
}
const READ_DOC: RouteDoc = {
  summary: 'Read a view',
  tag: 'views',
  params,
  answers: { 200: ONE },
  refusals: ['view-not-found'],
}
const REPLACE_DOC: RouteDoc = {
  summary: 'Replace a view',
  description: 'Only its owner may, and operators. What is not given is set back to its default.',
  tag: 'views',
  params,
  body: ViewBody,
  answers: { 200: ONE },
  refusals: ['view-not-found', 'view-exists'],
}
const DELETE_DOC: RouteDoc = {
  summary: 'Delete a view',
  description: 'Only its owner may, and operators.',
  tag: 'views',
  params,
  answers: { 204: { description: 'The view is gone.' } },
  refusals: ['view-not-found'],
}

export function viewRoutes(app: FastifyInstance, { store: { views } }: ApiDeps): void {
  app.post('/views', { config: { role: 'viewer', body: 'required', doc: CREATE_DOC } }, async (request, reply) => {
    const wanted = { owner: principalOf(request).owner, ...newView(checkedBody(request, ViewBody)) }
    const view = await views.create(wanted)
    if (view === 'exists') throw nameTaken(wanted.name)
    if (view === 'too-many') throw new Refusal('view-limit', `${JSON.stringify(wanted.owner)} has too many views.`)
    const shown = viewObject(view)
    return sendJson(reply.code(201).header('Location', shown.links.self), shown)
  })

  app.get('/views', { config: { role: 'viewer', doc: LIST_DOC } }, async (request, reply) => {
    const { limit = PAGE_LIMIT_DEFAULT, cursor = null } = checkedQuery(request, PageQuery)
    const page = await views.list(principalOf(request), { limit, cursor })
    return sendJson(reply, { data: page.views.map(viewObject), next_cursor: page.nextCursor })
  })

  app.get('/views/:id', { config: { role: 'viewer', doc: READ_DOC } }, async (request, reply) => {
    const id = viewIdOf(request)
    const view = await views.read(id, principalOf(request))
    if (!view) throw notFound(id)
    return sendJson(reply, viewObject(view))
  })

  app.put('/views/:id', { config: { role: 'viewer', body: 'required', doc: REPLACE_DOC } }, async (request, reply) => {
    const id = viewIdOf(request)
    const wanted = newView(checkedBody(request, ViewBody))
    const view = await views.replace(id, wanted, principalOf(request))
    if (view === 'exists') throw nameTaken(wanted.name)
    if (!view) throw notFound(id)
    return sendJson(reply, viewObject(view))
  })

  app.delete('/views/:id', { config: { role: 'viewer', doc: DELETE_DOC } }, async (request, reply) => {
    const id = viewIdOf(request)
    if (!(await views.remove(id, principalOf(request)))) throw notFound(id)
    return reply.code(204).send()
  })
}

function viewIdOf(request: FastifyRequest): string {
  const { id } = request.params as { id: string }
  if (isRunId(id)) return id.toLowerCase()
  throw notFound(id)
}

/** Only what the filter asks for is kept. */
function newView({ name, filter, order, shared }: ViewBody): Omit<NewView, 'owner'> {
  const asked = Object.entries(filter).filter(([, value]) => value !== null && value !== undefined)
  return { name, filter: Object.fromEntries(asked), order: order ?? 'created_at_desc', shared: shared ?? false }
}

function viewObject(view: View): ViewObject {
  return {
    view_id: view.id,
    owner: view.owner,
    name: view.name,
    filter: view.filter as RunFilterObject,
    order: view.order,
    shared: view.shared,
    created_at: view.createdAt.toISOString(),
    updated_at: view.updatedAt.toISOString(),
    links: { self: `/views/${view.id}` },
  }
}

function notFound(id: string): Refusal {
  return new Refusal('view-not-found', `There is no view ${JSON.stringify(id)} of yours.`)
}

function nameTaken(name: string): Refusal {
  return new Refusal('view-exists', `There is a view ${JSON.stringify(name)} already.`)
}
