/** The files that the attempts of a run left: a list of them, and each for download, whatever its size, in little memory. */

import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { ARTIFACT_NAME_MAX, ArtifactList, ArtifactQuery } from '../../contract/artifact.ts'
import { PAGE_LIMIT_DEFAULT } from '../../contract/page.ts'
import { Refusal } from '../../run/errors.ts'
import type { StoredArtifact } from '../../store/ports/artifacts.ts'
import type { ApiDeps } from '../api.ts'
import { attachmentHeaders, etagOf } from '../attachment.ts'
import { createOpenDownloads } from '../open-downloads.ts'
import { openStored } from '../open-stored.ts'
import { checkedQuery } from '../query.ts'
import type { RouteDoc } from '../route-doc.ts'
import { RunParams } from '../run-path.ts'
import { sendJson } from '../send-json.ts'
import { visibleRunId } from '../visible-run.ts'

const LIST_DOC: RouteDoc = {
  summary: 'List the output files of a run',
  description:
    'In the order of attempts and names. Those of an attempt are there once it has ended; an attempt that lost its lease leaves none.',
  tag: 'runs',
  params: RunParams,
  query: ArtifactQuery,
  answers: { 200: { description: 'A page of the files.', schema: ArtifactList } },
  refusals: ['run-not-found'],
}

const ArtifactParams = RunParams.extend({
  attempt: z
    .string()
    .regex(/^\d{1,9}$/)
    .describe('The number of the attempt.'),
  name: z.string().min(1).max(ARTIFACT_NAME_MAX).describe('The name, percent-encoded; a slash in it is `%2F`.'),
})

const DOWNLOAD_DOC: RouteDoc = {
  summary: 'Download an output file',
  description: 'The bytes as the program left them, as a stream. Browsers save them and never show them.',
  tag: 'runs',
  params: ArtifactParams,
  headers: { 'if-none-match': 'The ETag of an earlier answer; 304 when it still holds.' },
  answers: {
    200: {
      description: 'The file.',
      type: 'application/octet-stream',
      headers: {
        'Content-Disposition': 'Always `attachment`, with the last part of the name.',
        'Content-Length': 'The bytes of the file.',
        'Repr-Digest': 'Their SHA-256, as RFC 9530 says.',
        ETag: 'The same. A file never changes.',
      },
    },
    304: { description: 'The file is the one the caller has.' },
  },
  refusals: ['run-not-found', 'artifact-not-found', 'artifact-missing', 'storage-unavailable'],
}

export function artifactRoutes(app: FastifyInstance, { store, blob }: ApiDeps): void {
  const downloads = createOpenDownloads()
  app.addHook('preClose', async () => downloads.close())

  app.get('/runs/:id/artifacts', { config: { role: 'viewer', doc: LIST_DOC } }, async (request, reply) => {
    const query = checkedQuery(request, ArtifactQuery)
    const runId = await visibleRunId(request, store)
    const { attempt = null, limit = PAGE_LIMIT_DEFAULT, cursor = null } = query
    const { items, nextCursor } = await store.artifacts.list(runId, { attempt, limit, cursor })
    const answer: ArtifactList = { data: items.map((item) => presented(runId, item)), next_cursor: nextCursor }
    return sendJson(reply, answer)
  })

  const download = { config: { role: 'viewer', doc: DOWNLOAD_DOC } } as const
  app.get('/runs/:id/artifacts/:attempt/:name', download, async (request, reply) => {
    const runId = await visibleRunId(request, store)
    const params = ArtifactParams.safeParse(request.params)
    if (!params.success) throw notFound()
    const { attempt, name } = params.data
    const artifact = await store.artifacts.find(runId, Number(attempt), name)
    if (!artifact) throw notFound()
    if (request.headers['if-none-match'] === etagOf(artifact.sha256)) {
      return reply.code(304).header('ETag', etagOf(artifact.sha256)).send()
    }
    const opened = await openStored(blob, artifact, gone(artifact))
    reply.headers(attachmentHeaders(artifact)).header('Content-Length', artifact.bytes)
    if (Buffer.isBuffer(opened)) return reply.send(opened)
    const { stream } = opened
    // The head alone needs no byte of the file.
    if (request.method === 'HEAD') stream.destroy()
    downloads.add(stream)
    return reply.send(stream)
  })
}

function presented(runId: string, { name, attempt, bytes, sha256 }: StoredArtifact): ArtifactList['data'][number] {
  const href = `/runs/${runId}/artifacts/${attempt}/${encodeURIComponent(name)}`
  return { name, attempt, bytes, sha256, href }
}

function notFound(): Refusal {
  return new Refusal('artifact-not-found', 'This attempt of the run left no file of that name.')
}

function gone({ ref }: StoredArtifact): (cause: unknown) => Refusal {
  const detail = `The stored bytes ${ref} of this output file are gone or damaged.`
  return (cause) => new Refusal('artifact-missing', detail, { cause })
}
