import { fastify } from 'fastify'
import { expect, test } from 'vitest'
import { methodsAt, requireRoles } from './registered-routes.ts'

test('a route that does not say its role cannot be registered', () => {
  const app = fastify()
  requireRoles(app)
  expect(() => app.get('/open', async () => '')).toThrow('the route GET /open does not say which role it needs')
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
  app.get('/a/:id', { config: { role: 'viewer' } }, async () => '')
  expect(app.registeredRoutes).toEqual([
    { method: 'GET', url: '/a/:id', role: 'viewer' },
    { method: 'HEAD', url: '/a/:id', role: 'viewer' },
  ])
})

test('the methods at a path are those of the routes that match it', () => {
  const routes = [
    { method: 'GET', url: '/runs/:id', role: 'viewer' },
    { method: 'POST', url: '/runs/:id/cancel', role: 'submitter' },
    { method: 'POST', url: '/runs', role: 'submitter' },
  ] as const
  expect(methodsAt(routes, '/runs/7')).toEqual(['GET'])
  expect(methodsAt(routes, '/runs/7/cancel')).toEqual(['POST'])
  expect(methodsAt(routes, '/runs/')).toEqual([])
  expect(methodsAt(routes, '/other')).toEqual([])
})
