/** A loop of a worker: each tick is told to the metrics, and what fails to the log, the first time and then now and again. */

import type { Log } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { Loop, type LoopOptions } from './loop.ts'

export type WatchedLoopOptions = Omit<LoopOptions, 'onError'> & { name: string }

export function watchedLoop(
  { name, tick, ...options }: WatchedLoopOptions,
  { metrics, log, workerId }: { metrics: Metrics; log: Log; workerId: string },
): Loop {
  return new Loop({
    ...options,
    tick: async () => {
      const next = await tick()
      metrics.loopTicked(name)
      return next
    },
    onError: (error, failures) => {
      if (failures === 1 || failures % 20 === 0) {
        log.error({ err: error, worker_id: workerId, loop: name, failures }, 'a loop failed; it goes on')
      }
    },
  })
}
