/** Who is using the page and what they may do. Acts they may not are not offered; that they are refused is the API's business. */

import type { Session, TokenRole } from '@holdfast/client'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { createContext, lazy, type ReactNode, Suspense, useContext, useEffect } from 'react'
import { client } from './client.ts'
import { feed } from './live/feed.ts'
import { ErrorNotice } from './parts/error-notice.tsx'
import { Loading } from './parts/loading.tsx'

/** From least to most; a worker is beside them and may not look. */
const RANKS: Record<TokenRole, number> = { worker: 0, viewer: 1, submitter: 2, operator: 3, admin: 4 }

const SessionContext = createContext<Session | null>(null)

export function useSession(): Session {
  const session = useContext(SessionContext)
  if (!session) throw new Error('There is no session outside of SessionGate.')
  return session
}

/** Whether the person has this role or a higher one. */
export function useMay(role: TokenRole): boolean {
  const { role: own } = useSession()
  return own !== null && RANKS[own] >= RANKS[role]
}

/** Starts a session or ends it; everything on the page is read anew. */
export function useSignIn(): { start(token: string): Promise<void>; end(): Promise<void> } {
  const queries = useQueryClient()
  const anew = async () => {
    feed.stop()
    queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'session' })
    await queries.invalidateQueries({ queryKey: ['session'] })
  }
  return {
    start: async (token) => {
      await client.session.start(token)
      await anew()
    },
    end: async () => {
      await client.session.end()
      await anew()
    },
  }
}

const LoginScreen = lazy(() => import('./shell/login-screen.tsx'))

/** Shows the page to those who may see it, and the sign-in to the others. */
export function SessionGate({ children }: { children: ReactNode }) {
  const {
    data: session,
    error,
    refetch,
  } = useQuery({
    queryKey: ['session'],
    queryFn: ({ signal }) => client.session.get({ signal }),
    staleTime: 60_000,
  })
  const mayLook = session?.role !== null && session?.role !== undefined
  useEffect(() => {
    if (mayLook) feed.start()
  }, [mayLook])
  if (!session && error) return <ErrorNotice error={error} onRetry={() => void refetch()} />
  if (!session) return <Loading label="Opening Holdfast" />
  if (!mayLook) {
    return (
      <Suspense fallback={<Loading label="Opening Holdfast" />}>
        <LoginScreen />
      </Suspense>
    )
  }
  return <SessionContext value={session}>{children}</SessionContext>
}
