/** How a run of the store looks on the wire. Plain assignments: this is on the way of every submit. */

import type { AttemptObject, RunFileObject, RunObject, WaitingObject } from '../contract/run.ts'
import { isBlocked } from '../run/blocked.ts'
import { type RedactOptions, redact } from '../run/redaction.ts'
import type { Waiting } from '../run/waiting.ts'
import type { DescribedFile } from '../store/ports/files.ts'
import type { Attempt, Run, RunDetail } from '../store/store.ts'

export type PresentRun = {
  detail(detail: RunDetail): RunObject
  /** As in a list: attempts and cost are not loaded, hence null, and so is the reason for waiting, unless the run is blocked. */
  listed(run: Run, waiting?: Waiting | null): RunObject
}

export function createPresentRun(options: RedactOptions): PresentRun {
  const attemptObject = (attempt: Attempt): AttemptObject => ({
    attempt: attempt.attempt,
    state: attempt.state,
    worker_id: attempt.workerId,
    executor: attempt.executor,
    submitted_at: attempt.submittedAt.toISOString(),
    started_at: timeOrNull(attempt.startedAt),
    finished_at: timeOrNull(attempt.finishedAt),
    error: attempt.error,
    exit_code: attempt.exitCode,
    external_ref: redact(attempt.externalRef ?? null, options),
    progress: redact(attempt.progress ?? null, options),
    cpu_seconds: attempt.cpuSeconds,
    peak_memory_bytes: attempt.peakMemoryBytes,
    log_ref: attempt.logRef,
  })
  const runObject = (
    run: Run,
    attempts: AttemptObject[] | null,
    waiting: WaitingObject | null,
    files: RunFileObject[] | null,
    cost: RunObject['cost'],
  ): RunObject => {
    const self = `/runs/${run.id}`
    return {
      run_id: run.id,
      model: run.model,
      model_version: run.modelVersion,
      status: run.status,
      owner: run.owner,
      queue: run.queue,
      priority: run.priority,
      parameters: redact(run.parameters, options),
      payload_hash: run.payloadHash,
      created_at: run.createdAt.toISOString(),
      available_at: isBlocked(run) ? null : run.availableAt.toISOString(),
      started_at: timeOrNull(run.startedAt),
      finished_at: timeOrNull(run.finishedAt),
      attempt_count: run.attemptCount,
      max_attempts: run.maxAttempts,
      attempts,
      last_error: run.lastError,
      lease: leaseObject(run),
      waiting,
      cancel_requested_at: timeOrNull(run.cancelRequestedAt),
      overdue_since: timeOrNull(run.overdueSince),
      result_ref: run.resultRef,
      result_hash: run.resultHash,
      batch_id: run.batchId,
      tags: run.tags,
      title: run.title,
      files,
      cost,
      retry_of: run.retryOf,
      reproduces: run.reproduces,
      links: { self, result: `${self}/result`, events: `${self}/events` },
    }
  }
  return {
    detail: ({ run, attempts, waiting, files, cost = null }) =>
      runObject(run, attempts.map(attemptObject), waitingObject(waiting), fileObjects(files), cost),
    listed: (run, waiting = null) => runObject(run, null, waitingObject(waiting), null, null),
  }
}

export function fileObjects(files: DescribedFile[] = []): RunFileObject[] {
  return files.map(({ parameter, fileId, name, bytes, type }) => ({
    parameter,
    file_id: fileId,
    name,
    size: bytes,
    type,
  }))
}

function leaseObject(run: Run): RunObject['lease'] {
  if (run.leaseOwner === null || run.leaseExpiresAt === null) return null
  return { owner: run.leaseOwner, expires_at: run.leaseExpiresAt.toISOString(), epoch: run.leaseEpoch }
}

function waitingObject(waiting: Waiting | null): WaitingObject | null {
  if (waiting === null) return null
  return {
    reason: waiting.reason,
    detail: waiting.detail,
    until: timeOrNull(waiting.until),
    ahead: waiting.ahead,
    ahead_capped: waiting.aheadCapped,
    limit: waiting.limit,
    limit_of: waiting.limitOf,
    held: waiting.held,
    held_by: waiting.heldBy,
    missing: waiting.missing,
    offered_versions: waiting.offeredVersions,
    since: timeOrNull(waiting.since),
    rule: waiting.rule,
    key: waiting.key,
  }
}

function timeOrNull(time: Date | null): string | null {
  return time === null ? null : time.toISOString()
}
