import type { Upload } from '@holdfast/client'
import { expect, it } from 'vitest'
import { firstUpload } from './first-upload.ts'

const upload = (id: string, runId: string | null, duplicate = false) =>
  ({ upload_id: id, run_id: runId, duplicate }) as Upload

it('the one whose run it leads to, else the oldest that was none', () => {
  const mine = upload('d', 'r2', true)
  const others = [mine, upload('c', 'r3'), upload('b', 'r2'), upload('x', 'r2', true), upload('a', 'r1')]
  expect(firstUpload(mine, others)?.upload_id).toBe('b')
  expect(firstUpload(upload('d', 'gone', true), others)?.upload_id).toBe('a')
  expect(firstUpload(mine, [mine])).toBeNull()
})
