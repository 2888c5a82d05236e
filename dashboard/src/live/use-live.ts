/** The feed in components: read again what has changed, and know whether anything is heard at all. */

import type { QueryKey } from '@tanstack/react-query'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useSyncExternalStore } from 'react'
import { type Connection, feed, type News } from './feed.ts'

/** Calls back with each piece of news for as long as the component is shown. */
export function useNews(onNews: (news: News) => void): void {
  const latest = useRef(onNews)
  useEffect(() => {
    latest.current = onNews
  })
  useEffect(() => feed.listen((news) => latest.current(news)), [])
}

/**
 * Reads these queries again when something happened that `concerns` lets through (everything when not given), at most once per
 * `everyMs`: a thousand runs a second must not become a thousand requests. The last change is never left out.
 */
export function useLive(
  keys: QueryKey[],
  options: { concerns?: (news: News) => boolean; everyMs?: number } = {},
): void {
  const { concerns, everyMs = 1_000 } = options
  const queries = useQueryClient()
  const timer = useRef<ReturnType<typeof setTimeout> | null>(null)
  const readMs = useRef(0)
  const asked = useRef(keys)
  useEffect(() => {
    asked.current = keys
  })
  useEffect(() => () => void (timer.current && clearTimeout(timer.current)), [])
  useNews((news) => {
    if (timer.current || !(news.isGap || (concerns?.(news) ?? true))) return
    const read = () => {
      timer.current = null
      readMs.current = performance.now()
      for (const queryKey of asked.current) void queries.invalidateQueries({ queryKey })
    }
    timer.current = setTimeout(read, Math.max(0, readMs.current + everyMs - performance.now()))
  })
}

export function useConnection(): Connection {
  return useSyncExternalStore(feed.watch, () => feed.connection)
}

/** For `useLive`: news about this run. */
export function about(runId: string): (news: News) => boolean {
  return ({ events }) => events.some((event) => event.run_id === runId)
}
