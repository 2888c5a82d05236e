/**
 * What a pool child used while something ran in it: processor time of the whole process, and the highest resident memory, as the watchdog
 * sampled it and at both ends.
 */

import type { Meter } from '../model/step-usage.ts'

type Open = { peakBytes: number }

/** `residentBytes[1]` is the highest sample since it was set back here. */
export function createChildMeter(residentBytes: Float64Array): Meter {
  const open = new Set<Open>()

  function look(): number {
    const now = process.memoryUsage.rss()
    const highest = Math.max(residentBytes[1] ?? 0, now)
    residentBytes[1] = now
    for (const entry of open) entry.peakBytes = Math.max(entry.peakBytes, highest)
    return now
  }

  return () => {
    const entry: Open = { peakBytes: look() }
    const before = process.cpuUsage()
    open.add(entry)
    return {
      read() {
        look()
        const { user, system } = process.cpuUsage(before)
        return { cpuSeconds: (user + system) / 1e6, peakMemoryBytes: entry.peakBytes }
      },
      stop() {
        open.delete(entry)
      },
    }
  }
}
