/** What the routes of bulk operations say about themselves. */

import { z } from 'zod'
import {
  BulkBody,
  BulkCancelBody,
  BulkCount,
  BulkItemsAnswer,
  BulkItemsQuery,
  BulkListAnswer,
  BulkObject,
} from '../../contract/bulk.ts'
import { PageQuery } from '../../contract/page.ts'
import type { RouteDoc } from '../route-doc.ts'

const BulkParams = z.strictObject({ id: z.guid().describe('The id of the bulk operation.') })

export const CREATE_DOC: RouteDoc = {
  summary: 'Cancel or retry all runs that match a filter',
  description: [
    'The filter has the names of the list of runs and must name at least one. A cancel concerns runs that are PENDING or RUNNING. A retry',
    'concerns FAILED runs, and SUCCEEDED or CANCELLED ones only when `status` names them. Runs made after this request are not touched.',
    'With `dry_run` the runs are only counted. Otherwise the operation goes on in the background, also across restarts.',
  ].join(' '),
  tag: 'bulk',
  body: BulkBody,
  headers: { 'idempotency-key': 'The same key and body lead to the same operation, however often they are sent.' },
  answers: {
    200: { description: 'Of a dry run: how many runs match.', schema: BulkCount },
    202: {
      description: 'The operation, which has just begun or which an earlier request with this key began.',
      schema: BulkObject,
      headers: {
        Location: 'The path of the operation.',
        'Idempotent-Replayed': '`true` when an earlier request began it.',
      },
    },
  },
  refusals: ['idempotency-key-invalid', 'idempotency-key-reused'],
}

export const LIST_DOC: RouteDoc = {
  summary: 'List bulk operations',
  description: 'Newest first, one page at a time.',
  tag: 'bulk',
  query: PageQuery,
  answers: { 200: { description: 'A page of bulk operations.', schema: BulkListAnswer } },
  refusals: [],
}

export const READ_DOC: RouteDoc = {
  summary: 'Read the progress of a bulk operation',
  tag: 'bulk',
  params: BulkParams,
  answers: { 200: { description: 'The operation.', schema: BulkObject } },
  refusals: ['bulk-not-found'],
}

export const ITEMS_DOC: RouteDoc = {
  summary: 'Read what a bulk operation did to each run',
  tag: 'bulk',
  params: BulkParams,
  query: BulkItemsQuery,
  answers: { 200: { description: 'A page of runs, in the order of their ids.', schema: BulkItemsAnswer } },
  refusals: ['bulk-not-found'],
}

export const CANCEL_DOC: RouteDoc = {
  summary: 'Stop a bulk operation',
  description: 'What was done stays done. Asking again, or after the end, changes nothing.',
  tag: 'bulk',
  params: BulkParams,
  body: BulkCancelBody,
  answers: {
    200: { description: 'The operation has ended, now or before.', schema: BulkObject },
    202: { description: 'The operation ends after the page it is working on.', schema: BulkObject },
  },
  refusals: ['bulk-not-found'],
}
