/** The bulk operation that was begun in this tab, kept over a reload until someone has seen the end of it. */

import { useSyncExternalStore } from 'react'

const KEY = 'holdfast:bulk'

/** `count`: how many there were before, when that is known. */
export type BegunBulk = { id: string; count: number | null }

let begun: BegunBulk | null = read()
const watchers = new Set<() => void>()

export function rememberBulk(next: BegunBulk | null): void {
  begun = next
  if (next) sessionStorage.setItem(KEY, JSON.stringify(next))
  else sessionStorage.removeItem(KEY)
  for (const watcher of watchers) watcher()
}

export function useBegunBulk(): BegunBulk | null {
  return useSyncExternalStore(
    (watcher) => {
      watchers.add(watcher)
      return () => watchers.delete(watcher)
    },
    () => begun,
  )
}

function read(): BegunBulk | null {
  try {
    const kept: unknown = JSON.parse(sessionStorage.getItem(KEY) ?? 'null')
    if (typeof kept !== 'object' || kept === null || !('id' in kept) || typeof kept.id !== 'string') return null
    return { id: kept.id, count: 'count' in kept && typeof kept.count === 'number' ? kept.count : null }
  } catch {
    return null
  }
}
