/** What `import … from '@holdfast/client'` gives. */

export type { BatchOutcome } from './batch.ts'
export type { Clock } from './clock.ts'
export { fromEnvironment } from './environment.ts'
export {
  Conflict,
  CostLimitExceeded,
  HoldfastError,
  MaxRetriesExceeded,
  QuotaExceeded,
  RunCancelled,
  RunFailed,
  Timeout,
  Transient,
} from './errors.ts'
export type { RunEvent } from './events.ts'
export { Holdfast, type HoldfastOptions, type RetryOptions } from './holdfast.ts'
export type { RunFilter } from './list.ts'
export type { AnyModel, ModelLike, ParametersOf, ResultOf } from './model-type.ts'
export type { BulkRequest, ViewRequest } from './resources.ts'
export type { BatchItem, RunOptions, SubmitOptions, Submitted } from './submit.ts'
export type { CallOptions } from './transport.ts'
export type { WaitOptions } from './wait.ts'
export type { WatchOptions } from './watch.ts'
export type {
  Artifact,
  Attempt,
  AttemptState,
  LogPiece,
  Problem,
  Run,
  RunStatus,
  SubmittedRun,
  Waiting,
} from './wire.ts'
export type { AuditEvent, NewToken, Session, Token, TokenBody, TokenRole } from './wire-access.ts'
export type { ModelBody, ModelInfo, Queue, RetryPolicy, Worker, WorkerState } from './wire-directory.ts'
export type {
  CommittedStep,
  DoneStep,
  EndedAttempt,
  FailBody,
  HeartbeatAnswer,
  Lease,
  LeaseBody,
  LogPieces,
  StartedLease,
  Step,
  StepBody,
} from './wire-leases.ts'
export type {
  BulkAction,
  BulkCount,
  BulkItem,
  BulkOperation,
  BulkOutcome,
  FailureGroup,
  ListOrder,
  ShownFilter,
  Stats,
  StatsBucket,
  StatsCounts,
  StatsQuery,
  View,
} from './wire-operations.ts'
