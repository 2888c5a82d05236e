/**
 * `Prefer: wait=N` on a batch: holds the answer back until the batch is finished, or is another than the one `If-None-Match`
 * names, or the time is over. Those who wait for one batch share one count a second. A wait that fails is no reason to
 * refuse.
 */

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Batch, BatchCounts } from '../store/ports/batches.ts'
import type { Log } from '../telemetry/log.ts'
import type { BatchFollower } from './batch-follower.ts'
import { namesEtag } from './etag.ts'
import { preferredWaitSeconds } from './prefer-wait.ts'
import { batchEtag, isFinished } from './present-batch.ts'

export type BatchWaits = {
  /** The counts when the wait is over; null when nobody asked to wait, or waiting is not possible. */
  preferred(request: FastifyRequest, reply: FastifyReply, batch: Batch): Promise<BatchCounts | null>
  /** Answers all of them now. */
  close(): void
}

export function createBatchWaits({ follower, log }: { follower: BatchFollower; log: Log }): BatchWaits {
  const waiting = new Set<() => void>()
  let isClosed = false

  async function wait(request: FastifyRequest, reply: FastifyReply, batch: Batch, seconds: number) {
    const seen = request.headers['if-none-match']
    const isEnough = (counts: BatchCounts) =>
      isFinished(counts) || (seen !== undefined && !namesEtag(seen, batchEtag(batch, counts)))
    const { promise: over, resolve: end } = Promise.withResolvers<void>()
    let latest: BatchCounts | null = null
    const listening = await follower.listen(batch, (counts) => {
      latest = counts
      if (isEnough(counts)) end()
    })
    latest ??= listening.counts
    const timer = setTimeout(end, seconds * 1_000)
    reply.raw.once('close', end)
    waiting.add(end)
    if (isEnough(latest) || isClosed || reply.raw.closed) end()
    try {
      await over
      return latest
    } finally {
      clearTimeout(timer)
      reply.raw.off('close', end)
      waiting.delete(end)
      listening.close()
    }
  }

  return {
    async preferred(request, reply, batch) {
      const seconds = preferredWaitSeconds(request)
      if (seconds === null || isClosed) return null
      try {
        const counts = await wait(request, reply, batch, seconds)
        reply.header('Preference-Applied', `wait=${seconds}`)
        // At a shutdown the connection must not be kept: the listener would wait for it.
        if (isClosed) reply.header('Connection', 'close')
        return counts
      } catch (error) {
        log.warn({ request_id: request.id, batch_id: batch.id, err: error }, 'a request could not wait for its batch')
        return null
      }
    },
    close() {
      isClosed = true
      for (const end of waiting) end()
    },
  }
}
