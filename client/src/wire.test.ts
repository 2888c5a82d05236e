/** The shapes written out in this package are those of the contract; a difference does not compile. */

import { expectTypeOf, test } from 'vitest'
import type { z } from 'zod'
import type * as access from '../../src/contract/access.ts'
import type { ArtifactObject } from '../../src/contract/artifact.ts'
import type * as batchProgress from '../../src/contract/batch-progress.ts'
import type * as bulk from '../../src/contract/bulk.ts'
import type * as delivery from '../../src/contract/delivery.ts'
import type * as directory from '../../src/contract/directory.ts'
import type { EventObject } from '../../src/contract/event.ts'
import type { FailureGroupObject } from '../../src/contract/failures.ts'
import type * as file from '../../src/contract/file.ts'
import type * as lease from '../../src/contract/lease.ts'
import type { ListOrder as ContractListOrder } from '../../src/contract/list.ts'
import type { LogObject } from '../../src/contract/log.ts'
import type { PlaceObject } from '../../src/contract/place.ts'
import type { ProblemObject } from '../../src/contract/problem.ts'
import type * as quota from '../../src/contract/quota.ts'
import type * as recipient from '../../src/contract/recipient.ts'
import type * as reservation from '../../src/contract/reservation.ts'
import type { ResumableUploadObject } from '../../src/contract/resumable-upload.ts'
import type { RunRetryObject } from '../../src/contract/retry.ts'
import type { RunObject, SubmitAnswer } from '../../src/contract/run.ts'
import type { RunFilterJson } from '../../src/contract/run-filter.ts'
import type { StatsAnswer, StatsQuery as StatsQuerySchema } from '../../src/contract/stats.ts'
import type * as step from '../../src/contract/step.ts'
import type { SubmitBody as SubmitBodySchema } from '../../src/contract/submit.ts'
import type { ViewBody, ViewObject } from '../../src/contract/views.ts'
import type * as webhook from '../../src/contract/webhook.ts'
import type { RunEvent } from './events.ts'
import type { UploadFilter } from './files.ts'
import type { RunFilter } from './list.ts'
import type { BulkRequest, ViewRequest } from './resources.ts'
import type { Artifact, LogPiece, Place, Problem, Run, RunRetry, SubmitBody, SubmittedRun, Warned } from './wire.ts'
import type { AuditEvent, NewToken, Session, Token, TokenBody } from './wire-access.ts'
import type { Batch, BatchProgress, ListedBatch, NewBatchBody } from './wire-batches.ts'
import type * as wire from './wire-deliveries.ts'
import type { ModelBody, ModelInfo, Queue, QueueBody, Worker } from './wire-directory.ts'
import type { AcceptedFile, RefusedFile, ResumableUploadState, Upload } from './wire-files.ts'
import type {
  CommittedStep,
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
import type {
  BulkCount,
  BulkItem,
  BulkOperation,
  FailureGroup,
  ListOrder,
  Stats,
  StatsQuery,
  View,
} from './wire-operations.ts'
import type {
  NewReservation,
  Quota,
  QuotaBody,
  QuotaRule,
  QuotaRuleName,
  Reservation,
  ReservationBody,
} from './wire-quotas.ts'

test('runs, events and problems', () => {
  expectTypeOf<Run>().toEqualTypeOf<RunObject>()
  expectTypeOf<Resolved<SubmittedRun>>().toEqualTypeOf<Resolved<SubmitAnswer>>()
  expectTypeOf<SubmittedRun>().toExtend<Warned>()
  expectTypeOf<SubmitBody>().toEqualTypeOf<z.input<typeof SubmitBodySchema>>()
  expectTypeOf<RunEvent>().toEqualTypeOf<EventObject>()
  expectTypeOf<Artifact>().toEqualTypeOf<ArtifactObject>()
  expectTypeOf<Place>().toEqualTypeOf<PlaceObject>()
  expectTypeOf<RunRetry>().toEqualTypeOf<RunRetryObject>()
  expectTypeOf<LogPiece>().toEqualTypeOf<LogObject>()
  expectTypeOf<ProblemObject>().toExtend<Problem>()
  expectTypeOf<Omit<Declared<Problem>, 'code'>>().toEqualTypeOf<Omit<Declared<ProblemObject>, 'code'>>()
})

test('filters and orders', () => {
  expectTypeOf<keyof RunFilter>().toEqualTypeOf<keyof z.input<typeof RunFilterJson>>()
  expectTypeOf<Writable<RunFilter>>().toExtend<z.input<typeof RunFilterJson>>()
  expectTypeOf<ListOrder>().toEqualTypeOf<z.infer<typeof ContractListOrder>>()
})

test('models, queues and workers', () => {
  expectTypeOf<ModelInfo>().toEqualTypeOf<directory.ModelObject>()
  expectTypeOf<ModelBody>().toEqualTypeOf<directory.ModelBody>()
  expectTypeOf<QueueBody>().toEqualTypeOf<directory.QueueBody>()
  expectTypeOf<Queue>().toEqualTypeOf<directory.QueueObject>()
  expectTypeOf<Worker>().toEqualTypeOf<directory.WorkerObject>()
})

test('bulk operations, failures, statistics and views', () => {
  expectTypeOf<BulkCount>().toEqualTypeOf<bulk.BulkCount>()
  expectTypeOf<BulkOperation>().toEqualTypeOf<bulk.BulkObject>()
  expectTypeOf<BulkItem>().toEqualTypeOf<bulk.BulkItemObject>()
  expectTypeOf<Writable<BulkRequest>>().toExtend<z.input<typeof bulk.BulkBody>>()
  expectTypeOf<FailureGroup>().toEqualTypeOf<FailureGroupObject>()
  expectTypeOf<Resolved<Stats>>().toEqualTypeOf<Resolved<StatsAnswer>>()
  expectTypeOf<StatsQuery>().toEqualTypeOf<z.input<typeof StatsQuerySchema>>()
  expectTypeOf<View>().toEqualTypeOf<ViewObject>()
  expectTypeOf<Writable<ViewRequest>>().toExtend<z.input<typeof ViewBody>>()
})

test('batches', () => {
  expectTypeOf<Resolved<Batch>>().toEqualTypeOf<Resolved<batchProgress.BatchObject>>()
  expectTypeOf<Resolved<ListedBatch>>().toEqualTypeOf<Resolved<batchProgress.ListedBatch>>()
  expectTypeOf<Resolved<BatchProgress>>().toEqualTypeOf<Resolved<batchProgress.BatchProgress>>()
  expectTypeOf<NewBatchBody>().toEqualTypeOf<z.input<typeof batchProgress.NewBatchBody>>()
})

test('files', () => {
  expectTypeOf<Upload>().toEqualTypeOf<file.UploadObject>()
  expectTypeOf<Resolved<AcceptedFile>>().toEqualTypeOf<Resolved<file.AcceptedFile>>()
  expectTypeOf<Omit<RefusedFile, 'problem'>>().toEqualTypeOf<Omit<file.RefusedFile, 'problem'>>()
  expectTypeOf<ResumableUploadState>().toEqualTypeOf<ResumableUploadObject>()
  expectTypeOf<keyof UploadFilter>().toEqualTypeOf<
    Exclude<keyof z.input<typeof file.UploadListQuery>, 'limit' | 'cursor'>
  >()
})

test('leases of remote workers', () => {
  expectTypeOf<LeaseBody>().toEqualTypeOf<z.input<typeof lease.LeaseBody>>()
  expectTypeOf<Resolved<Lease>>().toEqualTypeOf<Resolved<lease.LeaseObject>>()
  expectTypeOf<StartedLease>().toEqualTypeOf<lease.StartedObject>()
  expectTypeOf<HeartbeatAnswer>().toEqualTypeOf<lease.HeartbeatAnswer>()
  expectTypeOf<LogPieces>().toEqualTypeOf<z.input<typeof lease.LogsBody>>()
  expectTypeOf<FailBody>().toEqualTypeOf<z.input<typeof lease.FailBody>>()
  expectTypeOf<EndedAttempt>().toEqualTypeOf<lease.EndedObject>()
  expectTypeOf<StepBody>().toEqualTypeOf<z.input<typeof step.StepBody>>()
  expectTypeOf<CommittedStep>().toEqualTypeOf<step.CommittedStepObject>()
  expectTypeOf<Resolved<Step>>().toEqualTypeOf<Resolved<step.StepObject>>()
})

test('quotas and reservations', () => {
  expectTypeOf<Resolved<QuotaRule>>().toEqualTypeOf<quota.QuotaRuleObject>()
  expectTypeOf<QuotaRuleName>().toEqualTypeOf<quota.QuotaName>()
  expectTypeOf<Resolved<Quota>>().toEqualTypeOf<quota.QuotaObject>()
  expectTypeOf<QuotaBody>().toEqualTypeOf<z.input<typeof quota.QuotaBody>>()
  expectTypeOf<Reservation>().toEqualTypeOf<reservation.ReservationObject>()
  expectTypeOf<Resolved<NewReservation>>().toEqualTypeOf<reservation.ReservationMadeAnswer>()
  expectTypeOf<ReservationBody>().toEqualTypeOf<z.input<typeof reservation.ReservationBody>>()
})

test('webhooks, mail addresses and deliveries', () => {
  expectTypeOf<Resolved<wire.Webhook>>().toEqualTypeOf<webhook.WebhookObject>()
  expectTypeOf<Resolved<wire.NewWebhook>>().toEqualTypeOf<webhook.WebhookMadeAnswer>()
  expectTypeOf<wire.WebhookBody>().toEqualTypeOf<z.input<typeof webhook.WebhookBody>>()
  expectTypeOf<wire.WebhookChange>().toEqualTypeOf<z.input<typeof webhook.WebhookChangeBody>>()
  expectTypeOf<wire.RotateSecretBody>().toEqualTypeOf<z.input<typeof webhook.RotateSecretBody>>()
  expectTypeOf<wire.WebhookTest>().toEqualTypeOf<webhook.WebhookTestAnswer>()
  expectTypeOf<Resolved<wire.Recipient>>().toEqualTypeOf<recipient.RecipientObject>()
  expectTypeOf<wire.RecipientBody>().toEqualTypeOf<z.input<typeof recipient.RecipientBody>>()
  expectTypeOf<wire.RecipientTest>().toEqualTypeOf<recipient.RecipientTestAnswer>()
  expectTypeOf<wire.Delivery>().toEqualTypeOf<delivery.DeliveryObject>()
  expectTypeOf<Resolved<wire.DeliveryDetail>>().toEqualTypeOf<delivery.DeliveryDetailObject>()
  expectTypeOf<wire.DeliveryFilter>().toEqualTypeOf<
    Omit<z.input<typeof delivery.DeliveryListQuery>, 'limit' | 'cursor'>
  >()
})

test('tokens, sessions and the audit', () => {
  expectTypeOf<Token>().toEqualTypeOf<access.TokenObject>()
  expectTypeOf<Resolved<NewToken>>().toEqualTypeOf<Resolved<access.TokenMadeAnswer>>()
  expectTypeOf<TokenBody>().toEqualTypeOf<z.input<typeof access.TokenBody>>()
  expectTypeOf<AuditEvent>().toEqualTypeOf<access.AuditEventObject>()
  expectTypeOf<Session>().toEqualTypeOf<access.SessionObject>()
})

/** Whether lists may be changed is no matter on the wire. */
type Writable<T> = T extends readonly (infer Item)[]
  ? Writable<Item>[]
  : T extends object
    ? { -readonly [Name in keyof T]: Writable<T[Name]> }
    : T

/** The same with every & carried out. */
type Resolved<T> = T extends object ? { [Name in keyof T]: Resolved<T[Name]> } : T

/** Without the names that may follow. */
type Declared<T> = { [Name in keyof T as string extends Name ? never : number extends Name ? never : Name]: T[Name] }
