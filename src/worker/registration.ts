/** What a worker says of itself when it starts. */

import { hostname } from 'node:os'
import type { WorkerRegistration } from '../store/store.ts'
import type { WorkerDeps } from './worker.ts'

export function registrationOf({ settings, definitions, declared, version }: WorkerDeps, workerId: string) {
  const limited = settings.queues.flatMap(({ queue, limit }) => (limit === null ? [] : [[queue, limit] as const]))
  return {
    workerId,
    host: hostname(),
    pid: process.pid,
    version,
    queues: settings.queues.map(({ queue }) => queue),
    queueLimits: Object.fromEntries(limited),
    concurrency: settings.concurrency,
    models: definitions,
    declared,
  } satisfies WorkerRegistration
}
