/** The catalogue of errors, and that the docs page lists exactly the same. */

import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { ATTEMPT_ERRORS, ERRORS, type ErrorEntry, problemType, Refusal } from './errors.ts'

const page = readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8')
const rows = page
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .map((line) => line.slice(2, -2).split(' | '))
const yesNo = (value: boolean) => (value ? 'yes' : 'no')
const entries: [string, ErrorEntry][] = Object.entries(ERRORS)

describe('docs/errors.md', () => {
  test('lists every code with its status, meaning and next step, and no other', () => {
    const listed = rows.filter((cells) => cells.length === 5)
    const known = entries.map(([code, { status, retryable, title, next }]) => [
      `\`${code}\``,
      String(status),
      yesNo(retryable),
      title,
      next,
    ])
    expect(listed).toEqual(known)
  })

  test('lists every class of attempt errors, and no other', () => {
    const listed = rows.filter((cells) => cells.length === 3)
    const known = Object.entries(ATTEMPT_ERRORS).map(([name, { retryable, meaning }]) => [
      `\`${name}\``,
      yesNo(retryable),
      meaning,
    ])
    expect(listed).toEqual(known)
  })

  test('has no row of another shape', () => {
    expect(rows.filter((cells) => cells.length !== 5 && cells.length !== 3)).toEqual([])
  })
})

test.each(entries)('%s is kebab-case, has an error status and says what to do next', (code, entry) => {
  expect(code).toMatch(/^[a-z]+(-[a-z]+)*$/)
  expect(entry.status >= 400 && entry.status < 600).toBe(true)
  expect(entry.title).toMatch(/^[A-Z].*[^.]$/)
  expect(entry.next).toMatch(/^[A-Z].*\.$/)
})

test('what passes by itself is retryable: 408 and 503', () => {
  for (const [code, { status, retryable }] of entries) {
    if (status === 408 || status === 503) expect([code, retryable]).toEqual([code, true])
  }
})

test('the problem type of a code is a stable URI', () => {
  expect(problemType('run-not-found')).toBe('urn:holdfast:error:run-not-found')
})

test('a refusal carries its code, detail, fields and cause', () => {
  const cause = new Error('below')
  const refusal = new Refusal('invalid-parameters', 'horizon is too far', {
    errors: [{ pointer: '/horizon', detail: 'must be at most 600' }],
    extra: { model: 'm' },
    cause,
  })
  expect(refusal).toBeInstanceOf(Error)
  expect(refusal).toMatchObject({
    name: 'Refusal',
    message: 'horizon is too far',
    code: 'invalid-parameters',
    detail: 'horizon is too far',
    errors: [{ pointer: '/horizon', detail: 'must be at most 600' }],
    extra: { model: 'm' },
    cause,
  })
})

test('a refusal without options has no fields and no cause', () => {
  const refusal = new Refusal('busy', 'try later')
  expect([refusal.errors, refusal.extra, 'cause' in refusal]).toEqual([undefined, undefined, false])
})
