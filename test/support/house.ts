/**
 * The API and any number of workers in this process, on a database of their own, wired as compose.ts does it. Leases are short
 * so that tests are quick; every setting can be changed.
 */

import type { Executor } from '../../src/executor/executor.ts'
import { InlineExecutor } from '../../src/executor/inline.ts'
import { definitionOf, type Model } from '../../src/model/model.ts'
import { Registry } from '../../src/model/registry.ts'
import { openStore } from '../../src/store/open-store.ts'
import type { Store } from '../../src/store/store.ts'
import { createMetrics } from '../../src/telemetry/metrics.ts'
import { createMemoryWakeup } from '../../src/wakeup/memory.ts'
import type { InputFolder } from '../../src/worker/stage-files.ts'
import { Worker, type WorkerSettings } from '../../src/worker/worker.ts'
import { openTestApi, type TestApi } from './api.ts'
import { type LogLine, recordingLog } from './recording-log.ts'
import { type RunVerbs, runVerbs } from './run-verbs.ts'

const THREAD = new URL('../../src/store/heartbeat-thread.ts', import.meta.url)

export const HOUSE_LEASE_MS = 1_200

const SETTINGS: WorkerSettings = {
  queues: [{ queue: 'default', limit: null }],
  concurrency: 4,
  leaseMs: HOUSE_LEASE_MS,
  pollMs: 100,
  janitorMs: 100,
  shutdownGraceMs: 2_000,
  cancelGraceMs: 300,
  cancelConfirmMs: 60_000,
  deadlineGraceMs: 200,
  loopSilenceMs: 300_000,
  retry: { delaysSeconds: [0.05] },
}

export type HouseWorker = { worker: Worker; store: Store; lines: LogLine[] }

export type WorkerOptions = {
  settings?: Partial<WorkerSettings>
  executors?: Executor[]
  /** Where the worker and its heartbeat find the database, when not at the database itself. */
  url?: string
  /** Where input files are copied to. */
  inputFolder?: InputFolder
  /** A thread of the test's own, such as one that never beats. */
  heartbeatThread?: { url: URL; data: Record<string, unknown> }
}

export type House = RunVerbs & {
  api: TestApi
  startWorker(options?: WorkerOptions): Promise<HouseWorker>
  close(): Promise<void>
}

export async function openHouse(models: Model[]): Promise<House> {
  const definitions = models.map(definitionOf)
  const { log: quiet } = recordingLog()
  const wakeup = createMemoryWakeup({ log: quiet })
  const api = await openTestApi({ models: definitions, wakeup })
  const workers: HouseWorker[] = []

  async function startWorker(options: WorkerOptions = {}): Promise<HouseWorker> {
    const { settings, executors, url = api.db.url } = options
    const store = openStore({ url, name: 'test worker' })
    const { log, lines } = recordingLog()
    const worker = new Worker({
      store,
      wakeup,
      executors: executors ?? executorsOf(models),
      definitions,
      results: { blob: api.blob, inlineBytes: 65_536, maxBytes: 1_000_000 },
      ...(options.inputFolder && { inputFolder: options.inputFolder }),
      heartbeatThread: options.heartbeatThread ?? { url: THREAD, data: { url } },
      version: '0.0.0',
      log,
      metrics: createMetrics({ processMetrics: false }),
      settings: { ...SETTINGS, ...settings },
    })
    workers.push({ worker, store, lines })
    await worker.start()
    return { worker, store, lines }
  }

  return {
    api,
    startWorker,
    ...runVerbs(api),
    async close() {
      await Promise.all(
        workers.map(async ({ worker, store }) => {
          await worker.stop()
          await store.close()
        }),
      )
      await wakeup.close()
      await api.close()
    },
  }
}

/** Both names lead to this process, so that a run which goes on "in a child" after a reclaim still meets the test's gates. */
export function executorsOf(models: Model[]): Executor[] {
  const registry = new Registry(models)
  const inline = new InlineExecutor({ registry, timeoutGraceMs: 200 })
  const asProcess = new InlineExecutor({ registry, timeoutGraceMs: 200 })
  Object.defineProperty(asProcess, 'name', { value: 'process' })
  return [inline, asProcess]
}
