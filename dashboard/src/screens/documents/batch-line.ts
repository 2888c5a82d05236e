/** How far a batch is, in one line, from its counts. */

import type { BatchProgress } from '@holdfast/client'
import { formatNumber } from '../../parts/format.ts'

export type BatchCounts = Omit<BatchProgress, 'batch_id' | 'finished'>

export function batchLine({ total, waiting, running, done, failed, cancelled, duplicate }: BatchCounts): string {
  if (total === 0) return 'nothing has arrived yet'
  const errors = failed + cancelled
  const parts = [
    waiting > 0 && `${formatNumber(waiting)} waiting`,
    running > 0 && `${formatNumber(running)} processing`,
    done > 0 && `${formatNumber(done)} done`,
    duplicate > 0 && `${formatNumber(duplicate)} ${duplicate === 1 ? 'duplicate' : 'duplicates'}`,
    errors > 0 && `${formatNumber(errors)} ${errors === 1 ? 'error' : 'errors'}`,
  ]
  return `${formatNumber(total)} ${total === 1 ? 'file' : 'files'}: ${parts.filter(Boolean).join(', ')}`
}
