/** The list of a filter in the cache of server data, kept up to date for as long as it is shown: at most one look a second. */

import { HoldfastError } from '@holdfast/client'
import { type QueryKey, useQuery, useQueryClient } from '@tanstack/react-query'
import { useCallback, useEffect, useRef, useSyncExternalStore } from 'react'
import { client } from '../../client.ts'
import { useNews } from '../../live/use-live.ts'
import { writeSearch } from '../../search.ts'
import { type Condition, filterOf, searchOf } from './filter.ts'
import { RunList, type Shown } from './run-list.ts'
import type { Order } from './run-pages.ts'
import { rowOf } from './run-row.ts'

const REFRESH_MS = 1_000
const AFTER_ERROR_MS = 3_000

export type LiveList = {
  list: RunList | undefined
  error: Error | null
  /** Reads from the beginning after an error. */
  again: () => void
  /** Reads what is in view again, soon. */
  refresh: () => void
}

export function useRunList(conditions: readonly Condition[], order: Order): LiveList {
  const queries = useQueryClient()
  const queryKey: QueryKey = ['runs', 'list', writeSearch(searchOf(conditions)), order]
  const { data, error, refetch } = useQuery({
    queryKey,
    queryFn: async () => {
      const known = queries.getQueryData<RunList>(queryKey)
      if (known) {
        known.touch()
        await known.refresh()
        return known
      }
      const filter = filterOf(conditions)
      const list = new RunList(async (cursor, limit) => {
        const page = await client.listPage(filter, { cursor, limit, order })
        return { rows: page.data.map(rowOf), next: page.next_cursor }
      }, order)
      await list.open()
      return list
    },
    staleTime: Number.POSITIVE_INFINITY,
  })
  const refresh = useRefresh(data)
  useNews(({ isGap }) => {
    if (data) {
      data.touch()
      refresh()
    } else if (isGap) void refetch()
  })
  useEffect(() => {
    if (!data) return
    // Whoever comes back finds it where it was; what happened meanwhile was not heard.
    data.touch()
    refresh()
  }, [data, refresh])
  return { list: data, error: data ? null : error, again: () => void refetch(), refresh }
}

function useRefresh(list: RunList | undefined): () => void {
  const queries = useQueryClient()
  const ask = useRef(() => {})
  useEffect(() => {
    if (!list) return
    const onError = (error: unknown) => {
      const isSignedOut = error instanceof HoldfastError && error.status === 401
      if (isSignedOut) void queries.invalidateQueries({ queryKey: ['session'] })
    }
    const refresher = startRefresher(list, onError)
    ask.current = refresher.ask
    return refresher.stop
  }, [list, queries])
  return useCallback(() => ask.current(), [])
}

/** One look at a time, and a pause behind each. */
function startRefresher(list: RunList, onError: (error: unknown) => void): { ask(): void; stop(): void } {
  let timer: ReturnType<typeof setTimeout> | null = null
  let notBeforeMs = 0
  let isStopped = false
  const ask = () => {
    if (timer || isStopped) return
    timer = setTimeout(() => void read(), Math.max(0, notBeforeMs - performance.now()))
  }
  const read = async () => {
    notBeforeMs = performance.now() + REFRESH_MS
    await list.refresh().catch((error: unknown) => {
      notBeforeMs = performance.now() + AFTER_ERROR_MS
      onError(error)
    })
    timer = null
    // What happened while it was reading, or came into view, is not forgotten.
    if (list.isOld) ask()
  }
  const stop = () => {
    isStopped = true
    if (timer) clearTimeout(timer)
  }
  return { ask, stop }
}

export function useShown(list: RunList): Shown {
  return useSyncExternalStore(list.watch, () => list.shown)
}
