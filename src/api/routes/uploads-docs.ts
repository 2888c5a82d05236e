/** What the routes of resumable uploads say about themselves. */

import { z } from 'zod'
import { ResumableUploadObject } from '../../contract/resumable-upload.ts'
import type { ErrorCode } from '../../run/errors.ts'
import type { RouteDoc } from '../route-doc.ts'
import {
  COST_WARNING_HEADER,
  QUOTA_WARNINGS_HEADER,
  TUS_BODY_TYPE,
  TUS_EXTENSIONS,
  TUS_VERSION,
} from '../tus-headers.ts'

const params = z.strictObject({ id: z.guid().describe('The id of the resumable upload.') })
const VERSION = { 'tus-resumable': `The version of tus: \`${TUS_VERSION}\`.` }
const BYTES = { [TUS_BODY_TYPE]: { type: 'string', format: 'binary' } }
const EXPIRES = { 'Upload-Expires': 'When the upload is forgotten unless more of it comes.' }
const WARNINGS = {
  [QUOTA_WARNINGS_HEADER]:
    'With the last byte: the `quota_warnings` of the run, as a JSON array; not there when there are none.',
  [COST_WARNING_HEADER]: 'Likewise its `cost_limit_warning`.',
}
const OFFSET = { 'Upload-Offset': 'How many bytes have arrived.' }

/** What an upload can be refused with when its last byte has come. */
const AT_THE_END: ErrorCode[] = [
  'quota-exceeded',
  'cost-limit-exceeded',
  'concurrency-limit',
  'cost-not-computable',
  'reservation-not-found',
  'reservation-not-active',
  'unknown-model',
  'unknown-model-version',
  'model-takes-no-file',
  'invalid-parameters',
  'file-not-found',
  'redaction-marker',
  'override-not-allowed',
  'idempotency-key-reused',
  'storage-full',
  'storage-unavailable',
]

export const OPTIONS_DOC: RouteDoc = {
  summary: 'Ask what the service can do of tus',
  tag: 'files',
  answers: {
    204: {
      description: 'The abilities, in headers.',
      headers: {
        'Tus-Version': `\`${TUS_VERSION}\`.`,
        'Tus-Extension': `\`${TUS_EXTENSIONS}\`.`,
        'Tus-Max-Size': 'The bytes of the largest upload.',
      },
    },
  },
  refusals: ['unsupported-media-type'],
}

export const CREATE_DOC: RouteDoc = {
  summary: 'Begin a resumable upload',
  description: [
    'By the tus protocol, which client libraries of many languages speak. The body may bring the first bytes.',
    'What the upload asks for is checked now, so that a model that does not exist or parameters that do not fit',
    'are refused before the bytes are sent.',
  ].join(' '),
  tag: 'files',
  content: BYTES,
  headers: {
    ...VERSION,
    'upload-length': 'All bytes of the upload.',
    'upload-metadata': [
      'Names with values in base64, separated by commas. Known are `filename`, `filetype`, and, with the meaning',
      'they have for `POST /files`, `model`, `model_version`, `parameters`, `reservation_id`, `title`, `batch` and `key`, which',
      'stands for the header `Idempotency-Key`.',
    ].join(' '),
  },
  answers: {
    201: {
      description: 'The upload has begun.',
      headers: { Location: 'Where to send its bytes.', ...OFFSET, ...EXPIRES, ...WARNINGS },
    },
  },
  refusals: ['tus-version', 'file-too-large', 'upload-limit', 'batch-not-found', 'upload-offset', ...AT_THE_END],
}

export const SEND_DOC: RouteDoc = {
  summary: 'Send bytes of a resumable upload',
  description: [
    'Also when the request breaks off, what has arrived is kept; `HEAD` says how much that is. The answer to the',
    'last byte comes when the upload has become a file and, where a model was named, its run has been created.',
  ].join(' '),
  tag: 'files',
  params,
  content: BYTES,
  headers: {
    ...VERSION,
    'upload-offset': 'Where these bytes begin: the `Upload-Offset` that the service answered last.',
  },
  answers: { 204: { description: 'The bytes are kept.', headers: { ...OFFSET, ...EXPIRES, ...WARNINGS } } },
  refusals: ['tus-version', 'upload-not-found', 'upload-offset', ...AT_THE_END],
}

export const READ_DOC: RouteDoc = {
  summary: 'Read a resumable upload',
  description: [
    'As JSON, with the upload that it has become once it is finished. `HEAD` answers as tus says:',
    '`Upload-Offset`, `Upload-Length`, `Upload-Metadata` and `Upload-Expires` in headers.',
  ].join(' '),
  tag: 'files',
  params,
  answers: { 200: { description: 'The resumable upload.', schema: ResumableUploadObject } },
  refusals: ['tus-version', 'upload-not-found', ...AT_THE_END],
}

export const DELETE_DOC: RouteDoc = {
  summary: 'Give a resumable upload up',
  description: 'Its bytes are deleted. The file that a finished one has become stays.',
  tag: 'files',
  params,
  headers: VERSION,
  answers: { 204: { description: 'The upload is gone.' } },
  refusals: ['tus-version', 'upload-not-found'],
}
