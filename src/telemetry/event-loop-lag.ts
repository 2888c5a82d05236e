/** The longest time the event loop was held up since the last scrape. */

import { monitorEventLoopDelay } from 'node:perf_hooks'
import { Gauge, type Registry } from '@prometheus-io/client'

const RESOLUTION_MS = 20

export function watchEventLoop(registers: Registry[]): void {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  delays.enable()
  new Gauge({
    name: 'event_loop_lag_seconds',
    help: 'Longest delay of the event loop since the last scrape.',
    registers,
    aggregator: 'max',
    collect() {
      // The monitor counts its own sampling interval in.
      this.set(Math.max(0, delays.max / 1e9 - RESOLUTION_MS / 1_000))
      delays.reset()
    },
  })
}
