/** Every address of the app. Each screen is loaded when it is first shown. */

import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router'
import { ErrorNotice } from './parts/error-notice.tsx'
import { Loading } from './parts/loading.tsx'
import { appPath } from './place.ts'
import { parseSearch, type Search, writeSearch } from './search.ts'
import { Frame } from './shell/frame.tsx'
import { NotFound } from './shell/not-found.tsx'

const root = createRootRoute({
  component: Frame,
  notFoundComponent: NotFound,
  validateSearch: (search: Record<string, unknown>) => search as Search,
})

type Screen = () => Promise<{ default: () => React.ReactNode }>

function screen<Path extends string>(path: Path, load: Screen) {
  return createRoute({ getParentRoute: () => root, path, component: lazyRouteComponent(load) })
}

const routeTree = root.addChildren([
  screen('/', () => import('./screens/overview/overview-screen.tsx')),
  screen('/runs', () => import('./screens/runs/runs-screen.tsx')),
  screen('/runs/$runId', () => import('./screens/run/run-screen.tsx')),
  screen('/compare', () => import('./screens/compare/compare-screen.tsx')),
  screen('/submit', () => import('./screens/submit/submit-screen.tsx')),
  screen('/documents', () => import('./screens/documents/documents-screen.tsx')),
  screen('/workers', () => import('./screens/workers/workers-screen.tsx')),
  screen('/queues', () => import('./screens/queues/queues-screen.tsx')),
  screen('/models', () => import('./screens/models/models-screen.tsx')),
  screen('/quotas', () => import('./screens/quotas/quotas-screen.tsx')),
  screen('/deliveries', () => import('./screens/deliveries/deliveries-screen.tsx')),
  screen('/receivers', () => import('./screens/receivers/receivers-screen.tsx')),
  screen('/tokens', () => import('./screens/tokens/tokens-screen.tsx')),
  screen('/audit', () => import('./screens/audit/audit-screen.tsx')),
])

export const router = createRouter({
  routeTree,
  basepath: appPath,
  parseSearch,
  stringifySearch: writeSearch,
  defaultPreload: 'intent',
  defaultPendingMs: 300,
  defaultPendingComponent: () => <Loading label="Loading" />,
  defaultErrorComponent: ({ error, reset }) => <ErrorNotice error={error} onRetry={reset} />,
  scrollRestoration: true,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
