import { describe, expect, test } from 'vitest'
import type { MailData } from '../../store/ports/outbox.ts'
import { adviceFor } from './advice.ts'
import { oneLine } from './one-line.ts'
import { mailKindOf, writeMail } from './write-mail.ts'

const AT = '2026-01-02T03:04:05.000Z'
const RUN = '01990000-0000-7000-8000-000000000001'
const LINKS = {
  publicUrl: 'https://holdfast.example.org/base',
  unsubscribeUrl: 'https://holdfast.example.org/base/unsubscribe?token=t',
}
const document = (name: string) => ({ runId: RUN, name, at: AT })
const named = (...names: string[]) => names.map(document)
const written = (data: MailData) => writeMail({ kind: data.kind, owner: 'alice', data }, LINKS)
const ERROR = { class: 'EncryptedDocument', message: 'the document needs a password' }

describe('subjects a non-engineer understands', () => {
  const cases: [MailData, string][] = [
    [{ kind: 'duplicate', documents: named('a.pdf'), more: 0 }, '“a.pdf” was uploaded before'],
    [{ kind: 'duplicate', documents: named('a.pdf', 'b.pdf'), more: 0 }, '2 documents were uploaded before'],
    [
      { kind: 'failure', error: ERROR, documents: named('a.pdf'), more: 0, batchId: null },
      '“a.pdf” could not be processed',
    ],
    [
      { kind: 'failure', error: ERROR, documents: named('a.pdf', 'b.pdf'), more: 1, batchId: RUN },
      '3 documents could not be processed',
    ],
    [{ kind: 'progress', done: 1_000, batchId: null, batchTitle: null }, '1,000 documents are done'],
    [{ kind: 'progress', done: 2_000, batchId: RUN, batchTitle: 'March' }, '2,000 documents of “March” are done'],
    [{ kind: 'progress', done: 1, batchId: null, batchTitle: null }, '1 document is done'],
    [{ kind: 'progress', done: 2_000, batchId: RUN, batchTitle: null }, '2,000 documents of an upload are done'],
    [
      { kind: 'batch_finished', batchId: RUN, batchTitle: 'March', counts: { done: 98, failed: 2, duplicate: 0 } },
      '“March” is finished: 98 done, 2 failed',
    ],
    [
      { kind: 'batch_finished', batchId: RUN, batchTitle: null, counts: { done: 0, duplicate: 3 } },
      'Your upload is finished: 0 done, 3 uploaded before',
    ],
  ]
  test.each(cases)('%j', (data, subject) => {
    expect(written(data).subject).toBe(subject)
  })
})

test('a failure says the reason, what to do, the documents with their links, and how many more', () => {
  const { text, html } = written({
    kind: 'failure',
    error: ERROR,
    documents: named('a.pdf'),
    more: 1_234,
    batchId: RUN,
  })
  for (const body of [text, html]) {
    expect(body).toContain(`${LINKS.publicUrl}/ui/runs/${RUN}`)
    expect(body).toContain(`${LINKS.publicUrl}/ui/documents?batch=${RUN}`)
    expect(body).toContain('the document needs a password (EncryptedDocument)')
    expect(body).toContain(adviceFor('EncryptedDocument'))
    expect(body).toContain('and 1,234 more')
    expect(body).toContain(LINKS.unsubscribeUrl)
  }
})

test('every class of error has advice, also one nobody knows and one that is the name of a method', () => {
  expect(adviceFor('toString')).toBe(adviceFor('NobodyKnows'))
  expect(adviceFor('Timeout')).not.toBe(adviceFor('NobodyKnows'))
})

const HOSTILE = '<img src=x onerror="alert(1)">.pdf'

test('a name that is markup is text in the HTML', () => {
  const failure: MailData = {
    kind: 'failure',
    error: { class: HOSTILE, message: HOSTILE },
    documents: named(HOSTILE),
    more: 0,
    batchId: null,
  }
  const { html, text } = writeMail({ kind: 'failure', owner: HOSTILE, data: failure }, LINKS)
  expect(html).not.toContain('<img')
  expect(html).toContain('&lt;img src=x onerror=')
  expect(text).toContain(HOSTILE)
})

test('a title that is markup is text in the HTML', () => {
  const { html } = written({ kind: 'batch_finished', batchId: RUN, batchTitle: HOSTILE, counts: { done: 1 } })
  expect(html).not.toContain('<img')
})

test('no name breaks the subject into a second line', () => {
  const { subject, text } = written({
    kind: 'duplicate',
    documents: named('a\r\nBcc: eve@example.org\u2028.pdf'),
    more: 0,
  })
  expect(subject).toBe('“a Bcc: eve@example.org .pdf” was uploaded before')
  expect(text).not.toMatch(/^Bcc/m)
})

test.each([
  ['marks that turn the direction', 'invoice\u202efdp.exe', 'invoicefdp.exe'],
  ['lone surrogates', 'a\ud800b', 'a\ufffdb'],
  ['blanks around it', '  a\t\tb ', 'a b'],
])('one line is without %s', (_what, text, line) => {
  expect(oneLine(text)).toBe(line)
})

test('a long name is cut between characters', () => {
  expect(oneLine('😀'.repeat(10), 4)).toBe('😀😀😀…')
})

test('a mail for a test needs no data', () => {
  expect(writeMail({ kind: 'test', owner: 'alice', data: {} }, LINKS).subject).toBe('Mail from Holdfast arrives')
  expect(mailKindOf({ kind: 'test', owner: 'alice', data: {} })).toBeNull()
})

test('data that no template knows is refused', () => {
  expect(() => writeMail({ kind: 'failure', owner: 'alice', data: { kind: 'failure' } }, LINKS)).toThrow()
})

test('where a mail is only shown there is no link to unsubscribe', () => {
  const data: MailData = { kind: 'progress', done: 1_000, batchId: null, batchTitle: null }
  const { text, html } = writeMail({ kind: 'progress', owner: 'alice', data }, { ...LINKS, unsubscribeUrl: null })
  for (const body of [text, html]) expect(body).not.toContain('unsubscribe')
})
