/** Requests for one operation of the OpenAPI document: valid ones, nearly valid ones, and such as no client would send. */

import fc from 'fast-check'
import type { Operation, Parameter } from '../../src/api/openapi.ts'
import { fitting, nearly, oddValues, type Words } from './values.ts'

export type Caller = 'admin' | 'viewer' | 'nobody'

export type FuzzRequest = {
  as: Caller
  method: string
  path: string
  headers: Record<string, string>
  body: Buffer | null
  /** The value of the body when it was sent as proper JSON of the proper type. */
  sent: { value: unknown } | null
}

export type FuzzOperation = { method: string; path: string; operation: Operation }

export function requestsOf({ method, path, operation }: FuzzOperation, words: Words): fc.Arbitrary<FuzzRequest> {
  const { parameters = [], requestBody } = operation
  const within = (place: string) => parameters.filter((one) => one.in === place)
  const schema = requestBody && Object.values(requestBody.content)[0]!.schema
  return fc
    .record({
      as: fc.constantFrom<Caller>(...Array<Caller>(18).fill('admin'), 'viewer', 'nobody'),
      path: pathOf(path, within('path'), words),
      query: queryOf(within('query'), words),
      headers: headersOf(within('header'), words),
      body: method === 'GET' ? fc.constant(NOTHING) : bodies(schema ?? null, words),
    })
    .map(({ as, path, query, headers, body }) => ({
      as,
      method,
      path: query === '' ? path : `${path}?${query}`,
      headers: { ...body.headers, ...headers },
      body: body.bytes,
      sent: body.sent,
    }))
}

function pathOf(path: string, parameters: Parameter[], words: Words): fc.Arbitrary<string> {
  const odd = fc.oneof(
    fc.constantFrom(
      '%',
      '%zz',
      '%00',
      '%2e%2e',
      '%ff',
      'a%2Fb',
      'x'.repeat(2000),
      '-',
      '*',
      '1',
      'null',
      '%F0%9F%98%80',
    ),
    fc.string({ unit: 'binary', minLength: 1, maxLength: 30 }).map(encoded),
  )
  const segments = parameters.map((one) => {
    // Such as `runs/id`: ids of one kind lead nowhere among those of another.
    const name = `${path.split('/')[1]}/${one.name}`
    const proper = fitting(one.schema, words, name).map((value) => encoded(String(value)) || '-')
    return fc.oneof({ weight: 5, arbitrary: proper }, { weight: 1, arbitrary: odd })
  })
  return fc
    .tuple(...segments)
    .map((values) => parameters.reduce((url, one, index) => url.replace(`{${one.name}}`, () => values[index]!), path))
}

function queryOf(parameters: Parameter[], words: Words): fc.Arbitrary<string> {
  const proper = parameters.map((one) =>
    fitting(one.schema, words, one.name).map((value) =>
      [value]
        .flat()
        .map((item) => pair(one.name, item))
        .join('&'),
    ),
  )
  const names = [...parameters.map(({ name }) => name), 'unknown', '', '__proto__', 'limit']
  const odd = fc.oneof(
    fc.tuple(fc.constantFrom(...names), oddValues).map(([name, value]) => pair(name, value)),
    fc.constantFrom(
      '%',
      '%zz=1',
      '=',
      '&&',
      'limit=1&limit=2',
      'limit=0',
      'limit=201',
      'limit=1e3',
      'cursor=x',
      'a[b]=1',
    ),
  )
  const few =
    proper.length === 0
      ? fc.constant<string[]>([])
      : fc.tuple(...proper).chain((all) => fc.subarray(all, { maxLength: Math.min(3, all.length) }))
  const broken = fc.tuple(few, odd).map(([pairs, one]) => [...pairs, one])
  return fc
    .oneof({ weight: 3, arbitrary: few }, { weight: 1, arbitrary: broken })
    .map((pairs) => pairs.filter(Boolean).join('&'))
}

const VALUES: Record<string, string[]> = {
  'idempotency-key': ['k', 'k', 'other', '"quoted"', '"', '', 'x'.repeat(300), 'é'],
  'holdfast-owner': ['default', 'ana', '', 'x'.repeat(300), 'é'],
  prefer: [
    'wait=1',
    'wait=0',
    'wait=0',
    'wait=-1',
    'wait=x',
    'wait=',
    'respond-async',
    'wait=0, wait=0',
    'wait=99999999999999999999x',
  ],
  'if-none-match': ['*', '"x"', 'W/"x"', 'x', '"a", W/"b"', '"'],
  'last-event-id': ['0', '1', '-1', 'x', '99999999999999999999', '', 'é'],
  traceparent: ['00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01', 'x'],
  accept: ['application/json', '*/*', 'text/event-stream', 'text/html', 'x', ''],
  'x-request-id': ['r-1', 'x'.repeat(300), '"<>'],
}

/** Sent to every operation: one that heeds them without saying so gives itself away by its answers. */
const MEANT_SOMEWHERE = ['accept', 'x-request-id', 'prefer', 'if-none-match', 'holdfast-owner', 'idempotency-key']

/** What clients, browsers and proxies may send to any operation. */
const ANYWHERE: [string, string][] = [
  ['origin', 'https://example.com'],
  ['sec-fetch-site', 'cross-site'],
  ['sec-fetch-site', 'same-origin'],
  ['x-forwarded-for', '10.0.0.1'],
  ['forwarded', 'for=10.0.0.1'],
  ['host', 'example.com'],
  ['host', ''],
  ['authorization', 'Bearer x'],
  ['authorization', 'Basic eDp5'],
  ['authorization', ''],
  ['cookie', 'a=b; ; c'],
  ['expect', '200-ok'],
  ['content-encoding', 'gzip'],
  ['range', 'bytes=0-1'],
  ['accept-encoding', 'br'],
  ['x-http-method-override', 'DELETE'],
]

function headersOf(parameters: Parameter[], words: Words): fc.Arbitrary<Record<string, string>> {
  const names = [...new Set([...parameters.map(({ name }) => name.toLowerCase()), ...MEANT_SOMEWHERE])]
  const one = fc.constantFrom(...names).chain((name) =>
    fc.nat().map((index): [string, string] => {
      const values = [...words.known(name).map(String), ...(VALUES[name] ?? ['', 'x', 'é'])]
      return [name, values[index % values.length]!]
    }),
  )
  return fc
    .tuple(
      fc.oneof({ weight: 1, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: fc.array(one, { maxLength: 2 }) }),
      fc.oneof(
        { weight: 8, arbitrary: fc.constant([]) },
        { weight: 1, arbitrary: fc.constantFrom(...ANYWHERE).map((pair) => [pair]) },
      ),
    )
    .map(([own, others]) => Object.fromEntries([...own, ...others]))
}

type Body = Pick<FuzzRequest, 'sent' | 'headers'> & { bytes: Buffer | null }
const NOTHING: Body = { bytes: null, sent: null, headers: {} }
const JSON_TYPE = { 'content-type': 'application/json' }

function bodies(schema: Parameter['schema'] | null, words: Words): fc.Arbitrary<Body> {
  const broken = fc.oneof(
    fc.constantFrom<Body>(NOTHING, { ...NOTHING, headers: JSON_TYPE }),
    fc
      .constantFrom(
        '',
        '{',
        '[1,',
        '{"a":1,"a":2}',
        '\ufeff{}',
        '{"a":1e400}',
        'nul',
        '{"a":"\\ud800"}',
        '{}{}',
        '"',
        '{"__proto__":1}',
      )
      .map((text): Body => ({ bytes: Buffer.from(text), sent: null, headers: JSON_TYPE })),
    fc
      .uint8Array({ minLength: 1, maxLength: 30 })
      .map((bytes): Body => ({ bytes: Buffer.from(bytes), sent: null, headers: JSON_TYPE })),
    fc
      .constantFrom(
        'text/plain',
        'application/x-www-form-urlencoded',
        'multipart/form-data',
        'application/xml',
        'json',
        '',
      )
      .map((type): Body => ({ bytes: Buffer.from('{}'), sent: null, headers: { 'content-type': type } })),
  )
  if (!schema) return fc.oneof({ weight: 4, arbitrary: fc.constant(NOTHING) }, { weight: 1, arbitrary: broken })
  const proper = (value: unknown): Body => {
    const bytes = Buffer.from(JSON.stringify(value))
    return { bytes, sent: { value: JSON.parse(bytes.toString()) }, headers: JSON_TYPE }
  }
  return fc.oneof(
    { weight: 5, arbitrary: fitting(schema, words).map(proper) },
    { weight: 4, arbitrary: nearly(schema, words).map(proper) },
    { weight: 2, arbitrary: broken },
  )
}

function pair(name: string, value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return `${encoded(name)}=${encoded(text)}`
}

/** Half a character cannot be written in an address. */
function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed())
}
