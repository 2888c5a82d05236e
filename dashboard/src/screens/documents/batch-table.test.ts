import type { Upload } from '@holdfast/client'
import { expect, it } from 'vitest'
import { csvOf } from './batch-table.ts'
import type { ShownFile } from './shown-files.ts'

it('one line for each file, with what went wrong, and nothing that a spreadsheet would run', () => {
  const file = (name: string, word: ShownFile['word'], upload: Partial<Upload>): ShownFile => ({
    ...{ key: name, name, size: 12, word, upload: upload as Upload, row: null },
  })
  const ends = new Map([
    ['r', { status: 'FAILED', last_error: { class: 'EmptyDocument', message: 'It says "no", twice' } }],
  ])
  const csv = csvOf(
    [
      file('a,b.pdf', 'DONE', { created_at: '2026-11-16T00:00:00Z', run_id: 'x' }),
      file('=HYPERLINK("x")', 'ERROR', { created_at: '2026-11-16T00:00:00Z', run_id: 'r' }),
    ],
    ends,
  )
  expect(csv.split('\r\n')).toEqual([
    '\uFEFFname,state,size in bytes,handed in,what went wrong,what to do',
    '"a,b.pdf",DONE,12,2026-11-16T00:00:00Z,,',
    `"'=HYPERLINK(""x"")",ERROR,12,2026-11-16T00:00:00Z,"It says ""no"", twice.","Check that it is the right file, and hand in the one that has content."`,
    '',
  ])
})
