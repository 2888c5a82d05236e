/** Batches: runs and uploads that were handed in together, with one progress that is counted from the runs themselves. */

export type Batch = { id: string; owner: string; title: string | null; createdAt: Date }

/** A retry stands for the run it retries. `total` is the sum of the others. */
export type BatchCounts = {
  total: number
  waiting: number
  running: number
  done: number
  failed: number
  cancelled: number
  duplicate: number
}

export type BatchPage = { batches: Batch[]; nextCursor: string | null }

export interface Batches {
  /** Makes it, or finds it when this owner made it before; `taken` when it is another owner's. */
  ensure(batch: { id: string; owner: string; title: string | null }): Promise<Batch | 'taken'>
  /** Also a batch that only runs name. `owner` null for everyone's. */
  find(id: string, owner: string | null): Promise<Batch | null>
  count(id: string, owner: string): Promise<BatchCounts>
  list(filter: { owner: string | null; limit: number; cursor: string | null }): Promise<BatchPage>
}
