/** What the routes of runs say about themselves. */

import { ListAnswer, ListQuery } from '../../contract/list.ts'
import { RunObject, SubmitAnswer } from '../../contract/run.ts'
import { SubmitBody } from '../../contract/submit.ts'
import type { RouteDoc } from '../route-doc.ts'
import { RunParams } from '../run-path.ts'

const PREFER = '`wait=N` holds the answer back for up to N seconds, at most 60, until the run has ended.'
const APPLIED = { 'Preference-Applied': '`wait=N`, when the answer was held back.' }

export const SUBMIT_DOC: RouteDoc = {
  summary: 'Submit a run',
  description: [
    'A request with an idempotency key makes one run, however often it is sent. Without a key, an equal payload of the same owner',
    'within the dedupe window gets the run that is already active.\n\nA new run must fit into every quota that applies to its owner and',
    'model; the refusal names the `rule` and the `limit` that bound, its `maximum`, how much is `used`, and in `holders` some of the runs and',
    'reservations that use it. Limits that are nearly used up are told in `quota_warnings` and `cost_limit_warning`. With `reservation_id` the',
    'run takes over a place that was held for it.',
  ].join(' '),
  tag: 'runs',
  body: SubmitBody,
  headers: {
    'idempotency-key': '1 to 255 printable ASCII characters, bare or quoted. The same key and payload make one run.',
    'holdfast-owner': 'For whom the run is made, where the caller may act for others.',
    traceparent: 'W3C trace context; kept on the run.',
    prefer: `${PREFER} It never changes the status.`,
  },
  answers: {
    200: {
      description: 'An earlier request made this run; its state now.',
      schema: SubmitAnswer,
      headers: { 'Idempotent-Replayed': '`true`.', ...APPLIED },
    },
    201: {
      description: 'The run was created.',
      schema: SubmitAnswer,
      headers: { Location: 'The path of the run.', ...APPLIED },
    },
  },
  refusals: [
    'idempotency-key-invalid',
    'idempotency-key-mismatch',
    'quota-exceeded',
    'cost-limit-exceeded',
    'concurrency-limit',
    'cost-not-computable',
    'reservation-not-found',
    'reservation-not-active',
    'unknown-model',
    'unknown-model-version',
    'run-not-found',
    'idempotency-key-reused',
    'invalid-parameters',
    'redaction-marker',
    'override-not-allowed',
  ],
}

export const READ_DOC: RouteDoc = {
  summary: 'Read a run',
  description: 'With its attempts, and for a waiting run the reason why it waits.',
  tag: 'runs',
  params: RunParams,
  headers: {
    'if-none-match': 'The ETag of an earlier answer; 304 when the run is still the same.',
    prefer: `${PREFER} With \`If-None-Match\`, until it is another than the one that names.`,
  },
  answers: {
    200: {
      description: 'The run.',
      schema: RunObject,
      headers: { ETag: 'Weak: names the state of the run and why it waits.', ...APPLIED },
    },
    304: { description: 'The run is the one the caller has.' },
  },
  refusals: ['run-not-found'],
}

export const LIST_DOC: RouteDoc = {
  summary: 'List runs',
  description: [
    'Newest first, one page at a time. Different names of the filter must all fit, several values of one name are alternatives: repeat',
    'the name or put commas between (`\\,` for a comma inside a value). `not_…` leaves out what has one of its values. `created_after` is',
    'at that moment or later, `created_before` before it. `text` is the beginning of the title (whatever its case), of the run id or',
    'of the error class.\n\nA page costs the same however many runs there are: it looks at a bounded number of them. So a page may be',
    'short, or even empty, while `next_cursor` is not null; the list is over when it is null. A cursor goes on with the filter and',
    'order it came from and with no other.',
  ].join(' '),
  tag: 'runs',
  query: ListQuery,
  answers: { 200: { description: 'A page of runs.', schema: ListAnswer } },
  refusals: [],
}
