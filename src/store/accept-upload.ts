/**
 * Accept: an upload whose bytes are durable becomes a row, together with its file, the right of its owner to see it and, when it asks
 * for one, its run. One transaction; what is a duplicate is decided in it, by rows of the owner alone.
 *
 * Every accept takes its rows in the same order: file, owner's file, document, the run that a duplicate leads to, upload. So two of them
 * wait for each other and never in a circle. A file that is being forgotten at the same moment fails a foreign key, and the next try
 * stores it anew. After a lost reply the upload is looked for by its id.
 *
 * A run that something limits is admitted in the same transaction (`admit.ts`), whose locks come before all of these rows. A refusal undoes
 * everything. Where a rule is new and was not known of, the submit statement tells, and the next try takes the locks.
 */

import type pg from 'pg'
import { Refusal } from '../run/errors.ts'
import { fileNotFound } from '../run/file-not-found.ts'
import { ADMISSION_PARTS } from './admission-parts.ts'
import { type Admission, type Begun, createAdmission, explainRefusals } from './admit.ts'
import { ALONE_PATIENCE } from './admit-batch.ts'
import { announceQuotas } from './announce-quotas.ts'
import { findRepeat } from './find-repeat.ts'
import { inTransaction } from './in-transaction.ts'
import { insertRuns } from './insert-runs.ts'
import type { Lanes } from './lanes.ts'
import {
  detailOf,
  isConnectionLost,
  isForeignKeyViolation,
  isLockTimeout,
  isSerializationFailure,
  isStatementTimeout,
  unavailable,
} from './pg-errors.ts'
import type { AcceptedUpload, NewUpload } from './ports/files.ts'
import { createRuleCopy, type RuleCopy } from './quota-rules.ts'
import { RUN_COLUMNS, type RunRow, runOfNew, runOfRow } from './run-row.ts'
import type { NewRun, Submitted } from './store.ts'

// Each part waits for the one before it, because it counts its rows.
const TAKE = `
WITH stored AS (
  INSERT INTO files (id, bytes, type, ref, created_at) VALUES ($1, $2, $3, $4, clock()) ON CONFLICT DO NOTHING RETURNING id
), owned AS (
  INSERT INTO owner_files (owner, file_id, created_at)
  SELECT $5, $1, clock() WHERE (SELECT count(*) FROM stored) >= 0 ON CONFLICT DO NOTHING RETURNING file_id
), documented AS (
  INSERT INTO documents (owner, payload_hash, file_id, run_id, created_at)
  SELECT $5, $6, $1, $7::uuid, clock() WHERE $6::text IS NOT NULL AND (SELECT count(*) FROM owned) >= 0
  ON CONFLICT DO NOTHING RETURNING run_id
)
SELECT EXISTS (SELECT FROM stored) AS is_stored, EXISTS (SELECT FROM owned) AS is_new, EXISTS (SELECT FROM documented) AS is_first`

// Held until the commit, so that what was found cannot be given up or forgotten meanwhile.
const HOLD_FILE = `
SELECT f.ref FROM files f JOIN owner_files o ON o.file_id = f.id WHERE f.id = $1 AND o.owner = $2 FOR KEY SHARE`

const HOLD_DOCUMENT = `SELECT run_id FROM documents WHERE owner = $1 AND payload_hash = $2 FOR UPDATE`

const TELL_FIRST = `
WITH first AS (
  UPDATE model_runs SET event_seq = event_seq + 1 WHERE id = $1 RETURNING ${RUN_COLUMNS}
), told AS (
  INSERT INTO run_events (run_id, seq, type, at, status, message, data)
  SELECT id, event_seq, 'document.duplicate', clock(), status, 'the same document was uploaded again', $2::jsonb FROM first
)
SELECT * FROM first`

/** For a document whose run is not there any more. */
const TAKE_OVER = `UPDATE documents SET run_id = $3, file_id = $4 WHERE owner = $1 AND payload_hash = $2`

const RECORD = `
INSERT INTO file_uploads (id, owner, file_id, name, type, batch_id, run_id, duplicate, key, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, clock()) ON CONFLICT DO NOTHING RETURNING created_at`

const RETRY_MS_MAX = 200

export type AcceptOptions = {
  /** Waits for others up to its own lock timeout. */
  pool: pg.Pool
  lanes: Lanes
  admission?: Admission
  rules?: RuleCopy
  retryForMs?: number
}

/** How the run of an upload is made. `begun` where admission has its locks, null where nothing is known to limit the run. */
export type Making = { lanes: Lanes; admission: Admission; begun: Begun | null }

class RuleMet extends Error {}

class NotHeld extends Error {}

export function createAccept({
  pool,
  lanes,
  admission = createAdmission(ADMISSION_PARTS),
  rules = createRuleCopy(pool),
  retryForMs = 10_000,
}: AcceptOptions): (upload: NewUpload) => Promise<AcceptedUpload | Refusal> {
  async function write(upload: NewUpload, isRuled: boolean): Promise<AcceptedUpload | null> {
    const { run } = upload
    const isLimited = run !== null && (isRuled || rules.concern(run) || admission.concerns(run))
    return inTransaction(pool, async (client) => {
      const begun = isLimited ? await admission.begin(client, [run], ALONE_PATIENCE) : null
      return writeUpload(client, upload, { lanes, admission, begun })
    })
  }

  /** The transaction is undone, so the fact has one of its own. A failure leaves it out: the uploader is told in any case. */
  async function refused({ owner }: NewUpload, refusal: Refusal): Promise<Refusal> {
    await announceQuotas(pool, { refused: [{ owner, refusal }] }).catch(() => {})
    return refusal
  }

  return async (upload) => {
    const giveUpAt = performance.now() + retryForMs
    let mayBeKnown = upload.key !== null
    let isRuled = false
    for (let tries = 1; ; tries += 1) {
      try {
        const known = mayBeKnown ? await findRepeat(pool, upload) : null
        if (known) return known
        if (upload.run) await lanes.ensure(pool, [upload.run])
        const accepted = await write(upload, isRuled)
        if (accepted && upload.run) await lanes.list(pool, [upload.run])
        if (accepted) return accepted
      } catch (error) {
        // After a lost reply it may be the upload itself that takes the last place.
        if (error instanceof Refusal) return (mayBeKnown && (await findRepeat(pool, upload))) || refused(upload, error)
        if (error instanceof NotHeld) return noSuchFile(upload)
        isRuled ||= error instanceof RuleMet
        if (isFileGone(error) && !detailOf(error).includes(upload.file.id)) return otherFileGone(upload, error)
        if (!isPassing(error)) throw error
        if (performance.now() > giveUpAt) return givenUp(error)
      }
      if (performance.now() > giveUpAt) return givenUp(null)
      mayBeKnown = true
      await pause(Math.min(RETRY_MS_MAX, 2 ** tries) * Math.random())
    }
  }
}

/** The statements of one transaction. Null: something was there that this try cannot go on with; another one finds out what. */
export async function writeUpload(
  client: pg.PoolClient,
  upload: NewUpload,
  making: Making,
): Promise<AcceptedUpload | null> {
  const { file, owner, run } = upload
  const taken = await client.query<{ is_stored: boolean; is_new: boolean; is_first: boolean }>({
    name: 'take_file',
    text: TAKE,
    values: [file.id, file.bytes, file.type, file.ref, owner, run?.payloadHash ?? null, run?.id ?? null],
  })
  const { is_stored: isStored, is_new: isNew, is_first: isFirst } = taken.rows[0]!
  if (upload.isHeld && (isStored || isNew)) throw new NotHeld()
  const held = isStored ? [{ ref: file.ref }] : (await client.query<{ ref: string }>(HOLD_FILE, [file.id, owner])).rows
  if (!held[0]) return null
  const submitted =
    run && (isFirst ? await createRun(client, run, making) : await leadToFirst(client, upload, run, making))
  if (run && !submitted) return null
  const duplicate = submitted ? submitted.idempotentHit : !isNew
  const runId = submitted?.run.id ?? null
  const values = [upload.id, owner, file.id, upload.name, file.type, upload.batchId, runId, duplicate, upload.key]
  const recorded = await client.query<{ created_at: Date }>({ name: 'record_upload', text: RECORD, values })
  if (!recorded.rows[0]) return null
  const { id, name, batchId } = upload
  const { bytes, type } = file
  const createdAt = recorded.rows[0].created_at
  return {
    upload: { id, owner, fileId: file.id, name, bytes, type, batchId, runId, duplicate, createdAt },
    run: submitted,
    isStored,
    isRepeat: false,
    ref: held[0].ref,
  }
}

/** Null: begin again. */
async function createRun(
  client: pg.PoolClient,
  run: NewRun,
  { lanes, admission, begun }: Making,
): Promise<Submitted | null> {
  if (begun) {
    const outcome = await admission.admit(client, [run], begun, lanes.of)
    if (outcome?.refused[0]) await explainRefusals(client as unknown as pg.Pool, outcome.refused)
    if (outcome?.refused[0]) throw outcome.refused[0].refusal
    return outcome?.created.get(run) ?? null
  }
  const { createdAtMs, isCreated, isRuled } = await insertRuns(client, [run], lanes.of)
  if (isRuled) throw new RuleMet(`a rule is about the run ${run.id}`)
  if (!isCreated(run)) throw new Error(`the run ${run.id} of an upload was not created`)
  const createdAt = new Date(createdAtMs)
  const etaMs = run.availableAt === null ? 0 : Date.parse(run.availableAt)
  return { run: runOfNew(run, createdAt, etaMs > createdAtMs ? new Date(etaMs) : createdAt), idempotentHit: false }
}

async function leadToFirst(
  client: pg.PoolClient,
  upload: NewUpload,
  run: NewRun,
  making: Making,
): Promise<Submitted | null> {
  const { owner, file, id, name, batchId } = upload
  const document = await client.query<{ run_id: string }>(HOLD_DOCUMENT, [owner, run.payloadHash])
  // Given up at this moment together with another file, of which the payload does not tell.
  if (!document.rows[0]) return null
  const firstId = document.rows[0].run_id
  const data = JSON.stringify({ upload_id: id, file_id: file.id, name, batch_id: batchId })
  const first = await client.query<RunRow>({ name: 'tell_first', text: TELL_FIRST, values: [firstId, data] })
  if (first.rows[0]) return { run: runOfRow(first.rows[0]), idempotentHit: true }
  await client.query(TAKE_OVER, [owner, run.payloadHash, run.id, file.id])
  return createRun(client, run, making)
}

function isFileGone(error: unknown): boolean {
  return ['owner_files', 'documents', 'file_uploads', 'run_files'].some((table) =>
    isForeignKeyViolation(error, `${table}_file_id_fkey`),
  )
}

function isPassing(error: unknown): boolean {
  return (
    isFileGone(error) ||
    error instanceof RuleMet ||
    isLockTimeout(error) ||
    isStatementTimeout(error) ||
    isSerializationFailure(error) ||
    isConnectionLost(error)
  )
}

/** A file that is not this upload's own, and that was given up after the request had been checked. */
function otherFileGone({ run, file }: NewUpload, error: unknown): Refusal {
  const others = (run?.files ?? []).filter(({ fileId }) => fileId !== file.id)
  const gone = others.filter(({ fileId }) => detailOf(error).includes(fileId))
  return fileNotFound(gone.length > 0 ? gone : others)
}

function noSuchFile({ file }: NewUpload): Refusal {
  return new Refusal('no-such-file', `There is no file ${JSON.stringify(file.id)}.`)
}

function givenUp(error: unknown): Refusal {
  if (isConnectionLost(error)) return unavailable(error)
  return new Refusal('busy', 'Other uploads of the same file took too long.', { cause: error })
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
