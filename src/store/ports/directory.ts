/**
 * The port to what there is: the models that are registered, the queues and how full they are, the workers and what they do.
 *
 * Depths are counted by index and only up to a limit; a number that hit it says so. Lists are keyset pages in the order of the names, of
 * workers the latest started first.
 */

import type { ModelDefinition } from '../../run/definition.ts'
import type { RetryPolicyInput } from '../../run/retry.ts'
import type { Actor } from './audit.ts'

export type PageOf<Item> = { items: Item[]; nextCursor: string | null }
export type PageAsked = { limit: number; cursor: string | null }

export type ModelVersion = {
  version: string
  registeredAt: Date
  /** Live workers that offer it. */
  liveWorkers: number
}

export type ModelEntry = {
  name: string
  /** Of the version asked for, or of the newest. */
  definition: ModelDefinition
  shown: ModelVersion
  /** The newest first. */
  versions: ModelVersion[]
}

export type QueueEntry = {
  queue: string
  paused: boolean
  retry: RetryPolicyInput
  updatedAt: Date
  /** Waiting runs, also those that wait for a later time. */
  pending: number
  pendingCapped: boolean
  running: number
  runningCapped: boolean
  /** For how long the oldest run that could start has been waiting; null when none could. */
  oldestWaitingSeconds: number | null
  liveWorkers: number
  /** Runs of this queue that its live workers can execute at once. */
  slots: number
  /** The sum of the limits of its live workers; null when one of them has none, or when there is no worker. */
  limit: number | null
  fairShare: boolean
  /** Owner → weight; 1 for all others. */
  weights: Record<string, number>
}

/** What is undefined stays as it is; weights replace all there were. */
export type QueueSettings = { fairShare?: boolean | undefined; weights?: Record<string, number> | undefined }

export type WorkerState = 'live' | 'silent' | 'stopped'

export type WorkerEntry = {
  workerId: string
  host: string
  pid: number
  version: string
  queues: string[]
  models: string[]
  concurrency: number
  queueLimits: Record<string, number>
  modelLimits: Record<string, number>
  running: number
  startedAt: Date
  lastSeenAt: Date
  stoppedAt: Date | null
  state: WorkerState
}

/** An object: it was left as it is, because our own workers registered it, or because its queue is not one of those allowed. */
export type ModelRegistered = 'created' | 'changed' | 'same' | { executor: string; queue: string }

export interface Directory {
  models(page: PageAsked): Promise<PageOf<ModelEntry>>
  /** The version asked for, or the newest; null when there is none. */
  model(name: string, version: string | null): Promise<ModelEntry | null>
  /** Registers a model for remote workers; one that is there must be in one of `queues`, null for any. What this changes is audited. */
  registerModel(definition: ModelDefinition, queues: string[] | null, actor: Actor): Promise<ModelRegistered>
  queues(page: PageAsked): Promise<PageOf<QueueEntry>>
  queue(name: string): Promise<QueueEntry | null>
  /** Whether this changed anything, which is audited; null when there is no such queue. */
  setPaused(queue: string, paused: boolean, actor: Actor): Promise<boolean | null>
  /** Whether this changed anything, which is audited; null when there is no such queue. */
  setQueue(queue: string, settings: QueueSettings, actor: Actor): Promise<boolean | null>
  workers(page: PageAsked & { state: WorkerState | null }): Promise<PageOf<WorkerEntry>>
}
