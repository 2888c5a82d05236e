import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { BODY, MODEL, openTestApi, type TestApi } from '../../test/support/api.ts'
import { ProblemObject } from '../contract/problem.ts'

let api: TestApi
beforeAll(async () => {
  api = await openTestApi({
    config: { http: { bodyLimitBytes: 20_000 } },
    models: [MODEL, { ...MODEL, name: 'forecast_b' }],
  })
})
afterAll(() => api.close())

/** A body whose parameters hold this text as the value of `note`. */
const note = (text: string) => `{"model":"forecast","parameters":{"scenario":"s","note":${text}}}`
const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)

type Case = {
  what: string
  body: unknown
  status: number
  code: string
  pointer?: string
  headers?: Record<string, string>
}

const json = (what: string, body: string | Buffer, pointer: string): Case => ({
  what,
  body,
  status: 400,
  code: 'invalid-json',
  pointer,
})
const shape = (what: string, more: object, pointer: string): Case => ({
  what,
  body: { ...BODY, ...more },
  status: 400,
  code: 'invalid-body',
  pointer,
})
const key = (what: string, value: string): Case => ({
  what,
  body: BODY,
  headers: { 'idempotency-key': value },
  status: 400,
  code: 'idempotency-key-invalid',
})
const refused = (what: string, more: object, code: string, pointer: string, status = 422): Case => ({
  what,
  body: { ...BODY, ...more },
  status,
  code,
  pointer,
})

const CASES: Case[] = [
  json('nothing', '', ''),
  json('no JSON', '{"model":', '/model'),
  json('text after the value', `${JSON.stringify(BODY)} x`, ''),
  json('nesting above 64', note(nested(63)), `/parameters/note${'/0'.repeat(62)}`),
  json('duplicate keys', note('{"a":1,"a":2}'), '/parameters/note/a'),
  json('a duplicate key at the top', '{"model":"forecast","parameters":{},"model":"x"}', '/model'),
  json('__proto__', note('{"__proto__":{}}'), '/parameters/note/__proto__'),
  json('constructor', note('{"constructor":{}}'), '/parameters/note/constructor'),
  json('1e400', note('1e400'), '/parameters/note'),
  json('an integer that a double cannot hold', note('9007199254740993'), '/parameters/note'),
  json('NUL', note('"a\\u0000b"'), '/parameters/note'),
  json('a lone surrogate', note('"\\ud800"'), '/parameters/note'),
  json('invalid UTF-8', Buffer.from(note('"\xff"'), 'latin1'), '/parameters/note'),
  json('a byte order mark', `\ufeff${JSON.stringify(BODY)}`, ''),
  { what: 'an array', body: [], status: 400, code: 'invalid-body', pointer: '' },
  { what: 'null', body: 'null', status: 400, code: 'invalid-body', pointer: '' },
  shape('an unknown name', { modle: 1 }, '/modle'),
  shape('no model', { model: undefined }, '/model'),
  shape('an empty model', { model: '' }, '/model'),
  shape('a model that is no text', { model: 1 }, '/model'),
  shape('a model of 129 characters', { model: 'x'.repeat(129) }, '/model'),
  shape('no parameters', { parameters: undefined }, '/parameters'),
  shape('parameters that are an array', { parameters: [] }, '/parameters'),
  shape('parameters that are null', { parameters: null }, '/parameters'),
  shape('a TTL of 0', { idempotency_ttl_seconds: 0 }, '/idempotency_ttl_seconds'),
  shape('a TTL above 30 days', { idempotency_ttl_seconds: 2_592_001 }, '/idempotency_ttl_seconds'),
  shape('an unknown dedupe', { dedupe: 'all' }, '/dedupe'),
  shape('a priority of 101', { priority: 101 }, '/priority'),
  shape('a priority of 0.5', { priority: 0.5 }, '/priority'),
  shape('a time without zone', { available_at: '2030-01-01T00:00:00' }, '/available_at'),
  shape('a time that does not exist', { available_at: '2030-02-30T00:00:00Z' }, '/available_at'),
  shape('a time in the year 0', { available_at: '0000-01-01T00:00:00Z' }, '/available_at'),
  shape('a time 11 years ahead', { available_at: `${new Date().getFullYear() + 11}-12-31T00:00:00Z` }, '/available_at'),
  shape('a zone of 99 hours', { available_at: '2030-01-01T00:00:00+99:00' }, '/available_at'),
  shape('too many tags', { tags: Array(33).fill('t') }, '/tags'),
  shape('an empty tag', { tags: ['a', ''] }, '/tags/1'),
  shape('a long title', { title: 'x'.repeat(256) }, '/title'),
  shape('a batch id that is none', { batch_id: '7' }, '/batch_id'),
  shape('a reservation id that is none', { reservation_id: 'mine' }, '/reservation_id'),
  shape('no attempts', { max_attempts: 0 }, '/max_attempts'),
  shape('a timeout of 0', { timeout_seconds: 0 }, '/timeout_seconds'),
  refused('an empty key in the body', { idempotency_key: '' }, 'idempotency-key-invalid', '/idempotency_key', 400),
  refused('a key with umlauts', { idempotency_key: 'schlüssel' }, 'idempotency-key-invalid', '/idempotency_key', 400),
  refused('a long key', { idempotency_key: 'x'.repeat(256) }, 'idempotency-key-invalid', '/idempotency_key', 400),
  refused('a missing parameter', { parameters: {} }, 'invalid-parameters', '/parameters/scenario'),
  refused(
    'an unknown parameter',
    { parameters: { scenario: 's', moths: 1 } },
    'invalid-parameters',
    '/parameters/moths',
  ),
  refused(
    'a parameter out of range',
    { parameters: { scenario: 's', months: 601 } },
    'invalid-parameters',
    '/parameters/months',
  ),
  refused(
    'a number as text',
    { parameters: { scenario: 's', months: '3' } },
    'invalid-parameters',
    '/parameters/months',
  ),
  refused(
    'a marker',
    { parameters: { scenario: 's', api_key: '[redacted]' } },
    'redaction-marker',
    '/parameters/api_key',
  ),
  refused('more attempts', { max_attempts: 4 }, 'override-not-allowed', '/max_attempts'),
  refused('a longer timeout', { timeout_seconds: 301 }, 'override-not-allowed', '/timeout_seconds'),
  refused('an unknown queue', { queue: 'gpu' }, 'override-not-allowed', '/queue'),
  refused('inline for a process model', { executor: 'inline' }, 'override-not-allowed', '/executor'),
  refused('an unknown model', { model: 'forcast' }, 'unknown-model', '/model', 404),
  refused('an unknown version', { model_version: '9' }, 'unknown-model-version', '/model_version', 404),
  key('an empty key', ''),
  key('a key of 256 characters', 'x'.repeat(256)),
  key('a key with a tab', 'a\tb'),
  key('a key that is not ASCII', 'cl\u00e9'),
  key('an empty quoted key', '""'),
  key('a quoted key without end', '"abc'),
  key('a quoted key with a bare quote inside', '"a"b"'),
  key('a quoted key with an unknown escape', '"a\\n"'),
  { what: 'an empty owner', body: BODY, headers: { 'holdfast-owner': '' }, status: 400, code: 'invalid-header' },
  {
    what: 'a long owner',
    body: BODY,
    headers: { 'holdfast-owner': 'x'.repeat(256) },
    status: 400,
    code: 'invalid-header',
  },
  { what: 'a body above the limit', body: note(`"${'x'.repeat(20_000)}"`), status: 413, code: 'body-too-large' },
  {
    what: 'a gzip body',
    body: gzipSync(JSON.stringify(BODY)),
    headers: { 'content-encoding': 'gzip' },
    status: 415,
    code: 'unsupported-media-type',
  },
  {
    what: 'plain text',
    body: JSON.stringify(BODY),
    headers: { 'content-type': 'text/plain' },
    status: 415,
    code: 'unsupported-media-type',
  },
  {
    what: 'a form',
    body: 'model=forecast',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    status: 415,
    code: 'unsupported-media-type',
  },
]

test.each(CASES)('$what is $status $code and nothing is stored', async ({ body, status, code, pointer, headers }) => {
  const response = await api.submit(body, headers)
  expect(response.headers['content-type']).toBe('application/problem+json')
  const problem = ProblemObject.parse(response.json())
  expect(problem).toMatchObject({ status, code, type: `urn:holdfast:error:${code}`, retryable: false })
  expect(response.statusCode).toBe(status)
  if (pointer !== undefined) expect(problem.errors?.map((error) => error.pointer)).toContain(pointer)
  expect(await api.stored()).toEqual({ runs: 0, keys: 0 })
  expect(api.hints).toEqual([])
})

test('64 levels of the body are accepted', async () => {
  const { submit, stored, close } = await openTestApi()
  const response = await submit(note(nested(62)))
  expect(response.statusCode).toBe(201)
  expect(await stored()).toEqual({ runs: 1, keys: 1 })
  await close()
})

test('an unknown model names the nearest ones', async () => {
  const problem = (await api.submit({ ...BODY, model: 'Forcast' })).json()
  expect(problem.nearest).toEqual(['forecast', 'forecast_b'])
  expect(problem.detail).toContain('forecast')
})

test('an unknown version names the newest', async () => {
  const problem = (await api.submit({ ...BODY, model_version: '9' })).json()
  expect(problem.newest_version).toBe('1')
})

test('an unknown name of the body is met with the nearest known one', async () => {
  const problem = (await api.submit({ ...BODY, parametres: {} })).json()
  const detail = 'is not a known name (did you mean parameters?)'
  expect(problem.errors).toEqual([{ pointer: '/parametres', detail }])
  expect(problem.detail).toBe(`The body does not fit: /parametres ${detail}.`)
})

test('every fault of a body is named at once', async () => {
  const problem = (await api.submit({ model: '', priority: 'x', tags: [1] })).json()
  const pointers = problem.errors.map((error: { pointer: string }) => error.pointer)
  expect(pointers.sort()).toEqual(['/model', '/parameters', '/priority', '/tags/0'])
})

test('no body at all is 415, as no content type says it is JSON', async () => {
  const response = await api.app.inject({ method: 'POST', url: '/runs' })
  expect(response.statusCode).toBe(415)
})

test.each(['application/json; charset=utf-8', 'APPLICATION/JSON', 'application/json;charset=UTF-8'])(
  '%s is a JSON content type',
  async (type) => {
    const response = await api.submit({}, { 'content-type': type })
    expect(response.json().code).toBe('invalid-body')
  },
)

test.each([
  ['-0', '0'],
  ['1.0', '1'],
  ['1e0', '1'],
  ['"\\u00e9"', '"é"'],
])('%s and %s are the same payload', async (one, other) => {
  const { submit, close } = await openTestApi()
  const first = await submit(note(one))
  const second = await submit(note(other))
  await close()
  expect([first.statusCode, second.statusCode]).toEqual([201, 200])
  expect(second.json().payload_hash).toBe(first.json().payload_hash)
})
