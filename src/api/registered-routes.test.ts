import { fastify } from 'fastify'
import { expect, test } from 'vitest'
import type { RegisteredRoute } from './api.ts'
import { methodsAt, requireRoles } from './registered-routes.ts'
import type { RouteDoc } from './route-doc.ts'

const DOC: RouteDoc = { summary: 'Look', tag: 'runs', answers: {}, refusals: [] }

test('a route that does not say its role cannot be registered', () => {
  const app = fastify()
  requireRoles(app)
  expect(() => app.get('/open', async () => '')).toThrow('the route GET /open does not say which role it needs')
})

test('a route that does not say what it does cannot be registered', () => {
  const app = fastify()
  requireRoles(app)
  const route = { config: { role: 'viewer' } } as const
  expect(() => app.get('/silent', route, async () => '')).toThrow('the route GET /silent does not say what it does')
})

test('a route in a plugin does not escape the rule', async () => {
  const app = fastify()
  requireRoles(app)
  app.register(async (inner) => {
    inner.get('/inner', async () => '')
  })
  await expect(app.ready().then(() => 'booted')).rejects.toThrow('GET /inner')
})

test('registered routes are listed with their roles', () => {
  const app = fastify()
  requireRoles(app)
  app.get('/a/:id', { config: { role: 'viewer', doc: DOC } }, async () => '')
  expect(app.registeredRoutes).toEqual([
    { method: 'GET', url: '/a/:id', role: 'viewer', body: null, doc: DOC },
    { method: 'HEAD', url: '/a/:id', role: 'viewer', body: null, doc: DOC },
  ])
})

test('the methods at a path are those of the routes that match it', () => {
  const routes: RegisteredRoute[] = [
    { method: 'GET', url: '/runs/:id', role: 'viewer', body: null, doc: DOC },
    { method: 'POST', url: '/runs/:id/cancel', role: 'submitter', body: null, doc: DOC },
    { method: 'POST', url: '/runs', role: 'submitter', body: null, doc: DOC },
    { method: 'GET', url: '/ui/*', role: 'public', body: null, doc: DOC },
  ]
  expect(methodsAt(routes, '/runs/7')).toEqual(['GET'])
  expect(methodsAt(routes, '/runs/7/cancel')).toEqual(['POST'])
  expect(methodsAt(routes, '/runs/')).toEqual([])
  expect(methodsAt(routes, '/other')).toEqual([])
  for (const path of ['/ui/', '/ui/runs', '/ui/runs/7', '/ui//']) expect(methodsAt(routes, path)).toEqual(['GET'])
  for (const path of ['/ui', '/uix', '/uix/7']) expect(methodsAt(routes, path)).toEqual([])
})
