/** The judge itself: it must see what it is there for. */

import { expect, test } from 'vitest'
import { z } from 'zod'
import type { RegisteredRoute } from '../../src/api/api.ts'
import { createOpenApi } from '../../src/api/openapi.ts'
import { problemOf } from '../../src/api/problem.ts'
import { Refusal } from '../../src/run/errors.ts'
import { createJudge } from './judge.ts'
import type { FuzzRequest } from './requests.ts'

const ROUTE: RegisteredRoute = {
  method: 'POST',
  url: '/things',
  role: 'public',
  body: 'required',
  doc: {
    summary: 'Make a thing',
    tag: 'runs',
    body: z.strictObject({ size: z.int().max(10) }),
    answers: {
      201: { description: 'Made.', schema: z.strictObject({ id: z.string() }) },
      204: { description: 'Nothing.' },
    },
    refusals: [],
  },
}
const document = createOpenApi([ROUTE])
const judge = createJudge(document)
const asked = { method: 'POST', path: '/things', operation: document.paths['/things']!.post! }

const request = (value: unknown = { size: 1 }): FuzzRequest => ({
  as: 'admin',
  method: 'POST',
  path: '/things',
  headers: {},
  body: Buffer.from(JSON.stringify(value)),
  sent: { value },
})
const answer = (status: number, body: unknown, type = 'application/json', requestId: string | undefined = 'r') => ({
  status,
  headers: { 'content-type': type, 'x-request-id': requestId },
  body: body === null ? '' : JSON.stringify(body),
  isStream: false,
})
const problem = (code: 'invalid-body' | 'internal-error' | 'run-failed' | 'busy', more = {}) => {
  const body = { ...problemOf(new Refusal(code, 'No.'), 'r'), ...more }
  return answer(body.status, body, 'application/problem+json')
}

test('what the document says passes', () => {
  expect(judge(asked, request(), answer(201, { id: 'x' }))).toBeNull()
  expect(judge(asked, request(), answer(204, null))).toBeNull()
  expect(judge(asked, request({ size: 11 }), problem('invalid-body'))).toBeNull()
  expect(judge(asked, request(), problem('busy'))).toBeNull()
})

test.each([
  ['an error of ours', problem('internal-error')],
  ['the status 200 is not described', answer(200, {})],
  ['the status 409 is not described', problem('run-failed')],
  ['there is no X-Request-Id', { ...answer(201, { id: 'x' }), headers: { 'content-type': 'application/json' } }],
  ['the body should be empty', answer(204, {})],
  ['the type "text/plain" is not described', answer(201, { id: 'x' }, 'text/plain')],
  ['the body does not fit its schema', answer(201, { id: 1 })],
  ['the body does not fit its schema', answer(201, { id: 'x', more: 1 })],
  ['the body does not fit its schema', problem('invalid-body', { code: 'run-failed' })],
  ['the type "application/json" is not described', answer(400, { code: 'invalid-body' })],
  ['the problem says 409', { ...problem('invalid-body', { status: 409 }), status: 400 }],
  ['instance is not the request id', problem('invalid-body', { instance: 'other' })],
  ['type and code disagree', problem('invalid-body', { type: 'about:blank' })],
  ['the problem shows our insides', problem('invalid-body', { detail: 'SELECT 1 FROM runs' })],
])('%s', (wrong, given) => {
  expect(judge(asked, request(), given)).toContain(wrong)
})

test('a body outside its schema may not be accepted', () => {
  expect(judge(asked, request({ size: 11 }), answer(201, { id: 'x' }))).toContain('its schema refuses')
})
