/** The OpenAPI document as it is served, and its committed copy. */

import { readdirSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { Validator } from '@seriousme/openapi-schema-validator'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestApi, type TestApi } from '../../test/support/api.ts'
import { readContractComments, renderContractComments } from '../../test/support/contract-comments.ts'
import { CONTRACT_COMMENTS } from './contract-comments.ts'
import { CONTRACT_MODULES } from './contract-schemas.ts'
import { createOpenApi, type OpenApiDocument } from './openapi.ts'

const COMMENTS = new URL('./contract-comments.ts', import.meta.url)
const COPY = new URL('../../docs/openapi.json', import.meta.url)

let api: TestApi
let document: OpenApiDocument
beforeAll(async () => {
  api = await openTestApi()
  document = (await api.get('/openapi.json')).json()
})
afterAll(() => api.close())

test('the document fits the meta schema of OpenAPI 3.1', async () => {
  const validator = new Validator()
  const { valid, errors } = await validator.validate(structuredClone(document))
  expect(errors ?? []).toEqual([])
  expect(valid).toBe(true)
  expect(validator.version).toBe('3.1')
})

test('the comments of the contract are in it (UPDATE_GOLDEN=1 takes them up)', async () => {
  const comments = readContractComments()
  if (process.env.UPDATE_GOLDEN) await writeFile(COMMENTS, renderContractComments(comments))
  else expect(CONTRACT_COMMENTS).toEqual(comments)
  expect(comments['Run.lease']).toBe('Null unless RUNNING.')
})

test('docs/openapi.json is the document (UPDATE_GOLDEN=1 writes it)', async () => {
  const current = createOpenApi(api.app.registeredRoutes, readContractComments())
  const text = `${JSON.stringify(current, null, 1)}\n`
  if (process.env.UPDATE_GOLDEN) await writeFile(COPY, text)
  expect(await readFile(COPY, 'utf8')).toBe(text)
})

test('every route is in it', () => {
  const described = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  )
  const registered = api.app.registeredRoutes
    .filter(({ method }) => method !== 'HEAD')
    .map(({ method, url }) => `${method} ${url.replace(/:(\w+)/g, '{$1}').replace('*', '{path}')}`)
  expect(described.sort()).toEqual(registered.sort())
})

test('every reference leads somewhere', () => {
  const text = JSON.stringify(document)
  const refs = new Set([...text.matchAll(/"\$ref":"#\/([^"]+)"/g)].map((match) => match[1]!))
  expect(refs.size).toBeGreaterThan(10)
  const lost = [...refs].filter((ref) => {
    const found = ref.split('/').reduce<unknown>((at, step) => (at as Record<string, unknown>)?.[step], document)
    return found === undefined
  })
  expect(lost).toEqual([])
})

test('every file of the contract is known', () => {
  const files = readdirSync(new URL('../contract/', import.meta.url)).filter((name) => !name.endsWith('.test.ts'))
  expect(
    Object.keys(CONTRACT_MODULES)
      .map((name) => `${name}.ts`)
      .sort(),
  ).toEqual(files.sort())
})

test('operation ids are unique', () => {
  const ids = Object.values(document.paths).flatMap((methods) => Object.values(methods).map((one) => one.operationId))
  expect(ids.length).toBe(new Set(ids).size)
})

test('a caller that has the document gets 304', async () => {
  const { headers } = await api.get('/openapi.json')
  const again = await api.get('/openapi.json', { 'if-none-match': String(headers.etag) })
  expect([again.statusCode, again.body]).toEqual([304, ''])
  expect(again.headers.etag).toMatch(/^"[0-9a-f]{32}"$/)
})
