/**
 * Every route says which role it needs and what it does; one that does not cannot be registered. The list serves the Allow
 * header, the OpenAPI document and the tests.
 */

import type { FastifyInstance } from 'fastify'
import type { RegisteredRoute } from './api.ts'

/** Must be called before the first route is registered. */
export function requireRoles(app: FastifyInstance): void {
  const routes: RegisteredRoute[] = []
  app.decorate('registeredRoutes', routes)
  app.addHook('onRoute', ({ method, url, config }) => {
    const role = config?.role
    if (!role) throw new Error(`the route ${method} ${url} does not say which role it needs`)
    const { body = null, doc } = config
    if (!doc) throw new Error(`the route ${method} ${url} does not say what it does`)
    for (const one of [method].flat()) routes.push({ method: one, url, role, body, doc })
  })
}

/** The methods some route answers at this path; none when nothing is there. */
export function methodsAt(routes: readonly RegisteredRoute[], path: string): string[] {
  const matching = routes.filter(({ url }) => matches(url.split('/'), path.split('/')))
  return [...new Set(matching.map(({ method }) => method))].sort()
}

function matches(pattern: string[], path: string[]): boolean {
  if (pattern.at(-1) === '*')
    return matches(pattern.slice(0, -1), path.slice(0, pattern.length - 1)) && path.length >= pattern.length
  if (pattern.length !== path.length) return false
  return pattern.every((step, index) => (step.startsWith(':') ? path[index] !== '' : step === path[index]))
}
