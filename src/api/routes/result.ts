/** The result of a run: its canonical JSON text as stored, or why there is none. */

import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { BlobMissing, type BlobStore } from '../../blob/blob.ts'
import { Refusal } from '../../run/errors.ts'
import type { RunStatus } from '../../run/status.ts'
import type { Run } from '../../store/store.ts'
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
  refusals: ['run-not-found', 'run-not-complete', 'run-failed', 'run-cancelled', 'result-missing'],
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
    return reply.send(text ?? (await storedBytes(blob, run)))
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

async function storedBytes(blob: BlobStore, run: Run): Promise<Buffer> {
  try {
    const bytes = await blob.get(run.resultRef!)
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  } catch (cause) {
    if (!(cause instanceof BlobMissing)) throw cause
    throw new Refusal('result-missing', `The run succeeded, but its stored result ${run.resultRef} is gone.`, { cause })
  }
}
