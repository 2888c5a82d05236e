/** The time, in one beat for all that shows how long ago something was. */

import { useSyncExternalStore } from 'react'

const watchers = new Set<() => void>()
let nowMs = Date.now()
let timer: ReturnType<typeof setInterval> | null = null

function watch(watcher: () => void): () => void {
  watchers.add(watcher)
  timer ??= setInterval(() => {
    nowMs = Date.now()
    for (const each of watchers) each()
  }, 1_000)
  return () => {
    watchers.delete(watcher)
    if (watchers.size === 0 && timer) clearInterval(timer)
    if (watchers.size === 0) timer = null
  }
}

/** Changes every second. */
export function useNowMs(): number {
  return useSyncExternalStore(watch, () => nowMs)
}
