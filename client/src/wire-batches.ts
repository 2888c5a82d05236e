/** Batches as they travel. A test holds these shapes equal to those of the service. */

type Named = { batch_id: string; owner: string; title: string | null; created_at: string }

type Counted = {
  /** The sum of the others. A run that was retried counts once, as its newest retry does. */
  total: number
  waiting: number
  running: number
  /** Runs that succeeded, and uploads that asked for no run. */
  done: number
  failed: number
  cancelled: number
  /** Uploads of what the owner had handed in before. They made no run. */
  duplicate: number
  /** Nothing is waiting or running, and the batch is not empty. More may be handed in; then it is not finished any more. */
  finished: boolean
}

type Links = { links: { self: string; runs: string; uploads: string; events: string } }

export type ListedBatch = Named & Links

export type Batch = Named & Counted & Links

export type BatchProgress = { batch_id: string } & Counted

export type NewBatchBody = { title?: string | null | undefined; batch_id?: string | null | undefined }
