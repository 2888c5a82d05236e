/** What the routes of files say about themselves. */

import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { FILE_ID, UploadAnswer, UploadList, UploadListQuery, UploadQuery } from '../../contract/file.ts'
import { Refusal } from '../../run/errors.ts'
import type { RouteDoc } from '../route-doc.ts'

export const FileParams = z.strictObject({
  id: z.string().regex(FILE_ID).describe('The id of the file: the SHA-256 of its bytes, hexadecimal.'),
})

/** Of the path; what is no digest is no file. */
export function fileIdOf(request: FastifyRequest): string {
  const params = FileParams.safeParse(request.params)
  if (!params.success) throw noSuchFile(request)
  return params.data.id
}

export function noSuchFile(request: FastifyRequest): Refusal {
  const { id } = request.params as { id: string }
  return new Refusal('no-such-file', `There is no file ${JSON.stringify(id)}.`)
}

const FORM = {
  type: 'object',
  properties: {
    model: { type: 'string', description: 'The model that is to have each file.' },
    model_version: { type: 'string' },
    parameters: { type: 'string', description: 'The other parameters of the runs, as a JSON object.' },
    batch: { type: 'string', format: 'uuid', description: 'The batch the uploads belong to.' },
    title: { type: 'string', description: 'Of the batch or, without one, of the run.' },
    file: {
      type: 'array',
      items: { type: 'string', format: 'binary' },
      description: 'One or more, after all other fields.',
    },
  },
  required: ['file'],
}

const RUN_REFUSALS = [
  'invalid-body',
  'idempotency-key-invalid',
  'quota-exceeded',
  'cost-limit-exceeded',
  'concurrency-limit',
  'cost-not-computable',
  'reservation-not-found',
  'reservation-not-active',
  'unknown-model',
  'unknown-model-version',
  'batch-not-found',
  'idempotency-key-reused',
  'invalid-parameters',
  'file-not-found',
  'model-takes-no-file',
  'redaction-marker',
  'storage-unavailable',
] as const

export const UPLOAD_DOC: RouteDoc = {
  summary: 'Upload files',
  description: [
    'As a form with one or more fields `file`, which come after all others, or as a body that is the file, of any content type, with the rest in',
    'the query. With `model` a run is made with each file, in one step; what the owner had handed in before makes none, and the answer leads to the',
    'first. Files share a batch when there are several or when one is named. A file of several that is refused has its problem in its place and undoes none of',
    'the others. There is no limit on the time an upload takes, only on silence.',
  ].join(' '),
  tag: 'files',
  query: UploadQuery,
  content: {
    'multipart/form-data': FORM,
    'application/octet-stream': { type: 'string', format: 'binary' },
  },
  headers: {
    'idempotency-key': 'A repeat with the same key makes nothing new and answers what the first request was answered.',
    'content-disposition': "Of a body that is the file: `attachment; filename*=UTF-8''name.pdf`.",
    'holdfast-owner': 'For whom the files are stored, where the caller may act for others.',
    traceparent: 'W3C trace context; kept on each run.',
  },
  answers: {
    200: { description: 'Every file had been accepted by an earlier request, or was refused.', schema: UploadAnswer },
    201: { description: 'What became of each file.', schema: UploadAnswer },
  },
  refusals: [...RUN_REFUSALS, 'file-too-large', 'too-many-files', 'storage-full'],
}

export const AGAIN_DOC: RouteDoc = {
  summary: 'Hand in a file again',
  description: [
    'An upload of a file that the caller has, without its bytes: for another model, or to have it on record in a batch that it came a second',
    'time. What is a duplicate, and what becomes of it, is as if the bytes had come. A file that the caller does not have, or whose bytes are lost, is not',
    'found; send its bytes then.',
  ].join(' '),
  tag: 'files',
  params: FileParams,
  query: UploadQuery,
  headers: {
    'idempotency-key': 'A repeat with the same key makes nothing new and answers what the first request was answered.',
    'holdfast-owner': 'Whose file it is, where the caller may act for others.',
    traceparent: 'W3C trace context; kept on the run.',
  },
  answers: {
    200: { description: 'An earlier request with this key had been accepted.', schema: UploadAnswer },
    201: { description: 'What became of it.', schema: UploadAnswer },
  },
  refusals: [...RUN_REFUSALS, 'no-such-file'],
}

export const LIST_DOC: RouteDoc = {
  summary: 'List uploads',
  description:
    'Newest first, one page at a time, duplicates too, each with the state of its run; of a run that was retried, with its newest retry.',
  tag: 'files',
  query: UploadListQuery,
  answers: { 200: { description: 'A page of uploads.', schema: UploadList } },
  refusals: [],
}

const DOWNLOAD_HEADERS = {
  'Content-Disposition': 'Always `attachment`, with the name of the latest upload.',
  'Content-Length': 'The bytes that follow.',
  'Accept-Ranges': '`bytes`.',
  'Repr-Digest': 'The SHA-256 of the whole file, as RFC 9530 says.',
  ETag: 'The same. A file never changes.',
}

export const DOWNLOAD_DOC: RouteDoc = {
  summary: 'Download a file',
  description:
    'The bytes as they were uploaded, as a stream. Browsers save them and never show them. Bytes that are damaged where they are stored are not sent as if they were whole.',
  tag: 'files',
  params: FileParams,
  headers: {
    range: 'One range, such as `bytes=0-1023` or `bytes=-500`.',
    'if-range': 'The ETag of the file the range is meant for; of another file the whole is sent.',
    'if-none-match': 'The ETag of an earlier answer; 304 when it still holds.',
  },
  answers: {
    200: { description: 'The file.', type: 'application/octet-stream', headers: DOWNLOAD_HEADERS },
    206: {
      description: 'The range of it.',
      type: 'application/octet-stream',
      headers: { ...DOWNLOAD_HEADERS, 'Content-Range': 'Which bytes of how many.' },
    },
    304: { description: 'The file is the one the caller has.' },
  },
  refusals: ['no-such-file', 'range-not-satisfiable', 'file-missing', 'storage-unavailable'],
}

export const DELETE_DOC: RouteDoc = {
  summary: 'Delete a file',
  description: [
    'The caller gives the file up, with the records of the uploads that brought it. Others who have it keep it; when nobody does, its bytes',
    'are deleted some time later. Not while a run of the caller has it among its parameters.',
  ].join(' '),
  tag: 'files',
  params: FileParams,
  headers: { 'holdfast-owner': 'Whose file it is, where the caller may act for others.' },
  answers: { 204: { description: 'The caller has the file no more.' } },
  refusals: ['no-such-file', 'file-in-use'],
}
