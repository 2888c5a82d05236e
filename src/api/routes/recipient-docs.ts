/** What the routes of mail addresses say about themselves. */

import { z } from 'zod'
import {
  RecipientBody,
  RecipientListAnswer,
  RecipientListQuery,
  RecipientObject,
  RecipientTestAnswer,
  UnsubscribeQuery,
} from '../../contract/recipient.ts'
import type { RouteDoc } from '../route-doc.ts'

const params = z.strictObject({ id: z.guid().describe('The id of the mail address.') })
const tag = 'deliveries'
const PAGE = { description: 'A page for a person.', type: 'text/html' }

export const RECIPIENT_PUT_DOC: RouteDoc = {
  summary: 'Tell a mail address about documents',
  description:
    'Adds the address, or says anew what it is told about, also when it had unsubscribed. It is told about the documents of the caller’s owner; operators may ask for everybody’s.',
  tag,
  body: RecipientBody,
  answers: {
    200: { description: 'It was there, and is told about these kinds from now on.', schema: RecipientObject },
    201: {
      description: 'The new mail address.',
      schema: RecipientObject,
      headers: { Location: 'The path of the mail address.' },
    },
  },
  refusals: ['recipient-limit'],
}

export const RECIPIENT_LIST_DOC: RouteDoc = {
  summary: 'List mail addresses',
  description: 'Newest first, also those that have unsubscribed. Operators see those of every owner.',
  tag,
  query: RecipientListQuery,
  answers: { 200: { description: 'A page of mail addresses.', schema: RecipientListAnswer } },
  refusals: [],
}

export const RECIPIENT_READ_DOC: RouteDoc = {
  summary: 'Read a mail address',
  tag,
  params,
  answers: { 200: { description: 'The mail address.', schema: RecipientObject } },
  refusals: ['recipient-not-found'],
}

export const RECIPIENT_DELETE_DOC: RouteDoc = {
  summary: 'Delete a mail address',
  description: 'With everything that was or was to be sent to it.',
  tag,
  params,
  answers: { 204: { description: 'The mail address is gone.' } },
  refusals: ['recipient-not-found'],
}

export const RECIPIENT_TEST_DOC: RouteDoc = {
  summary: 'Send a test mail',
  description: 'A mail that tells nothing but that it arrives. The delivery tells how it went.',
  tag,
  params,
  answers: {
    202: { description: 'It will be sent.', schema: RecipientTestAnswer, headers: { Location: 'Its delivery.' } },
  },
  refusals: ['recipient-not-found', 'recipient-disabled'],
}

export const UNSUBSCRIBE_PAGE_DOC: RouteDoc = {
  summary: 'Ask whether to unsubscribe',
  description:
    'Where the link in a mail leads. It changes nothing, so that a program that follows links unsubscribes nobody.',
  tag,
  query: UnsubscribeQuery,
  answers: { 200: PAGE },
  refusals: ['unsubscribe-link-invalid'],
}

export const UNSUBSCRIBE_DOC: RouteDoc = {
  summary: 'Unsubscribe',
  description:
    'What the page and the one-click header of a mail (RFC 8058) ask for. The link says for whom; the body does not matter. Doing it again changes nothing.',
  tag,
  query: UnsubscribeQuery,
  content: {
    'application/x-www-form-urlencoded': { type: 'object', properties: { 'List-Unsubscribe': { type: 'string' } } },
  },
  answers: { 200: PAGE },
  refusals: ['unsubscribe-link-invalid'],
}
