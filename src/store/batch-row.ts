/** A batch as its row has it. */

import type { Batch } from './ports/batches.ts'

export type BatchRow = { id: string; owner: string; title: string | null; created_at: Date }

export function batchOfRow({ id, owner, title, created_at: createdAt }: BatchRow): Batch {
  return { id, owner, title, createdAt }
}
