/**
 * A fact as programs are told it: `{type, timestamp, data}`, small enough for every receiver of webhooks. Thin: neither
 * parameters nor results, which are fetched by who needs them. Links are added by the sender, who knows the public
 * address.
 */

import { cutText, type Fact } from './fact.ts'

/** What is told of a run, besides what the fact itself knows. */
export type FactRun = {
  id: string
  model: string
  modelVersion: string
  queue: string
  title: string | null
  tags: string[]
  traceParent: string | null
  lastError: { class: string; attempt: number } | null
  /** The name of the document that the run processes; null for a run that processes none. */
  document: string | null
}

export type FactBody = { type: string; timestamp: string; data: Record<string, unknown> }

/** Receivers may refuse more than 20 KB; some of it is left for links. */
const BODY_BYTES_MAX = 18_000
const MESSAGE_LENGTH_MAX = 4_000
const SHORT_LENGTH_MAX = 500

export function bodyOf(fact: Fact, run: FactRun | null): FactBody {
  const data = fact.runId === null ? dataOfOther(fact) : dataOfRun(fact, run)
  return fitting({ type: fact.kind, timestamp: fact.at.toISOString(), data })
}

function dataOfRun(fact: Fact, run: FactRun | null): Record<string, unknown> {
  const { seq, status = null, attempt = null } = fact.data
  return {
    run_id: fact.runId,
    seq,
    status,
    model: run?.model ?? null,
    model_version: run?.modelVersion ?? null,
    owner: fact.owner,
    queue: run?.queue ?? null,
    attempt,
    batch_id: fact.batchId,
    title: run?.title ?? null,
    tags: run?.tags ?? [],
    trace_parent: run?.traceParent ?? null,
    error: errorOf(fact, run),
    ...(fact.kind === 'document.duplicate' && { document: documentOf(fact) }),
  }
}

/** What is kept for us alone stays here. */
function dataOfOther({ owner, batchId, data }: Fact): Record<string, unknown> {
  const { has_documents: _, ...told } = data
  return { owner, ...(batchId !== null && { batch_id: batchId }), ...told }
}

const FAILURES: readonly string[] = ['run.failed', 'run.retry_scheduled', 'run.reclaimed']

/** The event of a lost worker does not name the class of its error; the run does, as long as no later attempt has failed. */
export function errorOf({ kind, data }: Fact, run: FactRun | null): { class: string; message: string } | null {
  if (!FAILURES.includes(kind)) return null
  const inner = data.data as { error_class?: unknown } | undefined
  const ofRun = run?.lastError?.attempt === data.attempt ? run?.lastError?.class : undefined
  const name = typeof inner?.error_class === 'string' ? inner.error_class : (ofRun ?? 'Error')
  const message = typeof data.message === 'string' ? data.message : ''
  return { class: cutText(name, SHORT_LENGTH_MAX), message: cutText(message, MESSAGE_LENGTH_MAX) }
}

export function documentOf({ data }: Fact): { name: string | null; file_id: unknown; upload_id: unknown } {
  const { name, file_id = null, upload_id = null } = (data.data ?? {}) as Record<string, unknown>
  return { name: typeof name === 'string' ? name : null, file_id, upload_id }
}

/** Messages are cut first, then tags are left out, and the fact says so. */
function fitting(body: FactBody): FactBody {
  if (bytesOf(body) <= BODY_BYTES_MAX) return body
  const error = body.data.error as { class: string; message: string } | null | undefined
  const tags = [...((body.data.tags as string[] | undefined) ?? [])]
  const data: Record<string, unknown> = { ...body.data, truncated: true }
  if (error) data.error = { ...error, message: cutText(error.message, SHORT_LENGTH_MAX) }
  while (bytesOf({ ...body, data }) > BODY_BYTES_MAX && tags.length > 0) {
    tags.pop()
    data.tags = [...tags]
  }
  return { ...body, data }
}

function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value))
}
