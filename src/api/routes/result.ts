/** The result of a run: its canonical JSON text as stored, or why there is none. */

import { createHash } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { BlobMissing } from '../../blob/blob.ts'
import { Refusal } from '../../run/errors.ts'
import { resultHash } from '../../run/payload-hash.ts'
import type { RunStatus } from '../../run/status.ts'
import type { Run, Store } from '../../store/store.ts'
import type { ApiDeps } from '../api.ts'
import { principalOf } from '../principal.ts'
import type { RouteDoc } from '../route-doc.ts'
import { RunParams, runIdOf } from '../run-path.ts'
import { assertVisible } from '../visible-run.ts'

const DOC: RouteDoc = {
  summary: 'Read the result of a run',
  description: 'The JSON that the model returned, as it was stored. There is one only once the run has succeeded.',
  tag: 'runs',
  params: RunParams,
  headers: { 'if-none-match': 'The ETag of an earlier answer; 304 when it still holds.' },
  answers: {
    200: {
      description: 'The result.',
      schema: z.unknown(),
      headers: { ETag: 'The hash of the result. A result never changes.' },
    },
    304: { description: 'The result is the one the caller has.' },
  },
  refusals: [
    'run-not-found',
    'run-not-complete',
    'run-failed',
    'run-cancelled',
    'result-missing',
    'storage-unavailable',
  ],
}

export function resultRoutes(app: FastifyInstance, { store, blob }: ApiDeps): void {
  app.get('/runs/:id/result', { config: { role: 'viewer', doc: DOC } }, async (request, reply) => {
    const id = runIdOf(request)
    const found = await store.readResult(id)
    assertVisible(principalOf(request), found?.run, id)
    const { run, text } = found!
    if (run.status !== 'SUCCEEDED') throw noResult(run, run.status)
    // The result of a run never changes, so its hash names the bytes of this address.
    const etag = `"${run.resultHash}"`
    reply.header('ETag', etag)
    if (request.headers['if-none-match'] === etag) return reply.code(304).send()
    reply.header('Content-Type', 'application/json; charset=utf-8').header('X-Content-Type-Options', 'nosniff')
    return reply.send(text ?? (await storedBytes({ store, blob }, run)))
  })
}

function noResult(run: Run, status: Exclude<RunStatus, 'SUCCEEDED'>): Refusal {
  const extra = { run_status: status }
  if (status === 'FAILED') {
    const why = run.lastError ? ` (${run.lastError.class})` : ''
    return new Refusal('run-failed', `The run failed${why} and has no result.`, { extra })
  }
  if (status === 'CANCELLED') return new Refusal('run-cancelled', 'The run was cancelled and has no result.', { extra })
  return new Refusal('run-not-complete', `The run is ${status} and has no result yet.`, { extra })
}

async function storedBytes({ store, blob }: Pick<ApiDeps, 'store' | 'blob'>, run: Run): Promise<Buffer> {
  const lacking = (what: string, cause?: unknown) =>
    new Refusal('result-missing', `The run succeeded, but its stored result ${run.resultRef} is ${what}.`, { cause })
  let bytes: Uint8Array
  try {
    bytes = await blob.get(run.resultRef!)
  } catch (cause) {
    if (!(cause instanceof BlobMissing)) throw cause
    throw lacking('gone', cause)
  }
  const stored = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (!(await isAsHashed(store, run, stored))) throw lacking('damaged: it is not what was stored')
  return stored
}

/** The hash leaves out what the model declares volatile, so only where it differs need the model be looked up. */
async function isAsHashed(store: Pick<Store, 'findModel'>, run: Run, stored: Buffer): Promise<boolean> {
  if (createHash('sha256').update(stored).digest('hex') === run.resultHash) return true
  const volatile = (await store.findModel(run.model, run.modelVersion))?.definition.volatile ?? []
  if (volatile.length === 0) return false
  try {
    return resultHash(stored.toString(), volatile) === run.resultHash
  } catch {
    return false
  }
}
