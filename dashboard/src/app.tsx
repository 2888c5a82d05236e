/** The page with all it stands on: theme, server data, session, routes. */

import { HoldfastError } from '@holdfast/client'
import { createTheme, MantineProvider } from '@mantine/core'
import { QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { styleNonce } from './place.ts'
import { router } from './router.tsx'
import { SessionGate } from './session.tsx'
import { Notices } from './shell/notices.tsx'

const queries: QueryClient = new QueryClient({
  defaultOptions: {
    // The client has tried again already, and the feed says when there is something new.
    queries: { retry: false, staleTime: 5_000, gcTime: 5 * 60_000 },
    mutations: { retry: false },
  },
  queryCache: new QueryCache({
    // A session that ended leads to the sign-in, whatever was being read.
    onError: (error, { queryKey }) => {
      const isSignedOut = error instanceof HoldfastError && error.status === 401
      if (isSignedOut && queryKey[0] !== 'session') void queries.invalidateQueries({ queryKey: ['session'] })
    },
  }),
})

const theme = createTheme({
  primaryColor: 'teal',
  primaryShade: { light: 9, dark: 7 },
  autoContrast: true,
  defaultRadius: 'sm',
  cursorType: 'pointer',
  focusRing: 'auto',
  respectReducedMotion: true,
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace',
  headings: {
    fontWeight: '600',
    sizes: { h1: { fontSize: '1.25rem' }, h2: { fontSize: '1rem' }, h3: { fontSize: '0.9rem' } },
  },
})

export function App() {
  return (
    <MantineProvider theme={theme} defaultColorScheme="auto" getStyleNonce={() => styleNonce}>
      <QueryClientProvider client={queries}>
        <SessionGate>
          <RouterProvider router={router} />
        </SessionGate>
        <Notices />
      </QueryClientProvider>
    </MantineProvider>
  )
}
