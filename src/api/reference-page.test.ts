/** The reference page as it is served. */

import { createHash } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestApi, type TestApi } from '../../test/support/api.ts'
import { ERRORS } from '../run/errors.ts'
import type { OpenApiDocument } from './openapi.ts'
import { renderReference } from './reference-page.ts'

let api: TestApi
let document: OpenApiDocument
let page: string
beforeAll(async () => {
  api = await openTestApi()
  document = (await api.get('/openapi.json')).json()
  page = (await api.get('/docs/api')).body
})
afterAll(() => api.close())

test('it is HTML that loads nothing and runs nothing', async () => {
  const { headers } = await api.get('/docs/api')
  expect(headers['content-type']).toBe('text/html; charset=utf-8')
  expect(page).not.toMatch(/<script|<img|<link|<iframe|@import|url\(|\son\w+=|javascript:/i)
  expect(page).not.toMatch(/(?:src|href)="(?:[a-z]+:)?\/\//i)
})

test('its policy allows its own style and nothing else', async () => {
  const policy = String((await api.get('/docs/api')).headers['content-security-policy'])
  const style = /<style>([\s\S]*?)<\/style>/.exec(page)![1]!
  const hash = createHash('sha256').update(style).digest('base64')
  expect(policy.split('; ')).toEqual([
    "default-src 'none'",
    `style-src 'sha256-${hash}'`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ])
})

test('every operation has its place and an example', () => {
  for (const methods of Object.values(document.paths)) {
    for (const { operationId } of Object.values(methods)) {
      const article = page.split(`<article id="${operationId}">`)[1]?.split('</article>')[0]
      expect(article, operationId).toContain('<pre><code>curl')
    }
  }
})

test('every link on the page leads to a place on it', () => {
  const ids = new Set([...page.matchAll(/ id="([^"]+)"/g)].map((match) => match[1]))
  const links = [...page.matchAll(/href="#([^"]+)"/g)].map((match) => match[1])
  expect(links.length).toBeGreaterThan(50)
  expect(links.filter((link) => !ids.has(link))).toEqual([])
})

test('no place is there twice', () => {
  const ids = [...page.matchAll(/ id="([^"]+)"/g)].map((match) => match[1])
  expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([])
})

test('each error says what to do next', () => {
  const row = page.split('<tr id="error-invalid-body">')[1]!.split('</tr>')[0]
  expect(row).toContain(ERRORS['invalid-body'].next)
})

test('text of the document never becomes markup', () => {
  const hostile = '<b>"\'&'
  const text = JSON.stringify(document)
    .replaceAll('"List runs"', JSON.stringify(hostile))
    .replaceAll('"Problem"', JSON.stringify(hostile))
  expect(renderReference(JSON.parse(text))).not.toContain('<b>')
})

test('a caller that has the page gets 304', async () => {
  const { headers } = await api.get('/docs/api')
  const again = await api.get('/docs/api', { 'if-none-match': String(headers.etag) })
  expect([again.statusCode, again.body]).toEqual([304, ''])
})
