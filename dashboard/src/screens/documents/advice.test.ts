import { HoldfastError, type Problem, QuotaExceeded, UploadFailed } from '@holdfast/client'
import { describe, expect, it } from 'vitest'
import { adviceOnRun, adviceOnUpload, stopsEverything, UNREADABLE } from './advice.ts'

const failed = (code: string, status: number, more: Partial<Problem> = {}) =>
  new UploadFailed('The upload of a.pdf failed: …', {
    ...{ status, code, file: 'a.pdf', key: 'k', isOutage: false },
    problem: { detail: `It is ${code}`, next: 'Do this.', ...more } as Problem,
  })

describe('what to do about a document that ended in ERROR', () => {
  it.each([
    ['EmptyDocument', /right file/],
    ['UnsupportedKind', /Save it as PDF/],
    ['EncryptedDocument', /password/],
    ['TruncatedDocument', /whole file/],
    ['InputFileUnavailable', /once more/],
    ['Timeout', /Press Retry/],
    ['Fatal', /correct it .* press Retry/],
    ['constructor', /press Retry/],
  ])('%s', (errorClass, todo) => {
    const advice = adviceOnRun({
      status: 'FAILED',
      last_error: { class: errorClass, message: 'Page 3 is missing\n at x' },
    })
    expect(advice.what).toBe('Page 3 is missing.')
    expect(advice.todo).toMatch(todo)
  })

  it('somebody stopped it; nobody said why', () => {
    expect(adviceOnRun({ status: 'CANCELLED', last_error: null }).what).toBe('Somebody stopped it.')
    expect(adviceOnRun({ status: 'FAILED', last_error: null }).todo).toMatch(/Press Retry/)
  })
})

describe('what to do about a file that could not be sent', () => {
  it.each([
    [failed('file-too-large', 413, { limit_bytes: 5 * 1024 ** 3 }), /largest allowed is 5\.0 GiB/],
    [failed('quota-exceeded', 429), /quota is used up/],
    [new QuotaExceeded('no', { status: 429, code: 'quota-exceeded' }), /quota is used up/],
    [failed('unauthorized', 401), /signed out/],
    [failed('storage-full', 507), /no room/],
    [failed('model-takes-no-file', 422), /takes no file/],
    [failed('toString', 422), /^It is toString\.$/],
    [new DOMException('gone', 'NotReadableError'), /cannot read this file/],
  ])('%s', (error, what) => expect(adviceOnUpload(error).what).toMatch(what))

  it('the service says what to do where nothing better is known', () => {
    expect(adviceOnUpload(failed('something-new', 422)).todo).toBe('Do this.')
    expect(adviceOnUpload(new HoldfastError('no')).todo).toMatch(/Send again/)
  })

  it('what every file would meet stops them all; what is wrong with one does not', () => {
    expect(stopsEverything(failed('quota-exceeded', 429))?.what).toMatch(/quota/)
    expect(stopsEverything(failed('unauthorized', 401))).not.toBeNull()
    expect(stopsEverything(failed('file-too-large', 413))).toBeNull()
    expect(stopsEverything(new Error('x'))).toBeNull()
    expect(UNREADABLE.todo).toBe('Choose the file again.')
  })
})
