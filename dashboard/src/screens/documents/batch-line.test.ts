import { expect, it } from 'vitest'
import { batchLine } from './batch-line.ts'

const none = { total: 0, waiting: 0, running: 0, done: 0, failed: 0, cancelled: 0, duplicate: 0 }

it.each([
  [none, 'nothing has arrived yet'],
  [{ ...none, total: 1, done: 1 }, '1 file: 1 done'],
  [
    { total: 1_060, waiting: 40, running: 8, done: 1_000, failed: 1, cancelled: 1, duplicate: 10 },
    '1,060 files: 40 waiting, 8 processing, 1,000 done, 10 duplicates, 2 errors',
  ],
  [{ ...none, total: 2, failed: 1, duplicate: 1 }, '2 files: 1 duplicate, 1 error'],
])('%j', (counts, line) => expect(batchLine(counts)).toBe(line))
