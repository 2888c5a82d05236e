/**
 * Applies bulk operations, a page at a time. Whoever holds an operation takes the next runs of its filter in hand, does to each of them
 * what the route for one run would do, and writes what became of them.
 *
 * A process that dies in between leaves runs in hand, which another one applies again. That is harmless: a run is cancelled once, and
 * the id of a retry follows from operation and run, so that it is made once even if the first one has ended meanwhile.
 */

import { createHash } from 'node:crypto'
import { ERRORS, Refusal } from '../run/errors.ts'
import type { BulkItem, BulkOperation, BulkPage } from '../store/ports/bulk.ts'
import type { Run, RunPage, Submitted } from '../store/store.ts'
import type { ApiDeps } from './api.ts'
import { filterOfOperation } from './bulk-filter.ts'
import { createCancelRun } from './cancel-run.ts'
import { createResolveRetry } from './retry-run.ts'
import type { ResolvedRun } from './run-files.ts'
import type { SubmitRun } from './submit-run.ts'

export type BulkWorkOptions = { pageSize?: number; leaseMs?: number; repeatMs?: number }

/** Applies one page of some operation; `wait` when there was none, or when it could not be applied. */
export type BulkWork = () => Promise<'again' | 'wait'>

const PAGE_SIZE = 100
/** Much longer than a page takes. A page whose holder is only slow is applied twice, which changes nothing. */
const LEASE_MS = 60_000
const REPEAT_MS = 5_000

export function createBulkWork(
  deps: Pick<ApiDeps, 'store' | 'wakeup' | 'log' | 'config'> & { submitRun: SubmitRun },
  { pageSize = PAGE_SIZE, leaseMs = LEASE_MS, repeatMs = REPEAT_MS }: BulkWorkOptions = {},
): BulkWork {
  const { store, log, config, submitRun } = deps
  const cancelRun = createCancelRun(deps)
  const resolveRetry = createResolveRetry({ known: submitRun.known, config, store })

  return async () => {
    const page = await store.bulk.take({ leaseMs })
    if (!page) return 'wait'
    const { operation, epoch } = page
    const { id } = operation
    let begun = page.inHand.length > 0
    try {
      const runs = begun ? await readAll(page.inHand) : await takeInHand(page)
      if (runs === null) return 'again'
      begun ||= runs.length > 0
      const items = operation.action === 'cancel' ? await cancelAll(runs, operation) : await retryAll(runs, operation)
      const state = await store.bulk.record({ id, epoch, items })
      if (state !== null && state !== 'RUNNING') log.info({ operation_id: id, state }, 'bulk operation ended')
      return 'again'
    } catch (error) {
      log.warn({ operation_id: id, err: error }, 'page of a bulk operation not finished')
      if (!begun && isLasting(error)) await store.bulk.fail({ id, epoch, error: error.detail })
      else await store.bulk.pause({ id, epoch, error: inWords(error), repeatMs: begun ? repeatMs : null })
      return 'wait'
    }
  }

  /** The next runs that this operation has not met yet; null when another process has taken it over. */
  async function takeInHand({ operation, epoch, cursor, exhausted }: BulkPage): Promise<Subject[] | null> {
    if (exhausted) return []
    const found = await findRuns(operation, cursor)
    const runIds = found.runs.map((run) => run.id)
    const planned = await store.bulk.plan({ id: operation.id, epoch, runIds, cursor: found.nextCursor })
    return planned && found.runs.flatMap((run) => (planned.includes(run.id) ? { id: run.id, run } : []))
  }

  function findRuns(operation: BulkOperation, cursor: string | null): Promise<RunPage> {
    const filter = filterOfOperation(operation)
    const read = (from: string | null) =>
      store.search.page(filter, { limit: pageSize, cursor: from, order: 'created_at_asc' })
    // A cursor of another release: from the start again, past the runs that were met before.
    return read(cursor).catch((error) => (cursor !== null && isOfQuery(error) ? read(null) : Promise.reject(error)))
  }

  async function readAll(ids: string[]): Promise<Subject[]> {
    const subjects: Subject[] = []
    for (const id of ids) subjects.push({ id, run: (await store.readRun(id))?.run ?? null })
    return subjects
  }

  async function cancelAll(subjects: Subject[], operation: BulkOperation): Promise<BulkItem[]> {
    const items: BulkItem[] = []
    for (const { id } of subjects) {
      const cancelled = await cancelRun(id, operation.sees, operation.id)
      if (cancelled.outcome === 'cancelled') items.push(item(id, 'cancelled'))
      else if (cancelled.outcome === 'requested') items.push(item(id, 'cancel_requested'))
      else if (cancelled.outcome === 'not-found') items.push(item(id, 'not_found'))
      else items.push(item(id, 'already_finished', `ended ${cancelled.run.status} first`))
    }
    return items
  }

  async function retryAll(subjects: Subject[], operation: BulkOperation): Promise<BulkItem[]> {
    const resolved = await Promise.all(subjects.map((subject) => resolveOne(subject, operation)))
    const accepted = resolved.filter((run): run is ResolvedRun => run !== null && !(run instanceof Refusal))
    const stored = accepted.length > 0 ? await submitRun.storeMany(accepted, operation.id) : []
    const answers = new Map<unknown, Submitted | Refusal>(accepted.map((run, index) => [run, stored[index]!]))
    return subjects.map(({ id }, index) => {
      const asked = resolved[index]!
      if (asked === null) return item(id, 'not_found')
      const answer = asked instanceof Refusal ? asked : answers.get(asked)!
      if (!(answer instanceof Refusal)) {
        return { ...item(id, answer.idempotentHit ? 'already_retrying' : 'retried'), newRunId: answer.run.id }
      }
      // The database is away or busy: the page as a whole is repeated later.
      if (ERRORS[answer.code].status === 503) throw answer
      return item(id, 'refused', `${answer.code}: ${answer.detail}`)
    })
  }

  async function resolveOne({ run }: Subject, operation: BulkOperation): Promise<ResolvedRun | Refusal | null> {
    if (run === null) return null
    try {
      return await resolveRetry(idOfRetry(operation, run), run, { key: null, traceParent: null })
    } catch (error) {
      if (isLasting(error)) return error
      throw error
    }
  }
}

/** A run in hand; null when it has been deleted meanwhile. */
type Subject = { id: string; run: Run | null }

function item(runId: string, outcome: BulkItem['outcome'], detail: string | null = null): BulkItem {
  return { runId, outcome, detail, newRunId: null }
}

/** A UUIDv7 of the time of the operation whose other bits follow from operation and run. */
export function idOfRetry({ id, createdAt }: Pick<BulkOperation, 'id' | 'createdAt'>, run: Pick<Run, 'id'>): string {
  const time = createdAt.getTime().toString(16).padStart(12, '0')
  const hash = createHash('sha256').update(`bulk ${id} ${run.id}`).digest('hex')
  const variant = ((Number.parseInt(hash[3]!, 16) & 0x3) | 0x8).toString(16)
  return `${time.slice(0, 8)}-${time.slice(8)}-7${hash.slice(0, 3)}-${variant}${hash.slice(4, 7)}-${hash.slice(7, 19)}`
}

/** Asked again it would be refused again. */
function isLasting(error: unknown): error is Refusal {
  return error instanceof Refusal && ERRORS[error.code].status < 500
}

function isOfQuery(error: unknown): boolean {
  return error instanceof Refusal && error.code === 'invalid-query'
}

/** What is not written for people stays in the log. */
function inWords(error: unknown): string {
  return error instanceof Refusal ? error.detail : 'An unexpected error happened; the log of the service has it.'
}
