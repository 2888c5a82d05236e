/** What attempts are made with: the same for all of a worker. */

import type { Executor } from '../executor/executor.ts'
import type { ModelDefinition } from '../run/definition.ts'
import type { RetryPolicy } from '../run/retry.ts'
import type { Lease, Store } from '../store/store.ts'
import type { Log } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { RecordDeps } from './attempt-record.ts'
import type { AttemptStepsDeps } from './attempt-steps.ts'
import type { EngineDeps } from './engine-link.ts'
import type { KeepResultOptions } from './keep-result.ts'
import type { StageFiles } from './stage-files.ts'
import type { SuccessLog } from './success-log.ts'

export type AttemptDeps = RecordDeps & {
  workerId: string
  store: Pick<Store, 'settle'>
  executorOf: (name: string) => Executor | undefined
  definitionOf: (model: string, version: string) => ModelDefinition | undefined
  policyOf: (queue: string, definition: ModelDefinition | undefined) => RetryPolicy
  results: KeepResultOptions
  cancelGraceMs: number
  saveProgress: (lease: Lease, value: unknown) => void
  engines?: EngineDeps
  steps?: Pick<AttemptStepsDeps, 'steps' | 'states'>
  /** Null when no model takes files. */
  stageFiles?: StageFiles | null
  /** Words that make the name of a parameter sensitive; the usual ones when not given. */
  redactWords?: readonly string[]
  log: Log
  logSuccess: SuccessLog
  metrics: Metrics
  random?: () => number
}
