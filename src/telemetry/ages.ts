/** How long ago the loops of this process last turned: what a watcher looks at to find one that hangs. */

import { Gauge, type Registry } from '@prometheus-io/client'

export type Ages = {
  /** Leases were extended just now. */
  heartbeatDone(): void
  /** The named loop turned just now. */
  loopTicked(loop: string): void
}

export function createAges(registers: Registry[], nowMs: () => number): Ages {
  let heartbeatAtMs: number | null = null
  const tickedAtMs = new Map<string, number>()
  new Gauge({
    name: 'heartbeat_age_seconds',
    help: 'Time since leases were last extended.',
    registers,
    aggregator: 'max',
    collect() {
      if (heartbeatAtMs === null) this.remove()
      else this.set((nowMs() - heartbeatAtMs) / 1_000)
    },
  })
  new Gauge({
    name: 'loop_last_tick_age_seconds',
    help: 'Time since a loop last turned.',
    labelNames: ['loop'],
    registers,
    aggregator: 'max',
    collect() {
      for (const [loop, atMs] of tickedAtMs) this.set({ loop }, (nowMs() - atMs) / 1_000)
    },
  })
  return {
    heartbeatDone() {
      heartbeatAtMs = nowMs()
    },
    loopTicked(loop) {
      tickedAtMs.set(loop, nowMs())
    },
  }
}
