/** What `import … from '@holdfast/client'` gives. */

export type { BatchOutcome } from './batch.ts'
export type { Batches } from './batches.ts'
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
  UploadFailed,
} from './errors.ts'
export type { RunEvent } from './events.ts'
export type { FeedFilter, FeedOptions } from './feed.ts'
export type { Files, UploadFilter } from './files.ts'
export type { FollowOptions } from './follow.ts'
export { type ApprovalOptions, Holdfast, type HoldfastOptions, type RetryOptions } from './holdfast.ts'
export { newUuid } from './idempotency-key.ts'
export type { RunFilter } from './list.ts'
export type { FollowLogsOptions, LogsOptions } from './logs.ts'
export type { AnyModel, ModelLike, ParametersOf, ResultOf } from './model-type.ts'
export type { OwnedBy, RotateOptions } from './receivers.ts'
export type { BulkRequest, QuotaWhich, ReservationRequest, ViewRequest } from './resources.ts'
export { sha256Of } from './sha256.ts'
export type { BatchItem, RunOptions, SubmitOptions, Submitted } from './submit.ts'
export type { CallOptions } from './transport.ts'
export type { HandInOptions, Uploaded, UploadMemory, UploadOptions } from './upload.ts'
export type {
  ManyProgress,
  UploadedMany,
  UploadItem,
  UploadManyOptions,
  UploadOutcome,
} from './upload-many.ts'
export type { UploadInput, UploadSource } from './upload-source.ts'
export { verifyWebhook, type WebhookHeaders, type WebhookMessage, WebhookNotVerified } from './verify-webhook.ts'
export type { WaitOptions } from './wait.ts'
export type { WatchOptions } from './watch.ts'
export type {
  Artifact,
  Attempt,
  AttemptState,
  LogPiece,
  Place,
  Problem,
  Run,
  RunCost,
  RunFile,
  RunRetry,
  RunStatus,
  SubmittedRun,
  Waiting,
} from './wire.ts'
export type { AuditEvent, NewToken, Session, Token, TokenBody, TokenRole } from './wire-access.ts'
export type { Batch, BatchProgress, ListedBatch } from './wire-batches.ts'
export type {
  Delivery,
  DeliveryAttempt,
  DeliveryChannel,
  DeliveryDetail,
  DeliveryFilter,
  DeliveryMail,
  DeliveryState,
  FactKind,
  MailKind,
  NewWebhook,
  Recipient,
  RecipientBody,
  RecipientTest,
  Webhook,
  WebhookBody,
  WebhookChange,
  WebhookTest,
} from './wire-deliveries.ts'
export type { ModelBody, ModelInfo, Queue, QueueBody, RetryPolicy, Worker, WorkerState } from './wire-directory.ts'
export type { Upload, UploadState, UploadWarnings } from './wire-files.ts'
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
export type {
  NewReservation,
  Quota,
  QuotaAction,
  QuotaBody,
  QuotaLimit,
  QuotaLimits,
  QuotaRule,
  QuotaRuleName,
  QuotaUsage,
  Reservation,
  ReservationState,
} from './wire-quotas.ts'
