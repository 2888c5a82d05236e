import type { Upload, UploadState } from '@holdfast/client'
import { expect, it } from 'vitest'
import { countsLine, countsOf, endedAmong, filtered, shownFiles } from './shown-files.ts'
import type { Row, RowState } from './upload-row.ts'

const upload = (id: string, name: string, state: UploadState, runId: string | null = 'r') =>
  ({ upload_id: id, name, size: 5, state, run_id: runId }) as Upload
const row = (id: number, name: string, state: RowState): Row => ({ id, name, path: name, size: 5, sha256: null, state })

const FILES = shownFiles(
  [
    row(0, '10.pdf', { at: 'waiting' }),
    row(1, '9.pdf', { at: 'failed', advice: { what: '', todo: '' } }),
    row(2, 'a.pdf', { at: 'in', upload: upload('u1', 'a.pdf', 'UPLOADED') }),
    row(3, 'b.pdf', { at: 'in', upload: upload('u2', 'b.pdf', 'DUPLICATE') }),
  ],
  [upload('u1', 'a.pdf', 'DONE'), upload('u3', 'C.pdf', 'ERROR'), upload('u4', 'd.pdf', 'UPLOADED', null)],
)

it('each file once, as the service has it where it has it, in the order people count', () => {
  expect(FILES.map(({ name, word }) => `${name} ${word}`)).toEqual([
    '9.pdf NOT_SENT',
    '10.pdf SENDING',
    'a.pdf DONE',
    'b.pdf DUPLICATE',
    'C.pdf ERROR',
    'd.pdf UPLOADED',
  ])
})

it('is counted, told and ended', () => {
  const counts = countsOf(FILES)
  expect(counts).toMatchObject({ all: 6, SENDING: 1, NOT_SENT: 1, DONE: 1, DUPLICATE: 1, ERROR: 1, PROCESSING: 0 })
  expect(countsLine(counts)).toBe('1 to be sent, 1 not sent, 1 uploaded, 1 done, 1 duplicate, 1 error')
  expect(endedAmong(FILES)).toBe(4)
})

it('is found by its word and by a part of its name', () => {
  expect(filtered(FILES, 'ERROR', '').map(({ name }) => name)).toEqual(['C.pdf'])
  expect(filtered(FILES, undefined, ' c.P').map(({ name }) => name)).toEqual(['C.pdf'])
  expect(filtered(FILES, 'DONE', 'c')).toEqual([])
  expect(filtered(FILES, undefined, '')).toHaveLength(6)
})
