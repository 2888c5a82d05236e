/** The parts of the OpenAPI document that no route says: what the service is, how to be let in, and what its tags mean. */

import type { JsonSchema } from './openapi-schemas.ts'

/** Names are only ever added within a version; see docs/reference/http-api.md. */
const API_VERSION = '1'

export const INFO = {
  title: 'Holdfast',
  version: API_VERSION,
  description: [
    'Holdfast runs expensive computations durably. A request is accepted once; a run reaches exactly one terminal state,',
    'once; every attempt is recorded; only the current lease holder’s result is ever visible; your code may execute more',
    'than once.\n\nBodies and answers are JSON in UTF-8, names are snake_case, times are ISO 8601 in UTC, whole numbers lie',
    'within ±(2^53 − 1). Every name of an answer is always there; what does not exist is null. Every error is an RFC 9457',
    'problem with a stable `code`. HEAD is answered wherever GET is; another method than those described gets 405 with',
    '`Allow`, another path 404.',
  ].join(' '),
  license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
}

/** The last one: no credentials, which suffice on this machine as long as there are no tokens. */
export const SECURITY: JsonSchema[] = [{ token: [] }, { session: [] }, {}]

export const SECURITY_SCHEMES: Record<string, JsonSchema> = {
  token: {
    type: 'http',
    scheme: 'bearer',
    description:
      'A token made by `holdfast token create` or `POST /tokens`. Each operation says in `x-role` which role it needs.',
  },
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: '__Host-holdfast',
    description:
      'A session of a browser, got for a token by `POST /session`. On plain http on this machine the cookie is `holdfast`.',
  },
}

export const SHARED_HEADERS: Record<string, JsonSchema> = {
  'X-Request-Id': {
    description: 'The id of the request, as in the log: the one that the caller sent, or a new one.',
    schema: { type: 'string' },
  },
  'Retry-After': {
    description: 'Seconds to wait before the request is sent again.',
    schema: { type: 'integer', minimum: 0 },
  },
  RateLimit: {
    description:
      'What is left of the caller’s requests and the seconds until all of them are back. Only where there is a limit.',
    schema: { type: 'string' },
  },
  'RateLimit-Policy': {
    description: 'How many requests the caller may make in how many seconds. Only where there is a limit.',
    schema: { type: 'string' },
  },
  'WWW-Authenticate': { description: 'How to be let in.', schema: { type: 'string' } },
}

export const TAGS = [
  { name: 'runs', description: 'Submit, read, list, cancel and retry runs.' },
  { name: 'files', description: 'Upload, download and delete files, alone or each with a run of a model.' },
  { name: 'events', description: 'What happened to runs, as it happens.' },
  { name: 'batches', description: 'Runs and uploads that belong together, and how far they are.' },
  { name: 'bulk', description: 'One act on every run that a filter names.' },
  { name: 'models', description: 'What can be run, with the schema of its parameters.' },
  { name: 'queues', description: 'Where runs wait: pause, resume, depth.' },
  { name: 'workers', description: 'Who executes runs.' },
  { name: 'stats', description: 'Counts, throughput and durations over time.' },
  { name: 'quotas', description: 'Limits of owners and models, and places reserved within them.' },
  { name: 'deliveries', description: 'Who hears of what happens (webhooks and mail), and what was sent to them.' },
  { name: 'views', description: 'Saved filters.' },
  { name: 'access', description: 'Tokens and sessions.' },
  { name: 'service', description: 'Health, metrics and this document.' },
]
